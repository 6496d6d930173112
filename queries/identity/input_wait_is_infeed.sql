-- purpose = "Steps wait for input as long in the finding as in infeed."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["infeed", "input_wait"]
select
    device_named(told.device_id, told.source_id) as subject,
    'input_wait.win_ns' as first_figure,
    coalesce(found.win_ns, 0) as first_value,
    'infeed.infeed_ns' as second_figure,
    told.infeed_ns as second_value
from infeed as told
left join
    input_wait as found
    on found.source_id = told.source_id
    and found.device_id is not distinct from told.device_id
where told.basis_kind = 'parts' and differs(coalesce(found.win_ns, 0), told.infeed_ns)
