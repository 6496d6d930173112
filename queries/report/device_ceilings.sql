-- purpose = "Peaks of each device of a run with their sources, the ridge points, and the minimum
-- work per launch."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II: machine balance, peak x L; the figures
-- by their own sources"
-- needs = ["device"]
-- depends = ["device_ceiling"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all runs", optional = true}
-- launch_overhead_ns = {type = "DOUBLE", doc = "time of one launch; default: that of the device",
-- optional = true}
-- [columns]
-- device_name = {type = "VARCHAR", doc = "device"}
-- ceiling_name = {type = "VARCHAR", doc = "e.g. fp32, tensor_fp16, dram"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "operations"}
-- peak_bytes_per_s = {type = "DOUBLE", doc = "traffic"}
-- overhead_ns = {type = "DOUBLE", doc = "one launch"}
-- ridge_flop_per_byte = {type = "DOUBLE", doc = "ridge point (machine balance): this peak /
-- bandwidth of device memory"}
-- least_flop = {type = "DOUBLE", doc = "this peak x the time of one launch: work that takes as
-- long as the launch"}
-- origin_kind = {type = "VARCHAR", doc = "user, datasheet, computed or measured"}
-- source_text = {type = "VARCHAR", doc = "source of the peak"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- device_id = {type = "BIGINT", doc = "device number in the file"}
with
    chosen as (
        select
            *,
            any_value(value) filter (where ceiling_name = 'dram') over same as dram_bytes_per_s,
            coalesce(
                $launch_overhead_ns,
                any_value(value) filter (where ceiling_kind = 'launch_overhead') over same
            ) as launch_ns
        from device_ceiling
        where $run_id is null or run_id = $run_id
        window same as (partition by run_id, source_id, device_id)
    )
select
    device_name,
    ceiling_name,
    case when ceiling_kind = 'compute' then value end as peak_flop_per_s,
    case when ceiling_kind = 'bandwidth' then value end as peak_bytes_per_s,
    case when ceiling_kind = 'launch_overhead' then value end as overhead_ns,
    case
        when ceiling_kind = 'compute' then ratio(value, dram_bytes_per_s)
    end as ridge_flop_per_byte,
    case when ceiling_kind = 'compute' then value * launch_ns * 1e-9 end as least_flop,
    origin_kind,
    source_text,
    source_id,
    device_id
from chosen
order by
    device_name,
    source_id,
    device_id,
    list_position(['compute', 'bandwidth', 'launch_overhead'], ceiling_kind),
    value desc,
    ceiling_name
