-- purpose = "Roof of the operators of each device: one compute peak, and memory."
-- source = "Wang Y. E. 2020 (ParaDnn), Table 3; docs/metrics.md, section Operators"
-- needs = ["device"]
-- depends = ["device_known", "device_ceiling"]
-- parameters = "wanted_run wanted_ceiling"
-- columns = "run_id source_id device_id-summed device_name model_name scope_kind ceiling_name
-- peak_flop_per_s peak_source peak_bytes_per_s bandwidth_source peak_basis-parts"
-- scope_kind = "VARCHAR: scope of its known peaks: core, gcd, package or board"
-- bandwidth_source = "VARCHAR: source of the bandwidth"
with
    ceilings as (
        select *
        from device_ceiling
        where
            (wanted_run is null or run_id = wanted_run) and ceiling_kind in ('compute', 'bandwidth')
    ),
    peaks as (
        select
            run_id,
            source_id,
            device_id,
            ceiling_name as peak_name,
            value as peak,
            origin_kind as peak_origin,
            source_text as peak_source
        from ceilings
        where
            ceiling_kind = 'compute'
            and case
                when wanted_ceiling is null
                then ceiling_name in ('tensor_bf16', 'tensor_fp16', 'reported', 'fp32')
                else ceiling_name = wanted_ceiling
            end
        qualify
            row_number() over (
                partition by run_id, source_id, device_id
                order by
                    list_position(['tensor_bf16', 'tensor_fp16', 'reported', 'fp32'], ceiling_name)
            )
            = 1
    ),
    memories as (
        select
            run_id,
            source_id,
            device_id,
            value as bandwidth,
            origin_kind as bandwidth_origin,
            source_text as bandwidth_source
        from ceilings
        where ceiling_kind = 'bandwidth' and ceiling_name = 'dram'
    )
select
    device_known.run_id,
    device_known.source_id,
    device_known.device_id,
    device_known.device_name,
    device_known.model_name,
    device_model.scope_kind,
    peaks.peak_name as ceiling_name,
    peaks.peak as peak_flop_per_s,
    peaks.peak_source,
    memories.bandwidth as peak_bytes_per_s,
    memories.bandwidth_source,
    case
        when peak_origin = bandwidth_origin or bandwidth_origin is null
        then peak_origin
        else coalesce(peak_origin || ', ', '') || bandwidth_origin
    end as peak_basis
from device_known
left join
    (select distinct model_name, scope_kind from device_model) as device_model
    on device_model.model_name = device_known.model_name
left join
    peaks
    on peaks.run_id = device_known.run_id
    and peaks.source_id = device_known.source_id
    and peaks.device_id is not distinct from device_known.device_id
left join
    memories
    on memories.run_id = device_known.run_id
    and memories.source_id = device_known.source_id
    and memories.device_id is not distinct from device_known.device_id
where wanted_run is null or device_known.run_id = wanted_run
