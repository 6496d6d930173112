-- purpose = "Launch calls of a device, and the waits between a call and its kernel, are those of
-- the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "launch_bounds"
-- keys = ["source_id", "device_id"]
-- needs = ["attribution"]
-- upon = "called_kernel"
-- is_partial = true
with
    launches as (from called_kernel where is_first and launch_event_id is not null),
    changes as (
        select source_id, device_id, time_ns, change
        from
            (
                select
                    source_id,
                    device_id,
                    unnest([greatest(call_end_ns, from_ns), start_ns]) as time_ns,
                    unnest([1, -1]) as change
                from called_kernel
                where start_ns > greatest(call_end_ns, from_ns) and start_ns >= launch_start_ns
            )
    ),
    depths as (
        select source_id, device_id, max(depth) as deepest
        from
            (
                select
                    source_id,
                    device_id,
                    sum(change) over (
                        partition by source_id, device_id
                        order by time_ns, change
                        rows unbounded preceding
                    ) as depth
                from changes
            )
        group by source_id, device_id
    ),
    waits as (
        select
            source_id,
            device_id,
            sum(greatest(start_ns - greatest(call_end_ns, from_ns), 0)) as queued_ns
        from called_kernel
        where start_ns >= launch_start_ns
        group by source_id, device_id
    ),
    launched as (
        select
            source_id,
            device_id,
            count(*) as launch_count,
            sum(launch_dur_ns) as call_ns,
            count(*) filter (where is_graph) as graph_launch_count,
            count(step_index) / count(distinct step_index) as launches_per_step,
            avg(start_ns - call_end_ns) filter (where start_ns >= call_end_ns) as mean_delay_ns,
            count(*) filter (where start_ns < call_end_ns) as negative_delay_count,
            count(*) filter (where start_ns < launch_start_ns) as disagreeing_count
        from launches
        group by source_id, device_id
    ),
    counted as (
        select
            source_id,
            device_id,
            count(*) as kernel_count,
            count(launch_event_id) as linked_count,
            count(launch_event_id) / count(*) as coverage_ratio,
            coalesce(sum(dur_ns) filter (where launch_event_id is not null), 0)
            / nullif(sum(dur_ns), 0) as coverage_time_ratio,
            any_value(elapsed_ns) as elapsed_ns,
            any_value(rank_index) as rank_index
        from called_kernel
        group by source_id, device_id
    )
select
    counted.* exclude (linked_count),
    launch_count,
    call_ns,
    graph_launch_count,
    call_ns / launch_count as mean_launch_ns,
    if(isnan(launches_per_step), null, launches_per_step) as launches_per_step,
    mean_delay_ns,
    negative_delay_count,
    disagreeing_count,
    queued_ns / elapsed_ns as mean_queue_depth,
    if(queued_ns is null, null, coalesce(deepest, 0)) as max_queue_depth,
    nullif(
        concat_ws(
            '; ',
            if(
                linked_count < kernel_count,
                'launches of '
                || (kernel_count - linked_count)
                || ' of '
                || kernel_count
                || ' kernels not in the file',
                null
            ),
            if(
                disagreeing_count > 0,
                'clocks disagree: '
                || disagreeing_count
                || ' of '
                || launch_count
                || ' calls begin after their kernel',
                null
            )
        ),
        ''
    ) as reason
from counted
join
    launched
    on launched.source_id = counted.source_id
    and launched.device_id is not distinct from counted.device_id
left join
    depths
    on depths.source_id = counted.source_id
    and depths.device_id is not distinct from counted.device_id
left join
    waits
    on waits.source_id = counted.source_id
    and waits.device_id is not distinct from counted.device_id
