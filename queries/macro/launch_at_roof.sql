-- purpose = "Launches with counters of a run, or of steps of a joined timeline, how near they are
-- to a roof, and the time of the run or these steps."
-- source = "Wang Y. 2020 (Time-Based Roofline), eq. 1 and sect. II; docs/metrics.md, section
-- Findings"
-- needs = ["kernel_counter"]
-- depends = ["kernel_bound", "near_ratio", "step_launch", "step_window"]
-- parameters = "wanted_run-one wanted_phase"
-- columns = "source_id device_id name launch_count-row dur_ns-counted bound_kind-launches
-- nearest_name-launches roof_ratio near_roof_ratio occupancy_ratio tensor_flop elapsed_ns"
-- near_roof_ratio = "DOUBLE: roof_ratio; or how busy compute or a memory is, if that is nearest"
-- elapsed_ns = "without a timeline, the sum of the durations of the source"
select
    launches.source_id,
    device_id,
    name,
    launch_count,
    dur_ns,
    bound_kind,
    nearest_name,
    roof_ratio,
    near_ratio(
        roof_ratio, nearest_name, compute_throughput_ratio, memory_throughput_ratio
    ) as near_roof_ratio,
    occupancy_ratio,
    tensor_flop,
    cast(
        coalesce(
            windows.end_ns - windows.start_ns, sum(dur_ns) over (partition by launches.source_id)
        ) as bigint
    ) as elapsed_ns
from kernel_bound as launches
left join step_window(wanted_run, wanted_phase) as windows on windows.source_id = launches.source_id
where
    launches.run_id = wanted_run
    and dur_ns > 0
    and (
        wanted_phase = 'all'
        or (launches.source_id, launches.event_id)
        in (select (source_id, event_id) from step_launch(wanted_run, wanted_phase))
    )
