-- purpose = "Findings about idle time cannot win more than all of the time."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["idle_between", "idle_data_loading", "idle_host", "idle_launch", "idle_slow_launch",
-- "idle_stall", "idle_synchronisation", "idle_unexplained"]
select
    device_named(device_id, source_id) as subject,
    'findings about idle time: win_ns, summed' as first_figure,
    sum(win_ns) as first_value,
    'elapsed_ns of the device' as second_figure,
    max(elapsed_ns) as second_value
from
    (
        select source_id, device_id, win_ns, elapsed_ns
        from idle_between
        union all
        select source_id, device_id, win_ns, elapsed_ns
        from idle_data_loading
        union all
        select source_id, device_id, win_ns, elapsed_ns
        from idle_host
        union all
        select source_id, device_id, win_ns, elapsed_ns
        from idle_launch
        union all
        select source_id, device_id, win_ns, elapsed_ns
        from idle_slow_launch
        union all
        select source_id, device_id, win_ns, elapsed_ns
        from idle_stall
        union all
        select source_id, device_id, win_ns, elapsed_ns
        from idle_synchronisation
        union all
        select source_id, device_id, win_ns, elapsed_ns
        from idle_unexplained
    )
group by source_id, device_id
having is_above(sum(win_ns), max(elapsed_ns))
