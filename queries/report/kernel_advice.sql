-- purpose = "Advice of the profiler (Nsight Compute's rules) by kernel, with its own estimate of
-- the time to save."
-- source = "NVIDIA Nsight Compute, rules and estimated speedup; docs/metrics.md, section
-- kernel_advice"
-- topic = "counters"
-- needs = ["kernel_rule"]
-- depends = ["report_page", "duration_of", "copy_of"]
-- parameters = "run_id top"
-- top = {default = 20}
-- columns = "name rule_name reported_saved_ns reported_speedup_ratio speedup_kind message
-- total_ns launch_count advised_count rule_kind section_name reason"
-- rule_name = "VARCHAR: rule of the profiler; NULL if the report does not name it"
-- reported_saved_ns = "DOUBLE: estimate of the profiler: speedup x duration, over launches with a
-- global estimate; rules overlap, so that rows must not be summed"
-- reported_speedup_ratio = "DOUBLE: estimate of the profiler, time-weighted mean: global: part of
-- the duration that is saved; local: gain of one unit, which does not tell the time"
-- speedup_kind = "VARCHAR: global or local; NULL without an estimate"
-- message = "VARCHAR: the advice, for the launch with the highest estimate, else the longest"
-- total_ns = "sum of the durations of the advised launches"
-- launch_count = "launches of the kernel in reports with advice"
-- advised_count = "BIGINT: launches with this advice"
-- rule_kind = "VARCHAR: OPT (optimize), INF (information), WRN (warning) …"
-- section_name = "VARCHAR: section of the report"
-- reason = "why there is no estimate of the time"
with
    launches as (
        select
            source_id,
            event_id,
            kernel.name,
            duration_of(
                kernel.dur_ns, kernel_counter.elapsed_cycles, kernel_counter.sm_clock_hz
            ) as launch_ns,
            kernel.launch_key,
            copy_of(
                kernel.run_id,
                kernel.launch_key,
                report_page.page_kind,
                kernel_counter.elapsed_cycles,
                kernel.dur_ns
            ) as copy_index
        from kernel
        join report_page using (run_id, source_id)
        left join kernel_counter using (run_id, source_id, event_id)
        where
            run_id = $run_id
            and source_id in (select source_id from kernel_rule where run_id = $run_id)
    ),
    -- exports of one report have the same launches
    kept as (
        select *
        from launches
        qualify
            launch_key is null
            or row_number() over (
                partition by launch_key, copy_index order by launch_ns is null, source_id, event_id
            )
            = 1
    ),
    counted as materialized(select *, count(*) over (partition by name) as launch_count from kept),
    -- a rule can speak several times of one launch, such as of loads and of stores
    told as (
        select
            counted.name,
            counted.launch_count,
            counted.launch_ns,
            rules.section_name,
            rules.rule_name,
            rules.rule_kind,
            rules.speedup_kind,
            max(rules.speedup_ratio) as speedup_ratio,
            arg_max(
                rules.message, (coalesce(rules.speedup_ratio, -1), - rules.event_id)
            ) as message,
            min(rules.event_id) as event_id,
            counted.source_id
        from kernel_rule as rules
        join
            counted
            on counted.source_id = rules.source_id
            and counted.event_id = rules.launch_event_id
        where rules.run_id = $run_id
        group by
            counted.name,
            counted.launch_count,
            counted.launch_ns,
            rules.section_name,
            rules.rule_name,
            rules.rule_kind,
            rules.speedup_kind,
            case when rules.rule_name is null then rules.message end,
            counted.source_id,
            counted.event_id
    ),
    grouped as (
        select
            name,
            any_value(launch_count) as launch_count,
            section_name,
            rule_name,
            rule_kind,
            speedup_kind,
            count(*) as advised_count,
            cast(sum(launch_ns) as bigint) as total_ns,
            sum(speedup_ratio * launch_ns) as weighted_ns,
            sum(launch_ns) filter (where speedup_ratio is not null) as estimated_ns,
            max(speedup_ratio) as speedup_ratio,
            arg_max(
                message,
                (coalesce(speedup_ratio, -1), coalesce(launch_ns, -1), source_id, - event_id)
            ) as message
        from told
        group by
            name,
            section_name,
            rule_name,
            rule_kind,
            speedup_kind,
            case when rule_name is null then message end
    )
select
    name,
    rule_name,
    case when speedup_kind = 'global' then weighted_ns end as reported_saved_ns,
    ratio(weighted_ns, estimated_ns) as reported_speedup_ratio,
    speedup_kind,
    message,
    total_ns,
    launch_count,
    advised_count,
    rule_kind,
    section_name,
    case
        when speedup_ratio is null
        then 'no estimate in the report'
        when speedup_kind <> 'global'
        then 'the estimate is of one unit, not of the launch'
        when estimated_ns is null
        then 'duration unknown'
    end as reason
from grouped
order by
    reported_saved_ns desc nulls last,
    list_position(['OPT', 'WRN', 'INF'], rule_kind) nulls last,
    reported_speedup_ratio desc nulls last,
    total_ns desc nulls last,
    name,
    section_name,
    rule_name,
    message,
    rule_kind,
    speedup_kind
limit $top
