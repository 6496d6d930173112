-- purpose = "Peaks of each device of a run with their sources, the ridge points, and the minimum
-- work per launch."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II: machine balance, peak x L; the figures
-- by their own sources"
-- topic = "store"
-- needs = ["device"]
-- answered_if = "exists (from device_ceiling where run_id = $run_id)"
-- depends = ["device_ceiling", "idle_device"]
-- parameters = "run_id-all launch_overhead_ns"
-- columns = "device_name ceiling_name-roof peak_flop_per_s peak_bytes_per_s overhead_ns
-- ridge_flop_per_byte least_flop origin_kind-known source_text source_id device_id"
-- overhead_ns = "one launch"
-- ridge_flop_per_byte = "ridge point (machine balance): this peak / bandwidth of device memory"
-- least_flop = "DOUBLE: peak x time of one launch: work that takes as long as the launch"
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
        anti join
            (from idle_device where $run_id is null or run_id = $run_id) as idle using (
                run_id, source_id, device_id
            )
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
