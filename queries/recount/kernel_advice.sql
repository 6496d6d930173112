-- purpose = "Advice saves as much of as many launches as the rules say."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "kernel_advice"
-- keys = ["name", "section_name", "rule_name", "rule_kind", "speedup_kind"]
-- needs = ["kernel_rule", "kernel"]
-- is_partial = true
with
    launches as (
        select
            source_id,
            event_id,
            kernel.name,
            coalesce(kernel.dur_ns, round(1e9 * elapsed_cycles / sm_clock_hz)) as ns,
            count(*) over (partition by kernel.name) as launch_count
        from kernel
        left join kernel_counter using (run_id, source_id, event_id)
        where
            run_id = $run_id
            and source_id in (select source_id from kernel_rule where run_id = $run_id)
    ),
    -- of what a rule says of one launch, the most
    told as (
        select
            launches.name,
            section_name,
            rule_name,
            rule_kind,
            speedup_kind,
            any_value(ns) as ns,
            any_value(launch_count) as launch_count,
            max(speedup_ratio) as speedup_ratio
        from kernel_rule
        join
            launches
            on launches.source_id = kernel_rule.source_id
            and launches.event_id = launch_event_id
        where run_id = $run_id and rule_name is not null
        group by
            launches.source_id,
            launches.event_id,
            launches.name,
            section_name,
            rule_name,
            rule_kind,
            speedup_kind
    ),
    sums as (
        select
            name,
            section_name,
            rule_name,
            rule_kind,
            speedup_kind,
            any_value(launch_count) as launch_count,
            count(*) as advised_count,
            sum(ns) as total_ns,
            sum(speedup_ratio * ns) as weighted_ns,
            weighted_ns
            / sum(ns) filter (where speedup_ratio is not null) as reported_speedup_ratio,
            if(speedup_kind = 'global', weighted_ns, null) as reported_saved_ns
        from told
        group by name, section_name, rule_name, rule_kind, speedup_kind
    )
select * exclude (weighted_ns)
from sums
where
    -- exports of one report have the same launches
    not exists (
        select launch_key
        from kernel
        where run_id = $run_id and launch_key is not null
        group by launch_key
        having count(*) > 1
    )
    -- the report has the most only
    and (
        reported_saved_ns is not null
        or (select count(*) from kernel_rule where run_id = $run_id) <= 20
    )
order by reported_saved_ns desc
limit 10
