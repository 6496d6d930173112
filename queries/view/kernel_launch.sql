-- purpose = "Launches of a run, each once: without other exports of the same report, or counters
-- next to a timeline."
-- source = "docs/metrics.md: which kernels count"
-- needs = ["kernel"]
-- depends = ["launch_source", "duration_of", "copy_of", "mended_time"]
-- columns = "run_id source_id event_id name device_id launch_count-row start_ns dur_ns min_ns
-- max_ns"
-- min_ns = "shortest of the launches; NULL if unknown"
-- max_ns = "longest of the launches; NULL if unknown"
-- dur_ns = "duration of all launches in the row; as measured, or cycles / clock;
-- an impossible one ends where the next work of its stream starts"
with
    -- not materialized: who asks for one run is to read the files of that run alone
    launches as not materialized(
        select
            kernel.run_id,
            kernel.source_id,
            kernel.event_id,
            kernel.name,
            kernel.device_id,
            coalesce(kernel.launch_count, 1) as launch_count,
            case when is_mended then mended_time.start_ns else kernel.start_ns end as start_ns,
            case when is_mended then mended_time.dur_ns else kernel.dur_ns end as dur_ns,
            kernel.min_ns,
            kernel.max_ns,
            kernel.launch_key,
            launch_source.recording_kind,
            launch_source.page_kind,
            launch_source.is_shared
        from kernel
        join launch_source using (run_id, source_id)
        left join mended_time using (run_id, source_id, event_id)
        -- counters in a file that has times as well are of launches that the times are of
        where
            kernel.start_ns is not null
            or kernel.dur_ns is not null
            or is_timed is distinct from true
    ),
    counted as not materialized(
        select
            launches.* replace (
                duration_of(
                    launches.dur_ns, kernel_counter.elapsed_cycles, kernel_counter.sm_clock_hz
                ) as dur_ns
            ),
            launches.dur_ns as measured_ns,
            kernel_counter.elapsed_cycles
        from launches
        left join kernel_counter using (run_id, source_id, event_id)
        where launches.recording_kind = 'counters'
    ),
    shared as not materialized(
        select *, copy_of(run_id, launch_key, page_kind, elapsed_cycles, measured_ns) as copy_index
        from counted
        where is_shared
    )
select
    run_id,
    source_id,
    event_id,
    name,
    device_id,
    launch_count,
    start_ns,
    dur_ns,
    case when launch_count = 1 then dur_ns else min_ns end as min_ns,
    case when launch_count = 1 then dur_ns else max_ns end as max_ns
from launches
where recording_kind <> 'counters'
union all
select
    run_id,
    source_id,
    event_id,
    name,
    device_id,
    launch_count,
    start_ns,
    dur_ns,
    case when launch_count = 1 then dur_ns else min_ns end as min_ns,
    case when launch_count = 1 then dur_ns else max_ns end as max_ns
from counted
where not is_shared
union all
select
    run_id,
    source_id,
    event_id,
    name,
    device_id,
    launch_count,
    start_ns,
    dur_ns,
    case when launch_count = 1 then dur_ns else min_ns end as min_ns,
    case when launch_count = 1 then dur_ns else max_ns end as max_ns
from shared
qualify
    launch_key is null
    or row_number() over (
        partition by run_id, launch_key, copy_index
        order by dur_ns is null, measured_ns is null, source_id, event_id
    )
    = 1
