-- purpose = "Stacks have the calls of operators of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "stacks"
-- keys = ["stack_kind", "name"]
-- needs = ["slice"]
-- is_sum = true
-- is_partial = true
select
    'op' as stack_kind,
    regexp_replace(coalesce(name, '(no name)'), ' at 0x[0-9a-f]+', '', 'g') as name,
    1 as call_count,
    0 as self_device_ns
from slice
where
    run_id = $run_id
    and slice_kind = 'op'
    and start_ns is not null
    and (source_id, event_id)
    not in (select (source_id, event_id) from step where run_id = $run_id and event_id is not null)
