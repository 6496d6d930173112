-- purpose = "Time of steps above the median step, if some take far longer."
-- source = "Zhu 2018 (TBD), sect. 3.4: the time of an iteration is stable after warm-up"
-- needs = ["step"]
-- depends = ["step_span", "work_span"]
-- parameters = "run_id slow_ratio"
-- slow_ratio = {type = "DOUBLE", doc = "times the median from which a step is slow", default = 1.5}
-- columns = "win_ns slow_count step_count median_ns slowest_ns slowest_step_index elapsed_ns
-- source_id-rank device_id"
-- slow_count = "BIGINT: slow steps"
-- median_ns = "BIGINT: median step"
-- slowest_ns = "BIGINT: slowest of them"
-- slowest_step_index = "BIGINT: its number"
-- finding.title = "Some steps take far longer than the median"
-- finding.evidence = "slow: {slow_count} of {step_count:step}; the slowest is step
-- {slowest_step_index}, {slowest_ns} beside a median of {median_ns}"
-- finding.action = "Compare a slow step with a usual one: data, garbage collection, checkpoints,
-- recompilation, other users of the machine."
-- finding.command = "query steps"
-- finding.pool = "steps"
with
    works as (
        select source_id, step_index, max(end_ns) as end_ns
        from work_span($run_id)
        where step_index is not null
        group by source_id, step_index
    ),
    spans as (
        select
            steps.source_id,
            step_index,
            elapsed_ns,
            median(elapsed_ns) over same as median_ns,
            -- the time of a step without a next one reaches to the end of its work, which may lag
            -- far behind the host: the same of the others is what it is held against
            case
                when lead(step_index) over ordered is distinct from step_index + 1
                then
                    median(
                        coalesce(
                            greatest(works.end_ns, mark_start_ns + mark_ns) - start_ns, mark_ns
                        )
                    ) over same
            end as whole_ns,
            greatest(median_ns, whole_ns) as usual_ns
        from step_span($run_id) as steps
        left join works using (source_id, step_index)
        where elapsed_ns is not null
        window
            same as (partition by steps.source_id),
            ordered as (partition by steps.source_id order by step_index)
    )
select
    cast(round(sum(elapsed_ns - usual_ns) filter (where is_slow)) as bigint) as win_ns,
    count(*) filter (where is_slow) as slow_count,
    count(*) as step_count,
    cast(round(any_value(median_ns)) as bigint) as median_ns,
    max(elapsed_ns) filter (where is_slow) as slowest_ns,
    arg_min(step_index, (- elapsed_ns, step_index)) filter (where is_slow) as slowest_step_index,
    cast(sum(elapsed_ns) as bigint) as elapsed_ns,
    source_id,
    cast(null as bigint) as device_id
from (select *, elapsed_ns > $slow_ratio * usual_ns as is_slow from spans)
group by source_id
having slow_count > 0 and step_count > 2
order by win_ns desc, source_id
