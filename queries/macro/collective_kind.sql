-- purpose = "The kind of a collective in one spelling, by the name of its kernel, operator or
-- annotation; else NULL."
-- source = "names of NCCL's kernels, of torch.distributed's operators (Collective name,
-- nccl:all_reduce, c10d::allreduce_), of HLO instructions and of DeepEP, whose dispatch and
-- combine are all-to-all"
-- [parameters]
-- collective_text = {type = "VARCHAR", doc = "any of these names"}
list_transform(
    [
        regexp_extract(
            lower(regexp_replace(collective_text, '[-_]', '', 'g')),
            -- NCCL before 2.19 runs any collective in SendRecv_RING_SIMPLE: that name says nothing
            -- what DeepEP tells the ranks before it dispatches moves no tokens
            'sendrecvringsimple|notifydispatch|cachednotify|allreduce|psumscatter|psum'
            || '|crossdevicereduce|reducescatter|allgather|alltoall|collectivepermute|broadcast'
            || '|sendrecv|barrier|gather|scatter|reduce|send|recv|dispatch|combine'
        )
    ],
    lambda name: case
        when name in ('', 'sendrecvringsimple', 'notifydispatch', 'cachednotify')
        then null
        when name in ('psum', 'crossdevicereduce')
        then 'allreduce'
        when name in ('psumscatter', 'reducescatter')
        then 'reduce_scatter'
        when name in ('alltoall', 'dispatch', 'combine')
        then 'all_to_all'
        when name = 'collectivepermute'
        then 'permute'
        else name
    end
)[1]
