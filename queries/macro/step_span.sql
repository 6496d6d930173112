-- purpose = "Steps of each source that count: marked on the host, else on the device, else
-- detected. A step is done when the next one is marked and its work has ended."
-- source = "Zhu 2018 (TBD), sect. 3.4; docs/metrics.md, section Steps and the stable phase"
-- needs = ["step"]
-- depends = ["work_span"]
-- is_kept = true
-- parameters = "wanted_run"
-- columns = "run_id source_id step_index-number step_kind mark_start_ns mark_ns start_ns end_ns
-- elapsed_ns host_ns-step device_start_ns device_end_ns device_ns-step work_count-step
-- kernel_count-step kernel_ns"
-- step_kind = "VARCHAR: host, device or detected"
-- mark_start_ns = "BIGINT: start of the mark: of the loop on the host, of the device, or where the
-- first launch of a detected step began"
-- mark_ns = "BIGINT: duration of the mark"
-- start_ns = "start of the mark, or when the steps before it were done, if that is later; for the
-- first, when work launched before it ended, or its own begins before the mark"
-- end_ns = "when it was done: start of the next mark (for the last step, or before a missing one,
-- end of its own), or end of its work, if that is later"
-- elapsed_ns = "time of the step: end_ns - start_ns"
-- device_start_ns = "BIGINT: first start of the work launched in the step; NULL without any"
-- device_end_ns = "BIGINT: last end of that work"
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
            min(start_ns) as device_start_ns,
            max(end_ns) as device_end_ns,
            cast(sum(work_count) as bigint) as work_count,
            cast(sum(kernel_count) as bigint) as kernel_count,
            cast(sum(kernel_ns) as bigint) as kernel_ns
        from work_span(wanted_run)
        where step_index is not null
        group by run_id, source_id, step_index
    ),
    -- where work ends before its step is marked, the clock of the marks is another one
    timed as (
        select
            *,
            bool_or(device_end_ns <= mark_start_ns) over (
                partition by run_id, source_id
            ) as is_apart,
            case when is_apart then device_start_ns else mark_start_ns end as from_ns,
            case when is_apart then device_end_ns else mark_end_ns end as till_ns
        from marks
        left join works using (run_id, source_id, step_index)
    ),
    firsts as (
        select run_id, source_id, min(from_ns) as from_ns, min(device_start_ns) as device_start_ns
        from timed
        where step_kind <> 'detected'
        group by run_id, source_id
    ),
    -- what was launched before the first mark, while it runs, holds up the first step
    earlier as materialized(
        select
            run_id, source_id, max(least(start_ns + dur_ns, firsts.device_start_ns)) as earlier_ns
        from attribution
        join firsts using (run_id, source_id)
        semi join (from work_span(wanted_run) where step_index is null) using (run_id, source_id)
        where
            (wanted_run is null or run_id = wanted_run)
            and step_index is null
            and start_ns < firsts.device_start_ns
            and start_ns + dur_ns > firsts.from_ns
        group by run_id, source_id
    ),
    followed as (
        select
            *,
            case
                when lead(step_index) over following = step_index + 1
                then lead(from_ns) over following
                else till_ns
            end as next_ns
        from timed
        window following as (partition by run_id, source_id order by step_index)
    ),
    done as (
        select
            *,
            greatest(
                max(greatest(next_ns, device_end_ns)) over before, earlier_ns
            ) as done_before_ns,
            case
                when done_before_ns is null
                then least(from_ns, device_start_ns)
                else greatest(from_ns, done_before_ns)
            end as start_ns,
            case
                when coalesce(next_ns, device_end_ns) is not null
                then greatest(next_ns, device_end_ns, done_before_ns)
            end as end_ns
        from followed
        left join earlier using (run_id, source_id)
        window
            before as (
                partition by run_id, source_id
                order by step_index
                rows between unbounded preceding and 1 preceding
            )
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
    coalesce(next_ns - from_ns, mark_end_ns - mark_start_ns) as host_ns,
    device_start_ns,
    device_end_ns,
    device_end_ns - device_start_ns as device_ns,
    coalesce(work_count, 0) as work_count,
    coalesce(kernel_count, 0) as kernel_count,
    coalesce(kernel_ns, case when kernel_count is null then 0 end) as kernel_ns
from done
