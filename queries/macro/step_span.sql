-- purpose = "Steps of each source that count, with their device time and work: marked on the
-- host, else on the device, else detected."
-- source = "Zhu 2018 (TBD), sect. 3.4; docs/metrics.md, section Steps and the stable phase"
-- needs = ["step"]
-- depends = ["work_span"]
-- is_kept = true
-- parameters = "wanted_run"
-- columns = "run_id source_id step_index-number step_kind mark_start_ns mark_ns start_ns end_ns
-- elapsed_ns work_count-step kernel_count-step kernel_ns"
-- step_kind = "VARCHAR: host, device or detected"
-- mark_start_ns = "BIGINT: start of the mark: the span of the step from the loop, the device or
-- the detection"
-- mark_ns = "BIGINT: duration of the mark"
-- start_ns = "start of the first work launched in the step; NULL without any"
-- end_ns = "start of the first work of the next step, but not after the end of its own work if
-- that starts before the mark; for the last step (or before a missing one) the later of the ends
-- of its work and mark"
-- elapsed_ns = "time of the step: end_ns - start_ns; mark_ns without work on a device"
with
    recorded as materialized(
        from step
        where
            (wanted_run is null or run_id = wanted_run)
            and step_kind in ('host', 'device', 'detected')
            and step_index is not null
    ),
    marks as (
        select
            run_id,
            source_id,
            step_index,
            step_kind,
            min(start_ns) as mark_start_ns,
            max(start_ns + dur_ns) as mark_end_ns
        from recorded
        group by run_id, source_id, step_index, step_kind
        qualify
            list_position(
                ['host', 'device', 'detected'],
                step_kind
            ) = min(list_position(['host', 'device', 'detected'], step_kind)) over (
                partition by run_id, source_id
            )
    ),
    works as (
        select
            run_id,
            source_id,
            step_index,
            min(start_ns) as start_ns,
            max(end_ns) as work_end_ns,
            cast(sum(work_count) as bigint) as work_count,
            cast(sum(kernel_count) as bigint) as kernel_count,
            cast(sum(kernel_ns) as bigint) as kernel_ns
        from work_span(wanted_run)
        where step_index is not null
        group by run_id, source_id, step_index
    ),
    placed as (
        select
            marks.*,
            works.* exclude (run_id, source_id, step_index),
            lead(marks.step_index) over following = marks.step_index + 1 as is_followed,
            lead(start_ns) over following as next_start_ns
        from marks
        left join works using (run_id, source_id, step_index)
        window following as (partition by marks.run_id, marks.source_id order by marks.step_index)
    ),
    ended as (
        select
            *,
            case
                when start_ns is null
                then null
                when is_followed and next_start_ns is not null
                then next_start_ns
                -- work before its own step: the clocks of host and device disagree, so the mark
                -- tells nothing of it
                when start_ns < mark_start_ns
                then work_end_ns
                else greatest(work_end_ns, mark_end_ns)
            end as end_ns
        from placed
    )
select
    run_id,
    source_id,
    step_index,
    step_kind,
    mark_start_ns,
    mark_end_ns - mark_start_ns as mark_ns,
    start_ns,
    end_ns,
    coalesce(end_ns - start_ns, mark_end_ns - mark_start_ns) as elapsed_ns,
    coalesce(work_count, 0) as work_count,
    coalesce(kernel_count, 0) as kernel_count,
    coalesce(kernel_ns, case when kernel_count is null then 0 end) as kernel_ns
from ended
