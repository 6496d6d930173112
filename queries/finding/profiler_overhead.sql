-- purpose = "Time in which the profiler itself worked, as it recorded it."
-- source = "torch.profiler: category overhead, from CUPTI's activity records of overhead"
-- needs = ["slice"]
-- depends = ["whole_window"]
-- parameters = "run_id"
-- columns = "name win_ns call_count elapsed_ns source_id-rank device_id"
-- name = "VARCHAR: what it did"
-- call_count = "BIGINT: how often"
-- finding.title = "The profiler takes time itself"
-- finding.evidence = "{call_count:time}, most {name}"
-- finding.action = "Record fewer steps or fewer activities, warm up first (schedule), and compare
-- the step time without the profiler."
-- finding.command = "query step_time"
-- finding.sums = ["call_count"]
-- finding.pool = "host"
select
    slice.name,
    cast(
        least(sum(slice.dur_ns), any_value(windows.end_ns - windows.start_ns)) as bigint
    ) as win_ns,
    count(*) as call_count,
    any_value(windows.end_ns - windows.start_ns) as elapsed_ns,
    slice.source_id,
    cast(null as bigint) as device_id
from slice
join whole_window($run_id) as windows on windows.source_id = slice.source_id
where slice.run_id = $run_id and slice.slice_kind = 'overhead' and slice.dur_ns > 0
group by slice.source_id, slice.name
order by win_ns desc, slice.source_id, slice.name
