-- purpose = "A finding about idle time with a cause wins the idle time with that cause."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["idle_compile", "idle_data_loading", "idle_host", "idle_launch", "idle_slow_launch",
-- "idle_stall", "idle_synchronisation", "gaps"]
select
    device_named(coalesce(found.device_id, told.device_id), told.source_id) as subject,
    'findings about idle time of the cause ' || told.gap_kind || ': win_ns, summed' as first_figure,
    coalesce(found.win_ns, 0) as first_value,
    'gaps.total_ns of the cause' as second_figure,
    told.total_ns as second_value
from
    (
        select source_id, device_id, gap_kind, sum(total_ns) as total_ns
        from gaps
        where gap_kind in ('data_loading', 'compile', 'synchronisation', 'host', 'launch')
        group by source_id, device_id, gap_kind
    ) as told
left join
    (
        select source_id, device_id, gap_kind, sum(win_ns) as win_ns
        from
            (
                select 'data_loading' as gap_kind, source_id, device_id, win_ns
                from idle_data_loading
                union all
                select 'compile' as gap_kind, source_id, device_id, win_ns
                from idle_compile
                union all
                select 'synchronisation' as gap_kind, source_id, device_id, win_ns
                from idle_synchronisation
                union all
                select 'host' as gap_kind, source_id, device_id, win_ns
                from idle_host
                union all
                select 'host' as gap_kind, source_id, device_id, win_ns
                from idle_stall
                union all
                select 'launch' as gap_kind, source_id, device_id, win_ns
                from idle_launch
                union all
                select 'launch' as gap_kind, source_id, device_id, win_ns
                from idle_slow_launch
            )
        group by source_id, device_id, gap_kind
    ) as found
    on found.source_id = told.source_id
    and found.device_id is not distinct from told.device_id
    and found.gap_kind = told.gap_kind
where
    differs(coalesce(found.win_ns, 0), told.total_ns)
    -- a device that hardly works is in no finding
    and (
        found.win_ns is not null
        or (select count(*) from (select distinct source_id, device_id from gaps)) = 1
    )
