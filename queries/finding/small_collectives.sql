-- purpose = "Time of small collectives beyond the longest of their kind: what sending them as one
-- could save at most."
-- source = "Li et al. 2020 (PyTorch Distributed), sect. 3.2.1: many small all-reduces are slower
-- than few large ones; docs/metrics.md, sections Many ranks and Findings"
-- needs = ["kernel", "attribution"]
-- depends = ["collective_call", "step_window", "device_time"]
-- parameters = "run_id phase small_bytes least_count"
-- small_bytes = {type = "DOUBLE", doc = "bytes below which a collective is small", default = 1e6}
-- least_count = {type = "BIGINT", doc = "fewest of a kind", default = 4}
-- columns = "collective_kind-finding win_ns call_count-small size_bytes-small total_ns elapsed_ns
-- source_id-rank device_id"
-- collective_kind-finding = "VARCHAR: allreduce, allgather …, in one process group"
-- win_ns = "total_ns, less the longest; at most the time in which the device only communicates"
-- call_count-small = "BIGINT: small collectives"
-- size_bytes-small = "BIGINT: their bytes"
-- finding.title = "Collectives are too small for the network"
-- finding.evidence = "{call_count:call} of {collective_kind}, {size_bytes} together, {total_ns}"
-- finding.action = "Send them as one: larger buckets (bucket_cap_mb), coalescing, or one flat
-- tensor."
-- finding.command = "query collectives"
-- finding.pool = "communication"
with
    small as (
        select
            calls.source_id,
            calls.device_id,
            calls.collective_kind,
            calls.group_key,
            calls.dur_ns,
            greatest(calls.in_bytes, calls.out_bytes) as size_bytes
        from collective_call($run_id) as calls
        join step_window($run_id, $phase) as windows on windows.source_id = calls.source_id
        where
            calls.dur_ns > 0
            and size_bytes < $small_bytes
            and (
                windows.first_step_index is null
                or (calls.start_ns >= windows.start_ns and calls.start_ns < windows.end_ns)
            )
    ),
    summed as (
        select
            source_id,
            device_id,
            collective_kind,
            count(*) as call_count,
            cast(sum(size_bytes) as bigint) as size_bytes,
            cast(sum(dur_ns) as bigint) as total_ns,
            cast(sum(dur_ns) - max(dur_ns) as bigint) as saved_ns
        from small
        group by source_id, device_id, collective_kind, group_key
        having count(*) >= $least_count
    )
select
    summed.collective_kind,
    least(summed.saved_ns, exposed.exposed_ns) as win_ns,
    summed.call_count,
    summed.size_bytes,
    summed.total_ns,
    exposed.elapsed_ns,
    summed.source_id,
    summed.device_id
from summed
join
    device_time($run_id, $phase) as exposed
    on exposed.source_id = summed.source_id
    and exposed.device_id is not distinct from summed.device_id
    and exposed.work_class = 'communication'
where win_ns > 0
order by win_ns desc, summed.source_id, summed.device_id, summed.collective_kind
