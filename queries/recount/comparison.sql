-- purpose = "Parts of two runs that have one name take their time per step in each."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "comparison"
-- keys = ["name"]
-- options.by = ["kernel", "op", "phase", "category"]
-- options.other_run_id = []
-- needs = ["attribution"]
-- upon = "compared_part"
-- is_partial = true
select
    *,
    b_ns - a_ns as delta_ns,
    (b_ns - a_ns) / nullif(a_ns, 0) as delta_ratio,
    'name' as match_basis,
    if(name = '(all)', 'total', 'part') as row_kind,
    case
        when a_step_count is null
        then 'not by steps: spread unknown'
        when least(a_step_count, b_step_count) < 2
        then 'fewer than 2 steps: spread unknown'
    end as reason
from compared_part
