-- purpose = "Devices are idle without a cause where the rows say so."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "idle_unexplained"
-- keys = ["source_id", "device_id", "op_name"]
-- needs = ["attribution"]
-- upon = "idle_cause"
-- skips_unknown = true
select * exclude (idle_kind) from idle_cause where idle_kind = 'unexplained'
