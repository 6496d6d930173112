-- purpose = "Stacks have the copies of the rows, and no time of the host in them."
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
    dur_ns / nullif((select sum(dur_ns) from attribution where run_id = $run_id), 0) as share_ratio,
    1 as work_count,
    0 as host_ns,
    0 as self_host_ns,
    0 as call_count
from attribution
where run_id = $run_id and work_kind <> 'kernel' and dur_ns is not null
