-- purpose = "Time of steps above the median step, if some take far longer."
-- source = "Zhu 2018 (TBD), sect. 3.4: the time of an iteration is stable after warm-up"
-- needs = ["step"]
-- depends = ["gap_part", "step_span"]
-- parameters = "run_id slow_ratio"
-- slow_ratio = {type = "DOUBLE", doc = "times the median from which a step is slow", default = 1.5}
-- columns = "win_ns slow_count step_count median_ns slowest_ns slowest_step_index explained_ns
-- elapsed_ns
-- source_id-rank device_id"
-- win_ns = "time of slow steps above the median, without explained_ns"
-- explained_ns = "BIGINT: of that, a device waited for the host for 1 ms or more at a time: other
-- findings name the cause; NULL if not"
-- slow_count = "BIGINT: slow steps"
-- median_ns = "BIGINT: median step"
-- slowest_ns = "BIGINT: slowest of them"
-- slowest_step_index = "BIGINT: its number"
-- finding.title = "Some steps take far longer than the median"
-- finding.evidence = "slow: {slow_count} of {step_count:step}; the slowest is step
-- {slowest_step_index}, {slowest_ns} beside a median of {median_ns}[; {explained_ns} more is
-- explained
-- by idle time]"
-- finding.action = "Compare a slow step with a usual one: data, garbage collection, checkpoints,
-- recompilation, other users of the machine."
-- finding.command = "query steps"
-- finding.pool = "steps"
with
    spans as (
        select
            source_id,
            step_index,
            start_ns,
            end_ns,
            elapsed_ns,
            median(elapsed_ns) over (partition by source_id) as usual_ns,
            -- a step that begins while the device still works for others is not slow for that
            greatest(host_ns, device_ns) as own_ns,
            median(own_ns) over (partition by source_id) as usual_own_ns,
            elapsed_ns > $slow_ratio * usual_ns and own_ns > $slow_ratio * usual_own_ns as is_slow
        from step_span($run_id)
        where elapsed_ns is not null
    ),
    slow as (
        select
            source_id,
            cast(round(sum(elapsed_ns - usual_ns) filter (where is_slow)) as bigint) as slow_ns,
            count(*) filter (where is_slow) as slow_count,
            count(*) as step_count,
            cast(round(any_value(usual_ns)) as bigint) as median_ns,
            max(elapsed_ns) filter (where is_slow) as slowest_ns,
            arg_min(step_index, (- elapsed_ns, step_index)) filter (
                where is_slow
            ) as slowest_step_index,
            cast(sum(elapsed_ns) as bigint) as elapsed_ns
        from spans
        group by source_id
        having slow_count > 0 and step_count > 2
    ),
    stalls as (
        select source_id, max(stall_ns) as stall_ns
        from
            (
                select
                    parts.source_id,
                    parts.device_id,
                    cast(
                        sum(
                            least(parts.part_start_ns + parts.part_ns, spans.end_ns)
                            - greatest(parts.part_start_ns, spans.start_ns)
                        ) as bigint
                    ) as stall_ns
                from gap_part($run_id, 'all') as parts
                join
                    spans
                    on spans.source_id = parts.source_id
                    and parts.part_start_ns < spans.end_ns
                    and parts.part_start_ns + parts.part_ns > spans.start_ns
                where
                    spans.is_slow
                    and parts.part_ns >= 1000000
                    and parts.gap_kind in ('host', 'data_loading', 'compile', 'synchronisation')
                group by parts.source_id, parts.device_id
            )
        group by source_id
    )
select
    greatest(slow_ns - coalesce(stall_ns, 0), 0) as win_ns,
    slow_count,
    step_count,
    median_ns,
    slowest_ns,
    slowest_step_index,
    -- least() skips NULL
    case when stall_ns is not null then least(stall_ns, slow_ns) end as explained_ns,
    elapsed_ns,
    source_id,
    cast(null as bigint) as device_id
from slow
left join stalls using (source_id)
order by win_ns desc, source_id
