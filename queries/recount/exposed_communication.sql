-- purpose = "A device only communicates where collectives run and no other kernel does."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "exposed_communication"
-- keys = ["source_id", "device_id"]
-- needs = ["attribution"]
-- upon = "classed_work"
-- is_partial = true
select
    source_id,
    device_id,
    sum(more_ns) - sum(more_compute_ns) as win_ns,
    sum(more_collective_ns) as communication_ns,
    1 - win_ns / communication_ns as hidden_ratio,
    count(*) filter (where is_collective) as kernel_count
from classed_work
group by source_id, device_id
having win_ns > 0
