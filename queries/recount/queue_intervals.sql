-- purpose = "Kernels wait from the end of their launch to their start, counted for each of the 20
-- intervals by itself."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "queue_depth"
-- keys = ["source_id", "device_id", "offset_ns"]
-- needs = ["attribution"]
-- upon = "plain_window"
-- is_partial = true
with
    work as (
        select
            source_id,
            device_id,
            work_kind = 'kernel' as is_kernel,
            start_ns - from_ns as begin_ns,
            end_ns - from_ns as done_ns,
            elapsed_ns,
            case
                when is_kernel and launch_start_ns <= start_ns
                then greatest(launch_end_ns - from_ns, 0)
            end as queued_ns
        from plain_window
    ),
    place as (
        select
            source_id,
            device_id,
            any_value(elapsed_ns) as elapsed_ns,
            count(queued_ns) as known_count
        from work
        group by all
        having bool_or(is_kernel)
    ),
    interval_part as (
        select
            *,
            divide(elapsed_ns * part, 20) as from_ns,
            divide(elapsed_ns * (part + 1), 20) as till_ns
        from place, range(20) as parts(part)
    ),
    span as (
        select source_id, device_id, 'busy' as span_kind, begin_ns, done_ns
        from work
        union all
        select source_id, device_id, 'waiting', queued_ns, begin_ns
        from work
        where begin_ns > queued_ns
        union all
        select
            source_id, device_id, 'either', if(begin_ns > queued_ns, queued_ns, begin_ns), done_ns
        from work
    ),
    more as (
        select
            *,
            least(
                done_ns,
                greatest(
                    begin_ns,
                    coalesce(
                        max(done_ns) over (
                            partition by source_id, device_id, span_kind
                            order by begin_ns, done_ns
                            rows between unbounded preceding and 1 preceding
                        ),
                        begin_ns
                    )
                )
            ) as new_ns
        from span
    ),
    cut as (
        select
            interval_part.source_id,
            interval_part.device_id,
            part,
            span_kind,
            sum(greatest(0, least(done_ns, till_ns) - greatest(begin_ns, from_ns))) as sum_ns,
            sum(greatest(0, least(done_ns, till_ns) - greatest(new_ns, from_ns))) as union_ns
        from interval_part
        join
            more
            on more.source_id = interval_part.source_id
            and more.device_id is not distinct from interval_part.device_id
        group by all
    ),
    started as (
        select
            interval_part.source_id,
            interval_part.device_id,
            part,
            count(*) filter (
                where is_kernel and begin_ns >= from_ns and (begin_ns < till_ns or part = 19)
            ) as launch_count
        from interval_part
        join
            work
            on work.source_id = interval_part.source_id
            and work.device_id is not distinct from interval_part.device_id
        group by all
    )
select
    interval_part.source_id,
    interval_part.device_id,
    interval_part.from_ns as offset_ns,
    till_ns - interval_part.from_ns as interval_ns,
    any_value(launch_count) as launch_count,
    if(
        known_count > 0,
        coalesce(any_value(sum_ns) filter (where span_kind = 'waiting'), 0) / interval_ns,
        null
    ) as mean_queue_depth,
    if(
        known_count > 0,
        1 - coalesce(any_value(union_ns) filter (where span_kind = 'waiting'), 0) / interval_ns,
        null
    ) as empty_ratio,
    1 - any_value(union_ns) filter (where span_kind = 'busy') / interval_ns as idle_ratio,
    if(
        known_count > 0,
        1 - any_value(union_ns) filter (where span_kind = 'either') / interval_ns,
        null
    ) as waiting_ratio
from interval_part
join
    cut
    on cut.source_id = interval_part.source_id
    and cut.device_id is not distinct from interval_part.device_id
    and cut.part = interval_part.part
join
    started
    on started.source_id = interval_part.source_id
    and started.device_id is not distinct from interval_part.device_id
    and started.part = interval_part.part
where till_ns > interval_part.from_ns
group by
    interval_part.source_id, interval_part.device_id, interval_part.from_ns, till_ns, known_count
