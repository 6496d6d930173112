-- purpose = "Last waves that are not full leave the rest of their time empty."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "partial_wave"
-- keys = ["source_id", "device_id", "name"]
-- needs = ["kernel_metric", "kernel"]
with
    launches as (
        select
            source_id,
            device_id,
            name,
            dur_ns,
            launch_count,
            (
                select max(value)
                from kernel_metric
                where
                    run_id = $run_id
                    and kernel_metric.source_id = kernel.source_id
                    and kernel_metric.event_id = kernel.event_id
                    and metric_name = 'launch__waves_per_multiprocessor'
            ) as waves
        from kernel
        where run_id = $run_id and dur_ns > 0
    ),
    devices as (
        select source_id, coalesce(device_id, -1) as device, sum(dur_ns) as elapsed_ns
        from launches
        group by all
    )
select
    launches.source_id,
    device_id,
    name,
    floor(round(sum(dur_ns * (1 - waves / ceil(waves))), 3)) as win_ns,
    sum(launch_count) as launch_count,
    sum(dur_ns) as total_ns,
    sum(dur_ns * waves) / sum(dur_ns) as wave_count,
    any_value(elapsed_ns) as elapsed_ns
from launches
join devices on devices.source_id = launches.source_id and device = coalesce(device_id, -1)
where waves > 0 and waves <> floor(waves)
group by launches.source_id, device_id, name
having win_ns >= 1
