-- purpose = "Rules save the largest share that one estimates of each launch, times its duration."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "advised_by_nsight"
-- keys = ["source_id", "device_id", "name"]
-- needs = ["kernel_rule", "kernel"]
with
    advised as (
        select
            kernel.source_id,
            device_id,
            kernel.name,
            kernel.event_id,
            dur_ns,
            rule_name,
            speedup_ratio,
            message,
            row_number() over (
                partition by kernel.source_id, kernel.event_id
                order by speedup_ratio desc, kernel_rule.event_id desc
            ) as place,
            row_number() over (
                partition by kernel.source_id, device_id, kernel.name
                order by
                    dur_ns * speedup_ratio desc, kernel.event_id desc, kernel_rule.event_id desc
            ) as place_of_name
        from kernel
        join
            kernel_rule
            on kernel_rule.run_id = kernel.run_id
            and kernel_rule.source_id = kernel.source_id
            and launch_event_id = kernel.event_id
        where
            kernel.run_id = $run_id and speedup_kind = 'global' and speedup_ratio > 0 and dur_ns > 0
    )
select
    source_id,
    device_id,
    name,
    floor(
        round(sum(if(speedup_ratio > 1, 1, speedup_ratio) * dur_ns) filter (where place = 1), 3)
    ) as win_ns,
    count(distinct event_id) as launch_count,
    min(rule_name) filter (where place_of_name = 1) as rule_name,
    min(speedup_ratio) filter (where place_of_name = 1) as speedup_ratio,
    min(message) filter (where place_of_name = 1) as message,
    (
        select sum(dur_ns)
        from kernel
        where run_id = $run_id and kernel.source_id = advised.source_id
    ) as elapsed_ns
from advised
group by source_id, device_id, name
