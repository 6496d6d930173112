-- purpose = "Device work in the time of some steps, cut to that time, whatever launched it."
-- source = "docs/metrics.md, section gpu_utilization"
-- needs = ["attribution"]
-- depends = ["device_work", "work_place", "step_window"]
-- parameters = "wanted_run wanted_phase"
-- columns = "start_ns end_ns elapsed_ns-steps is_of_steps place_index"
-- start_ns = "start, not before that of the steps; the other columns are those of device_work"
-- end_ns = "end, not after that of the steps"
-- is_of_steps = "BOOLEAN: launched in one of the steps, as the kernels of kernel_time are"
with
    places as (
        select
            places.*,
            windows.first_step_index,
            windows.last_step_index,
            windows.start_ns,
            windows.end_ns
        from work_place(wanted_run) as places
        join
            step_window(wanted_run, wanted_phase) as windows
            on windows.run_id = places.run_id
            and windows.source_id = places.source_id
    )
select
    work.* replace (
        greatest(work.start_ns, places.start_ns) as start_ns,
        least(work.end_ns, places.end_ns) as end_ns
    ),
    places.end_ns - places.start_ns as elapsed_ns,
    places.first_step_index is null
    or coalesce(
        work.step_index between places.first_step_index and places.last_step_index, false
    ) as is_of_steps,
    places.place_index
from device_work as work
join
    places
    on places.run_id = work.run_id
    and places.source_id = work.source_id
    and places.device_id is not distinct from work.device_id
where
    (wanted_run is null or work.run_id = wanted_run)
    and (
        (work.start_ns < places.end_ns and work.end_ns > places.start_ns)
        -- what takes no time, at the start or the end of all
        or (
            places.first_step_index is null
            and work.start_ns >= places.start_ns
            and work.end_ns <= places.end_ns
        )
    )
