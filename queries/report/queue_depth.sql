-- purpose = "Launched kernels that wait for each device over time, and its idle time, in equal
-- intervals."
-- source = "HTA's queue length of streams; docs/metrics.md, section queue_depth"
-- topic = "time"
-- needs = ["attribution"]
-- depends = ["work_in_window", "step_window", "device_rank", "missing_launches"]
-- parameters = "run_id phase points"
-- points = {default = 20}
-- columns = "rank_index device_id offset_ns mean_queue_depth max_queue_depth empty_ratio
-- idle_ratio waiting_ratio launch_count interval_ns reason source_id-rank"
-- offset_ns = "BIGINT: start of the interval after the start of the steps"
-- empty_ratio = "DOUBLE: share of the interval without a waiting kernel"
-- idle_ratio = "DOUBLE: share of the interval without work on the device"
-- waiting_ratio = "DOUBLE: share of the interval without either: the device waits for the host"
-- launch_count = "kernels that start in the interval"
-- interval_ns = "BIGINT: length of the interval"
-- reason = "why waiting kernels are unknown or incomplete"
with
    windows as materialized(select source_id, start_ns from step_window($run_id, $phase)),
    work as materialized(
        select
            here.source_id,
            here.device_id,
            here.place_index,
            here.elapsed_ns,
            here.work_kind = 'kernel' as is_kernel,
            here.start_ns - windows.start_ns as start_ns,
            here.end_ns - windows.start_ns as end_ns,
            greatest(here.launch_end_ns - windows.start_ns, 0) as queued_ns,
            here.launch_end_ns is not null as is_launched,
            here.launch_start_ns > here.start_ns as is_disagreeing,
            is_launched and not is_disagreeing as is_known
        from work_in_window($run_id, $phase) as here
        join windows on windows.source_id = here.source_id
    ),
    places as materialized(
        select
            source_id,
            device_id,
            place_index,
            any_value(elapsed_ns) as elapsed_ns,
            count(*) filter (where is_kernel) as kernel_count,
            count(*) filter (where is_kernel and is_known) as known_count,
            count(*) filter (where is_kernel and is_launched) as launched_count,
            count(*) filter (where is_kernel and is_disagreeing) as disagreeing_count
        from work
        group by source_id, device_id, place_index
    ),
    edges as (
        select
            place_index,
            queued_ns as time_ns,
            1 as waiting,
            0 as running,
            0 as kernels,
            null as interval_index
        from work
        where is_kernel and is_known and start_ns > queued_ns
        union all
        select
            place_index,
            start_ns,
            case when is_kernel and is_known and start_ns > queued_ns then -1 else 0 end,
            1,
            case when is_kernel then 1 else 0 end,
            null
        from work
        union all
        select place_index, end_ns, 0, -1, 0, null
        from work
        union all
        select place_index, divide(elapsed_ns * number, $points), 0, 0, 0, number
        from (select place_index, elapsed_ns, unnest(range($points)) as number from places)
        union all
        select place_index, elapsed_ns, 0, 0, 0, null
        from places
    ),
    moments as (
        select
            place_index,
            time_ns,
            sum(waiting) as waiting,
            sum(running) as running,
            sum(kernels) as kernel_count,
            max(interval_index) as interval_index
        from edges
        group by place_index, time_ns
    ),
    pieces as (
        select
            place_index,
            kernel_count,
            max(interval_index) over so_far as interval_index,
            sum(waiting) over so_far as depth,
            sum(running) over so_far as running,
            lead(time_ns, 1, time_ns) over (partition by place_index order by time_ns)
            - time_ns as piece_ns,
            time_ns
        from moments
        window
            so_far as (
                partition by place_index
                order by time_ns
                rows between unbounded preceding and current row
            )
    ),
    intervals as (
        select
            place_index,
            interval_index,
            min(time_ns) as offset_ns,
            sum(piece_ns) as interval_ns,
            sum(depth * piece_ns) as depth_ns,
            max(depth) filter (where piece_ns > 0) as max_depth,
            coalesce(sum(piece_ns) filter (where depth = 0), 0) as empty_ns,
            coalesce(sum(piece_ns) filter (where running = 0), 0) as idle_ns,
            coalesce(sum(piece_ns) filter (where depth = 0 and running = 0), 0) as waiting_ns,
            sum(kernel_count) as kernel_count
        from pieces
        group by place_index, interval_index
    )
select
    device_rank.rank_index,
    places.device_id,
    intervals.offset_ns,
    case
        when places.known_count > 0 then ratio(intervals.depth_ns, intervals.interval_ns)
    end as mean_queue_depth,
    case
        when places.known_count > 0 then cast(intervals.max_depth as bigint)
    end as max_queue_depth,
    case
        when places.known_count > 0 then ratio(intervals.empty_ns, intervals.interval_ns)
    end as empty_ratio,
    ratio(intervals.idle_ns, intervals.interval_ns) as idle_ratio,
    case
        when places.known_count > 0 then ratio(intervals.waiting_ns, intervals.interval_ns)
    end as waiting_ratio,
    cast(intervals.kernel_count as bigint) as launch_count,
    cast(intervals.interval_ns as bigint) as interval_ns,
    nullif(
        concat_ws(
            '; ',
            missing_launches(places.launched_count, places.kernel_count),
            case
                when places.disagreeing_count > 0
                then
                    'clocks disagree: '
                    || places.disagreeing_count
                    || ' of '
                    || places.kernel_count
                    || ' kernels begin before their launch'
            end
        ),
        ''
    ) as reason,
    places.source_id
from intervals
join places on places.place_index = intervals.place_index
left join
    device_rank
    on device_rank.run_id = $run_id
    and device_rank.source_id = places.source_id
    and device_rank.device_id is not distinct from places.device_id
where places.kernel_count > 0 and intervals.interval_ns > 0
order by
    device_rank.rank_index nulls last,
    places.source_id,
    places.device_id nulls last,
    intervals.offset_ns
