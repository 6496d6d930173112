-- purpose = "Stacks have the time of all work of the device."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "stacks"
-- needs = ["attribution"]
-- is_sum = true
select dur_ns as self_device_ns from attribution where run_id = $run_id
