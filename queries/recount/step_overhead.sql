-- purpose = "The host's parts of steps take the time that the profiler wrote, at most the step's."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "step_overhead"
-- keys = ["source_id", "device_id", "part_name"]
-- needs = ["step_part", "step"]
with
    reported as (
        select distinct on (source_id, device_id, step_index) *
        from step
        where run_id = $run_id and step_kind = 'reported' and dur_ns is not null
    ),
    totals as (
        select source_id, coalesce(device_id, -1) as device, sum(dur_ns) as elapsed_ns
        from reported
        group by all
    ),
    pieces as (
        select source_id, device_id, step_index, part_name, sum(dur_ns) as part_ns
        from step_part
        where
            run_id = $run_id
            and part_kind
            not in ('compute', 'infeed', 'host_to_device', 'collective', 'device_to_device')
            and dur_ns > 0
        group by all
    )
select
    pieces.source_id,
    pieces.device_id,
    part_name,
    sum(least(part_ns, reported.dur_ns)) as win_ns,
    count(*) as step_count,
    any_value(elapsed_ns) as elapsed_ns
from pieces
join
    reported
    on reported.source_id = pieces.source_id
    and coalesce(reported.device_id, -1) = coalesce(pieces.device_id, -1)
    and reported.step_index = pieces.step_index
join
    totals on totals.source_id = pieces.source_id and totals.device = coalesce(pieces.device_id, -1)
group by all
