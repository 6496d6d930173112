-- purpose = "Compute and bandwidth ceilings of each device, and which of them operations and
-- bytes are compared with."
-- source = "docs/metrics.md, section Ceilings"
-- depends = ["device_ceiling", "device_roof"]
-- parameters = "wanted_run wanted_ceiling"
-- columns = "run_id source_id device_id-summed device_name ceiling_kind ceiling_name-roof value
-- origin_kind source_text is_of_flop is_of_bytes"
-- value = "peak, in FLOP/s or bytes/s"
-- is_of_flop = "BOOLEAN: compute peak of the operations"
-- is_of_bytes = "BOOLEAN: peak of the bytes: device memory"
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
