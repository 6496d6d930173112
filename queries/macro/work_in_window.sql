-- purpose = "Device work in the time of some steps, cut to that time, whatever launched it."
-- source = "docs/metrics.md, section gpu_utilization"
-- needs = ["attribution"]
-- depends = ["device_work", "step_window"]
-- parameters = "wanted_run wanted_phase"
-- columns = "start_ns end_ns elapsed_ns-steps"
-- start_ns = "start, not before that of the steps; the other columns are those of device_work"
-- end_ns = "end, not after that of the steps"
select
    work.* replace (
        greatest(work.start_ns, windows.start_ns) as start_ns,
        least(work.end_ns, windows.end_ns) as end_ns
    ),
    windows.end_ns - windows.start_ns as elapsed_ns
from device_work as work
join
    step_window(wanted_run, wanted_phase) as windows
    on windows.run_id = work.run_id
    and windows.source_id = work.source_id
where
    (wanted_run is null or work.run_id = wanted_run)
    and (
        windows.first_step_index is null
        or (work.start_ns < windows.end_ns and work.end_ns > windows.start_ns)
    )
