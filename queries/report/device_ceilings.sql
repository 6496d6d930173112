-- purpose = "What each device of a run can do at most, by whom; with the operations per byte from
-- which on it computes, and the least work of a launch."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II: machine balance, peak x L; the figures
-- by their own sources"
-- needs = ["device"]
-- depends = ["device_ceiling"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- launch_overhead_ns = {type = "DOUBLE", doc = "time of one launch; if not given, that of the
-- device", optional = true}
-- [columns]
-- device_name = {type = "VARCHAR", doc = "device"}
-- ceiling_name = {type = "VARCHAR", doc = "e.g. fp32, tensor_fp16, dram"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "operations"}
-- peak_bytes_per_s = {type = "DOUBLE", doc = "traffic"}
-- overhead_ns = {type = "DOUBLE", doc = "one launch"}
-- ridge_flop_per_byte = {type = "DOUBLE", doc = "machine balance, the ridge point: this peak over
-- the bandwidth of device memory"}
-- least_flop = {type = "DOUBLE", doc = "this peak x the time of one launch: work that takes as
-- long as launching it"}
-- origin_kind = {type = "VARCHAR", doc = "user, datasheet, computed or measured"}
-- source_text = {type = "VARCHAR", doc = "where the figure comes from"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- device_id = {type = "BIGINT", doc = "device as the file numbers it"}
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
