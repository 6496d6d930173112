-- purpose = "What each source says about each device, once: a file merged from several ranks can
-- list a device for each. What the lists disagree about is unknown."
-- source = "table device"
-- needs = ["device"]
-- depends = ["only_one"]
-- is_kept = true
-- columns = "run_id source_id device_id name device_kind is_described compute_capability sm_count
-- memory_bytes reported_flop_per_s reported_bytes_per_s clock_rate vendor_name"
-- is_described = "BOOLEAN: the file has properties for this ID"
-- sm_count = "BIGINT: multiprocessors or compute units"
-- reported_flop_per_s = "DOUBLE: peak, from the profiler's own table"
-- reported_bytes_per_s = "DOUBLE: peak of device memory, from the profiler's own table"
-- clock_rate = "DOUBLE: clock in kHz, if the file gives it"
-- vendor_name = "VARCHAR: vendor, if the file gives it"
select
    run_id,
    source_id,
    device_id,
    only_one(name) as name,
    any_value(device_kind) as device_kind,
    bool_or(is_described) as is_described,
    only_one(compute_capability) as compute_capability,
    only_one(sm_count) as sm_count,
    only_one(memory_bytes) as memory_bytes,
    only_one(reported_flop_per_s) as reported_flop_per_s,
    only_one(reported_bytes_per_s) as reported_bytes_per_s,
    only_one(try_cast(properties_json ->> '$.clock_rate' as double)) as clock_rate,
    only_one(properties_json ->> '$.device_vendor') as vendor_name
from device
group by run_id, source_id, device_id, device_kind is not distinct from 'cpu'
