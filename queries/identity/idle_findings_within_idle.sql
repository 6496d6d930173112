-- purpose = "Findings about idle time cannot win more than it."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["idle_between", "idle_compile", "idle_data_loading", "idle_host", "idle_launch",
-- "idle_slow_launch", "idle_stall", "idle_synchronisation", "idle_unexplained", "overlap"]
select
    device_named(overlap.device_id, overlap.source_id) as subject,
    'findings about idle time: win_ns, summed' as first_figure,
    wins.win_ns as first_value,
    'overlap.exposed_ns of idle' as second_figure,
    exposed_ns as second_value
from overlap
join
    (
        select source_id, device_id, sum(win_ns) as win_ns
        from
            (
                select source_id, device_id, win_ns
                from idle_between
                union all
                select source_id, device_id, win_ns
                from idle_compile
                union all
                select source_id, device_id, win_ns
                from idle_data_loading
                union all
                select source_id, device_id, win_ns
                from idle_host
                union all
                select source_id, device_id, win_ns
                from idle_launch
                union all
                select source_id, device_id, win_ns
                from idle_slow_launch
                union all
                select source_id, device_id, win_ns
                from idle_stall
                union all
                select source_id, device_id, win_ns
                from idle_synchronisation
                union all
                select source_id, device_id, win_ns
                from idle_unexplained
            )
        group by all
    ) as wins
    on wins.source_id = overlap.source_id
    and wins.device_id is not distinct from overlap.device_id
where work_class = 'idle' and is_above(wins.win_ns, exposed_ns)
