-- purpose = "The upper bound of launch overhead is the calls, and the idle time from
-- the end of each to its kernel."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "launch_bounds"
-- keys = ["source_id", "device_id"]
-- needs = ["attribution"]
-- upon = "launched_gap"
-- is_partial = true
with
    kernel_row as (
        select
            source_id,
            device_id,
            event_id,
            launch_event_id,
            launch_dur_ns,
            start_ns >= launch_start_ns as is_after
        from attribution
        where
            run_id = $run_id
            and work_kind = 'kernel'
            -- one launch for several kernels is another matter
            and source_id not in (
                select source_id from attribution where run_id = $run_id and launch_work_count > 1
            )
    ),
    waited as (
        select
            kernel_row.source_id,
            kernel_row.device_id,
            sum(if(rest_kind = 'launch', gap_end_ns - host_end_ns - call_ns, 0)) as delay_ns
        from launched_gap
        join
            kernel_row
            on (
                kernel_row.source_id = launched_gap.source_id
                and kernel_row.event_id = launched_gap.next_event_id
            )
        where is_after
        group by all
    ),
    called as (
        select
            source_id, device_id, sum(launch_dur_ns) as call_ns, bool_or(is_after) as is_any_after
        from kernel_row
        where launch_event_id is not null
        group by all
    )
select
    called.source_id,
    called.device_id,
    if(is_any_after, coalesce(delay_ns, 0), null) as delay_ns,
    if(is_any_after, call_ns + coalesce(delay_ns, 0), null) as upper_ns
from called
left join
    waited
    on waited.source_id = called.source_id
    and waited.device_id is not distinct from called.device_id
where called.source_id in (select source_id from launched_gap)
