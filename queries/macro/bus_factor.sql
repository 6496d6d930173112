-- purpose = "Factor from algorithm bandwidth to bus bandwidth of a collective; NULL for a kind
-- without one."
-- source = "NVIDIA nccl-tests, doc/PERFORMANCE.md, Summary; of gather and scatter src/gather.cu
-- and src/scatter.cu"
-- parameters = "collective_kind rank_count"
-- collective_kind = "VARCHAR: allreduce …"
-- rank_count = "BIGINT: n: ranks in the group"
case
    when collective_kind = 'allreduce'
    then ratio(2 * (rank_count - 1), rank_count)
    when collective_kind in ('allgather', 'reduce_scatter', 'all_to_all', 'gather', 'scatter')
    then ratio(rank_count - 1, rank_count)
    when collective_kind in ('broadcast', 'reduce', 'sendrecv')
    then 1.0
end
