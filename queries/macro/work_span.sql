-- purpose = "Device work of each source by device and step: when it runs, and how much there is.
-- Steps, devices and the time of all work come from these few rows."
-- source = "tables step_work and attribution"
-- needs = ["attribution"]
-- depends = ["summed_source"]
-- is_kept = true
-- parameters = "wanted_run"
-- columns = "run_id source_id device_id step_index start_ns end_ns work_count kernel_count
-- kernel_ns"
-- step_index = "step that launched it; NULL outside of steps"
-- start_ns = "first start; NULL if unknown"
-- end_ns = "last end; work without a duration ends when it starts"
-- kernel_ns = "BIGINT: sum of the durations of kernels; NULL if none is known"
select
    run_id, source_id, device_id, step_index, start_ns, end_ns, work_count, kernel_count, kernel_ns
from step_work
where wanted_run is null or run_id = wanted_run
union all
select
    run_id,
    source_id,
    device_id,
    step_index,
    min(start_ns) as start_ns,
    max(start_ns + coalesce(dur_ns, 0)) as end_ns,
    count(*) as work_count,
    count(*) filter (where work_kind = 'kernel') as kernel_count,
    cast(sum(dur_ns) filter (where work_kind = 'kernel') as bigint) as kernel_ns
from attribution
semi join (from summed_source where not has_steps) using (run_id, source_id)
where wanted_run is null or run_id = wanted_run
group by run_id, source_id, device_id, step_index
