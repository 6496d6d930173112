-- purpose = "Operators below six tenths of the roof take longer than their work."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "reported_op_below_roof"
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
    bound_kind,
    elapsed_ns
from reported_op_sum
where is_known and roof_ratio < 0.6
