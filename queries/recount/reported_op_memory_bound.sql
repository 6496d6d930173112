-- purpose = "Operators near the roof of memory take longer than their bytes."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "reported_op_memory_bound"
-- keys = ["source_id", "device_id", "name"]
-- needs = ["op_stat", "device"]
-- upon = "reported_op_sum"
-- is_partial = true
select
    source_id,
    device_id,
    name,
    floor(round(total_ns * (1 - roof_ratio), 3)) as win_ns,
    total_ns,
    total_ns / elapsed_ns as share_ratio,
    roof_ratio,
    elapsed_ns
from reported_op_sum
where is_known and bound_kind = 'bandwidth' and roof_ratio < 1
