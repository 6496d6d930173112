-- purpose = "Launches whose operations are all known, on a device whose peaks the user or the data
-- sheet gives: the time of their work at peak."
-- upon = "chosen_work"
with
    given as (
        select source_id, device_id, ceiling_name, value, source_text, 1 as place
        from device
        join model_ceiling on model_name = device.name
        where run_id = $run_id
        union all
        select device.source_id, device_id, assumption.name, value, source_text, 2
        from device
        join assumption using (run_id, source_id)
        where run_id = $run_id and assumption_kind in ('compute', 'bandwidth', 'launch_overhead')
    ),
    peak as (
        select
            source_id,
            device_id,
            map_from_entries(
                list(
                    (
                        ceiling_name,
                        -- of the two halves of an instruction, one counts
                        if(ceiling_name = 'fp16' and $fp16_convention = 'scalar', value / 2, value)
                    )
                )
            ) as peaks,
            map_from_entries(list((ceiling_name, source_text))) as texts
        from
            (
                from given
                qualify
                    row_number() over (
                        partition by source_id, device_id, ceiling_name order by place desc
                    )
                    = 1
            )
        -- a device that the user names has peaks of its own
        where not exists (from assumption where run_id = $run_id and assumption_kind = 'device')
        group by source_id, device_id
    )
select
    chosen_work.*,
    fp64 + fp32 + fp16_work + tensor as flop,
    if(
        tensor_mixed > 0,
        null,
        greatest(
            fp64,
            fp32,
            fp16_work,
            tensor_fp64,
            tensor_tf32,
            tensor_bf16,
            tensor_fp16,
            tensor_fp8,
            tensor_int
        )
    ) as top_flop,
    case
        top_flop
        when fp32
        then 'fp32'
        when fp64
        then 'fp64'
        when fp16_work
        then 'fp16'
        when tensor_fp64
        then 'tensor_fp64'
        when tensor_tf32
        then 'tensor_tf32'
        when tensor_bf16
        then 'tensor_bf16'
        when tensor_fp16
        then 'tensor_fp16'
        when tensor_fp8
        then 'tensor_fp8'
        else 'tensor_int8'
    end as top_name,
    peaks[top_name] as top_peak,
    texts[top_name] as top_text,
    peaks['fp32'] as fp32_peak,
    1e9 * (
        fp64 / peaks['fp64']
        + fp32 / peaks['fp32']
        + fp16_work / peaks['fp16']
        -- no work takes no time, but work without a peak an unknown one
        + if(coalesce(tensor_fp64, 0) = 0, 0, tensor_fp64 / peaks['tensor_fp64'])
        + if(coalesce(tensor_tf32, 0) = 0, 0, tensor_tf32 / peaks['tensor_tf32'])
        + if(coalesce(tensor_bf16, 0) = 0, 0, tensor_bf16 / peaks['tensor_bf16'])
        + if(coalesce(tensor_fp16, 0) = 0, 0, tensor_fp16 / peaks['tensor_fp16'])
        + if(coalesce(tensor_fp8, 0) = 0, 0, tensor_fp8 / peaks['tensor_fp8'])
        + if(tensor_mixed = 0, 0, null)
        + if(coalesce(tensor_int, 0) = 0, 0, tensor_int / peaks['tensor_int8'])
    ) as compute_ns,
    1e9 * dram / peaks['dram'] as dram_ns,
    1e9 * l2 / peaks['l2'] as l2_ns,
    1e9 * l1 / peaks['l1'] as l1_ns,
    launches * peaks['launch_overhead'] as overhead_ns
from chosen_work
join
    peak
    on peak.source_id = chosen_work.source_id
    and peak.device_id is not distinct from chosen_work.device_id
where tensor is not null
