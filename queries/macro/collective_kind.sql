-- purpose = "Kind of a collective in one spelling, from its kernel, operator or annotation; else
-- NULL."
-- source = "names of NCCL's kernels, of torch.distributed's operators (Collective name,
-- nccl:all_reduce, c10d::allreduce_), of HLO instructions and of DeepEP, whose dispatch and
-- combine are all-to-all"
-- parameters = "collective_text"
-- collective_text = "VARCHAR: any of these names"
case
    regexp_extract(
        lower(regexp_replace(collective_text, '[-_]', '', 'g')),
        -- NCCL before 2.19 runs any collective in SendRecv_RING_SIMPLE: that name says nothing
        -- what DeepEP tells the ranks before it dispatches moves no tokens
        'sendrecvringsimple|notifydispatch|cachednotify|allreduce|psumscatter|psum'
        || '|crossdevicereduce|reducescatter|allgather|alltoall|collectivepermute|broadcast'
        || '|sendrecv|barrier|gather|scatter|reduce|send|recv|dispatch|combine'
    )
    when 'allreduce'
    then 'allreduce'
    when 'psumscatter'
    then 'reduce_scatter'
    when 'psum'
    then 'allreduce'
    when 'crossdevicereduce'
    then 'allreduce'
    when 'reducescatter'
    then 'reduce_scatter'
    when 'allgather'
    then 'allgather'
    when 'alltoall'
    then 'all_to_all'
    when 'collectivepermute'
    then 'permute'
    when 'broadcast'
    then 'broadcast'
    when 'sendrecv'
    then 'sendrecv'
    when 'barrier'
    then 'barrier'
    when 'gather'
    then 'gather'
    when 'scatter'
    then 'scatter'
    when 'reduce'
    then 'reduce'
    when 'send'
    then 'send'
    when 'recv'
    then 'recv'
    when 'dispatch'
    then 'all_to_all'
    when 'combine'
    then 'all_to_all'
end
