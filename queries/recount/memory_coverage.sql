-- purpose = "Allocations and releases are those of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "memory_coverage"
-- keys = ["source_id", "process_id", "device_kind", "device_id"]
-- needs = ["memory_event"]
select source_id, process_id, device_kind, device_id, count(*) as event_count
from memory_event
where run_id = $run_id
group by all
