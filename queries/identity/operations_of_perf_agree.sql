-- purpose = "perf's own GFLOPs are the rate of the operations; at least that of those counted."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["cpu_work"]
select
    coalesce(name, '?') as subject,
    'cpu_work: ' || case
        when achieved_flop_per_s is null then 'least_flop_per_s' else 'achieved_flop_per_s'
    end as first_figure,
    coalesce(achieved_flop_per_s, least_flop_per_s) as first_value,
    'cpu_work.reported_flop_per_s' as second_figure,
    reported_flop_per_s as second_value
from cpu_work
where
    -- perf prints one decimal
    is_above(coalesce(achieved_flop_per_s, least_flop_per_s), reported_flop_per_s + 0.05e9)
    or is_above(reported_flop_per_s - 0.05e9, achieved_flop_per_s)
