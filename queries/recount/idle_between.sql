-- purpose = "Devices wait between short work where the rows say so."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "idle_between"
-- keys = ["source_id", "device_id", "op_name"]
-- needs = ["attribution"]
-- upon = "idle_cause"
select * exclude (idle_kind, reason) from idle_cause where idle_kind = 'between'
