-- purpose = "Time that rules of Nsight Compute estimate to save, by kernel."
-- source = "NVIDIA Nsight Compute, Profiling Guide: a rule's estimated speedup is the potential
-- decrease of the duration"
-- needs = ["kernel_rule", "kernel"]
-- depends = ["whole_ns"]
-- parameters = "run_id"
-- columns = "name win_ns launch_count rule_name speedup_ratio message elapsed_ns source_id-rank
-- device_id"
-- win_ns = "duration of its launches, times the largest speedup that a rule estimates for each"
-- launch_count = "BIGINT: launches with such a rule"
-- rule_name = "VARCHAR: rule with the most to save"
-- speedup_ratio = "DOUBLE: what it estimates"
-- message = "VARCHAR: what it says"
-- finding.title = "Nsight Compute advises on kernels"
-- finding.evidence = "Nsight's own estimate for {launch_count:launch}; the largest is
-- {speedup_ratio}[ of {name}][ by its rule {rule_name}]"
-- finding.action = "Follow the rules, which the evidence lists; each estimate is for the kernel
-- alone."
-- finding.command = "query advised_by_nsight"
-- finding.sums = ["launch_count"]
-- finding.pool = "compute"
with
    launches as (
        select
            rule.source_id,
            kernel.device_id,
            kernel.name,
            kernel.event_id,
            kernel.dur_ns,
            max(rule.speedup_ratio) as speedup_ratio,
            arg_max(rule.rule_name, (rule.speedup_ratio, rule.event_id)) as rule_name,
            arg_max(rule.message, (rule.speedup_ratio, rule.event_id)) as message
        from kernel_rule as rule
        join
            kernel
            on kernel.run_id = rule.run_id
            and kernel.source_id = rule.source_id
            and kernel.event_id = rule.launch_event_id
        where
            rule.run_id = $run_id
            and rule.speedup_kind = 'global'
            and rule.speedup_ratio > 0
            and kernel.dur_ns > 0
        group by rule.source_id, kernel.device_id, kernel.name, kernel.event_id, kernel.dur_ns
    ),
    sums as (
        select source_id, sum(dur_ns) as elapsed_ns
        from kernel
        where run_id = $run_id
        group by source_id
    )
select
    name,
    whole_ns(sum(dur_ns * least(speedup_ratio, 1))) as win_ns,
    count(*) as launch_count,
    arg_max(rule_name, (dur_ns * speedup_ratio, event_id)) as rule_name,
    arg_max(speedup_ratio, (dur_ns * speedup_ratio, event_id)) as speedup_ratio,
    arg_max(message, (dur_ns * speedup_ratio, event_id)) as message,
    cast(any_value(sums.elapsed_ns) as bigint) as elapsed_ns,
    launches.source_id,
    device_id
from launches
join sums on sums.source_id = launches.source_id
group by launches.source_id, device_id, name
order by win_ns desc, launches.source_id, device_id, name
