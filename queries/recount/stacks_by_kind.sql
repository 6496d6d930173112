-- purpose = "Stacks have the copies of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "stacks"
-- keys = ["stack_kind", "name"]
-- needs = ["attribution"]
-- is_sum = true
-- is_partial = true
select
    work_kind as stack_kind,
    coalesce(name, '(no name)') as name,
    dur_ns as device_ns,
    dur_ns as self_device_ns,
    1 as work_count
from attribution
where run_id = $run_id and work_kind <> 'kernel' and dur_ns is not null
