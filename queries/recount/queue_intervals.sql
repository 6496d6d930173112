-- purpose = "Kernels wait from the end of their launch to their start, counted for each interval
-- by itself."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "queue_depth"
-- keys = ["source_id", "device_id", "offset_ns"]
-- options.points = [20, 7]
-- needs = ["attribution"]
-- upon = "plain_window"
-- is_partial = true
with
    work as (
        select
            source_id,
            device_id,
            dense_rank() over (order by source_id, device_id) as place_index,
            work_kind = 'kernel' as is_kernel,
            start_ns - from_ns as begin_ns,
            end_ns - from_ns as done_ns,
            elapsed_ns,
            rank_index,
            case
                when is_kernel and launch_start_ns <= start_ns
                then greatest(launch_end_ns - from_ns, 0)
            end as queued_ns
        from plain_window
    ),
    place as (
        select
            place_index,
            any_value(source_id) as source_id,
            any_value(device_id) as device_id,
            any_value(elapsed_ns) as elapsed_ns,
            any_value(rank_index) as rank_index,
            count(queued_ns) > 0 as is_known
        from work
        group by place_index
        having bool_or(is_kernel)
    ),
    interval_part as (
        select
            *,
            divide(elapsed_ns * part, $points) as from_ns,
            divide(elapsed_ns * (part + 1), $points) as till_ns
        from place, range($points) as parts(part)
    ),
    span as (
        select place_index, 'busy' as span_kind, is_kernel, begin_ns, done_ns
        from work
        union all
        select place_index, 'waiting', false, queued_ns, begin_ns
        from work
        where begin_ns > queued_ns
        union all
        select place_index, 'either', false, least(queued_ns, begin_ns), done_ns
        from work
    ),
    -- what each adds to those before it
    more as (
        select
            *,
            least(
                done_ns, greatest(begin_ns, coalesce(max(done_ns) over earlier, begin_ns))
            ) as new_ns
        from span
        window
            earlier as (
                partition by place_index, span_kind
                order by begin_ns, done_ns
                rows between unbounded preceding and 1 preceding
            )
    ),
    cut as (
        select
            interval_part.*,
            span_kind,
            greatest(0, least(done_ns, till_ns) - greatest(begin_ns, from_ns)) as part_ns,
            greatest(0, least(done_ns, till_ns) - greatest(new_ns, from_ns)) as new_part_ns,
            is_kernel
            and begin_ns >= from_ns
            and (begin_ns < till_ns or part = $points - 1) as is_start
        from interval_part
        join more using (place_index)
        where till_ns > from_ns
    )
select
    source_id,
    device_id,
    from_ns as offset_ns,
    till_ns - from_ns as interval_ns,
    any_value(rank_index) as rank_index,
    count(*) filter (where is_start) as launch_count,
    if(
        is_known, sum(if(span_kind = 'waiting', part_ns, 0)) / interval_ns, null
    ) as mean_queue_depth,
    if(
        is_known, 1 - sum(if(span_kind = 'waiting', new_part_ns, 0)) / interval_ns, null
    ) as empty_ratio,
    1 - sum(if(span_kind = 'busy', new_part_ns, 0)) / interval_ns as idle_ratio,
    if(
        is_known, 1 - sum(if(span_kind = 'either', new_part_ns, 0)) / interval_ns, null
    ) as waiting_ratio
from cut
group by source_id, device_id, from_ns, till_ns, is_known
