-- purpose = "Compute and bandwidth ceilings of each device, and what operations and bytes count
-- under."
-- source = "docs/metrics.md, section Ceilings"
-- depends = ["device_ceiling", "device_roof"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all runs"}
-- wanted_ceiling = {type = "VARCHAR", doc = "compute peak, as of device_roof"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- device_id = {type = "BIGINT", doc = "device; NULL if the dump adds devices up"}
-- device_name = {type = "VARCHAR", doc = "its name; NULL if unknown"}
-- ceiling_kind = {type = "VARCHAR", doc = "compute or bandwidth"}
-- ceiling_name = {type = "VARCHAR", doc = "which"}
-- value = {type = "DOUBLE", doc = "FLOP/s or bytes/s"}
-- origin_kind = {type = "VARCHAR", doc = "user, datasheet, computed, measured or reported"}
-- source_text = {type = "VARCHAR", doc = "where it comes from"}
-- is_of_flop = {type = "BOOLEAN", doc = "the compute peak that operations are held against"}
-- is_of_bytes = {type = "BOOLEAN", doc = "device memory"}
select
    known.run_id,
    known.source_id,
    known.device_id,
    known.device_name,
    known.ceiling_kind,
    known.ceiling_name,
    known.value,
    known.origin_kind,
    known.source_text,
    coalesce(known.ceiling_name = machine.ceiling_name, false) as is_of_flop,
    known.ceiling_name = 'dram' and not is_of_flop as is_of_bytes
from device_roof(wanted_run, wanted_ceiling) as machine
join
    device_ceiling as known
    on known.run_id = machine.run_id
    and known.source_id = machine.source_id
    and known.device_id is not distinct from machine.device_id
where
    known.ceiling_kind in ('compute', 'bandwidth')
    and (wanted_run is null or known.run_id = wanted_run)
