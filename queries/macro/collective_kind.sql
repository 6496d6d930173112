-- purpose = "The kind of a collective in one spelling, by the name of its kernel, operator or annotation; else NULL."
-- source = "names of NCCL's kernels, of torch.distributed's operators (Collective name, nccl:all_reduce, c10d::allreduce_), of HLO instructions and of DeepEP, whose dispatch and combine are all-to-all"
-- [parameters]
-- collective_text = {type = "VARCHAR", doc = "any of these names"}
CASE regexp_extract(
    lower(regexp_replace(collective_text, '[-_]', '', 'g')),
    -- NCCL before 2.19 runs any collective in SendRecv_RING_SIMPLE: that name says nothing
    -- what DeepEP tells the ranks before it dispatches moves no tokens
    'sendrecvringsimple|notifydispatch|cachednotify|allreduce|psumscatter|psum|crossdevicereduce|reducescatter|allgather|alltoall|collectivepermute|broadcast|sendrecv|barrier|gather|scatter|reduce|send|recv|dispatch|combine'
)
    WHEN 'allreduce' THEN 'allreduce'
    WHEN 'psumscatter' THEN 'reduce_scatter'
    WHEN 'psum' THEN 'allreduce'
    WHEN 'crossdevicereduce' THEN 'allreduce'
    WHEN 'reducescatter' THEN 'reduce_scatter'
    WHEN 'allgather' THEN 'allgather'
    WHEN 'alltoall' THEN 'all_to_all'
    WHEN 'collectivepermute' THEN 'permute'
    WHEN 'broadcast' THEN 'broadcast'
    WHEN 'sendrecv' THEN 'sendrecv'
    WHEN 'barrier' THEN 'barrier'
    WHEN 'gather' THEN 'gather'
    WHEN 'scatter' THEN 'scatter'
    WHEN 'reduce' THEN 'reduce'
    WHEN 'send' THEN 'send'
    WHEN 'recv' THEN 'recv'
    WHEN 'dispatch' THEN 'all_to_all'
    WHEN 'combine' THEN 'all_to_all'
END
