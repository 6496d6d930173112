-- purpose = "The lower bound of launch overhead is the time in which the next kernel is launched
-- and the device has no work."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "launch_bounds"
-- keys = ["source_id", "device_id"]
-- needs = ["attribution"]
-- upon = "plain_gap"
-- is_partial = true
with
    gaps as (
        select
            gap.source_id,
            gap.device_id,
            gap.elapsed_ns,
            greatest(
                0,
                least(gap.launch_end_ns, gap.gap_end_ns)
                - greatest(gap.launch_start_ns, gap.gap_start_ns)
            ) as call_ns
        from plain_gap as gap
        join
            attribution as work
            on work.run_id = $run_id
            and work.source_id = gap.source_id
            and work.event_id = gap.event_id
        where work.work_kind = 'kernel' and gap.reason is null
    )
select
    source_id,
    device_id,
    sum(call_ns) as lower_ns,
    sum(call_ns) / any_value(elapsed_ns) as lower_ratio
from gaps
-- a graph has the idle time of all its kernels, a call that disagrees has none
where
    source_id not in (
        select source_id
        from attribution
        where run_id = $run_id and (launch_work_count > 1 or launch_start_ns > start_ns)
    )
group by source_id, device_id
