-- purpose = "No finding names an idle time that is longer than the longest gap."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["idle_compile", "idle_data_loading", "idle_host", "idle_launch", "idle_slow_launch",
-- "idle_stall", "idle_synchronisation", "idle_unexplained", "largest_gaps"]
select
    finding_name as subject,
    finding_name || '.longest_ns' as first_figure,
    max(longest_ns) as first_value,
    'largest_gaps.gap_ns, longest' as second_figure,
    (select max(gap_ns) from largest_gaps) as second_value
from
    (
        select 'idle_compile' as finding_name, longest_ns
        from idle_compile
        union all
        select 'idle_data_loading' as finding_name, longest_ns
        from idle_data_loading
        union all
        select 'idle_host' as finding_name, longest_ns
        from idle_host
        union all
        select 'idle_launch' as finding_name, longest_ns
        from idle_launch
        union all
        select 'idle_slow_launch' as finding_name, longest_ns
        from idle_slow_launch
        union all
        select 'idle_stall' as finding_name, longest_ns
        from idle_stall
        union all
        select 'idle_synchronisation' as finding_name, longest_ns
        from idle_synchronisation
        union all
        select 'idle_unexplained' as finding_name, longest_ns
        from idle_unexplained
    )
group by finding_name
having is_above(max(longest_ns), (select coalesce(max(gap_ns), 0) from largest_gaps))
