-- purpose = "Peaks from a profiler that are more than 1.3 times, or less than 1/1.3 of, the known
-- peaks of the device."
-- source = "view device_ceiling; docs/metrics.md, section Operators"
-- needs = ["device"]
-- depends = ["device_ceiling"]
-- columns = "run_id source_id device_id model_name ceiling_kind ceiling_name value reported_value
-- reported_ratio"
-- ceiling_name = "known ceiling: dram, or for compute tensor_bf16, else tensor_fp16"
-- reported_value = "DOUBLE: the profiler's own value"
select
    run_id,
    source_id,
    device_id,
    model_name,
    ceiling_kind,
    ceiling_name,
    value,
    reported_value,
    reported_ratio
from device_ceiling
where reported_value is not null
