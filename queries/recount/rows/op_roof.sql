-- purpose = "Operators in sources with one device each, whose peaks the data sheet or the user
-- gives: work, time, and least times at those peaks; without counters."
-- upon = "op_time"
with
    one_device as (
        select source_id, min(device_id) as device_id, min(name) as name
        from device
        where run_id = $run_id
        group by source_id
        having count(*) = 1 and count(name) = 1 and count(device_id) = 1
    ),
    given as (
        select source_id, ceiling_name, max(value) as value, 1 as place
        from one_device
        join model_ceiling on model_name = one_device.name
        where ceiling_kind <> 'launch_overhead'
        group by source_id, ceiling_name
        union all
        select source_id, assumption.name, max(value), 2
        from assumption
        where run_id = $run_id and assumption_kind in ('compute', 'bandwidth')
        group by source_id, assumption.name
    ),
    peak as (
        select source_id, map_from_entries(list((ceiling_name, value))) as peaks
        from (from given qualify place = max(place) over (partition by source_id, ceiling_name))
        group by source_id
    ),
    named as (
        select
            op_time.*,
            total_ns as ns,
            peaks,
            case
                when coalesce(is_heavy, false) is false
                then
                    case
                        when precision_name = 'fp64'
                        then 'fp64'
                        when precision_name in ('fp32', 'bf16', 'fp16', 'fp8')
                        then 'fp32'
                    end
                when precision_name in ('bf16', 'fp16')
                then 'tensor_' || precision_name
                when precision_name = 'fp32'
                then 'fp32'
            end as unit_name,
            -- products of single or double numbers can run on several units
            coalesce(
                is_heavy
                and flop > 0
                and (
                    precision_name not in ('bf16', 'fp16', 'fp32')
                    or (
                        precision_name = 'fp32'
                        and coalesce(peaks['tensor_tf32'], peaks['tensor_fp32']) is not null
                    )
                ),
                false
            ) as is_undecided
        from op_time
        join peak using (source_id)
        where
            has_kernels
            and peaks['dram'] is not null
            and not exists (from kernel_match where run_id = $run_id)
            -- all is seen, or nothing is told
            and not exists (
                from attribution
                where
                    run_id = $run_id
                    and (source_id, coalesce(device_id, -1))
                    not in (select (source_id, device_id) from one_device)
            )
            and not exists (
                from op_call
                where run_id = $run_id and source_id not in (select source_id from one_device)
            )
            and not exists (
                from assumption
                where
                    run_id = $run_id
                    and assumption_kind = 'device'
                    and (source_id, name) not in (select (source_id, name) from one_device)
            )
            -- nor products without tensor cores
            and not exists (
                from kernel
                where
                    run_id = $run_id
                    and regexp_matches(kernel.name, '(?i)[sh]gemm|simt|scudnn|f32_?f32|ffma|884')
            )
            and not exists (
                from attribution
                where
                    run_id = $run_id
                    and regexp_matches(
                        attribution.name, '(?i)[sh]gemm|simt|scudnn|f32_?f32|ffma|884'
                    )
            )
    )
select
    named.*,
    if(flop * 1e9 > 1.05 * ns * peaks[unit_name] and ns > 0, null, peaks[unit_name]) as flop_peak,
    if(bytes * 1e9 > 1.05 * ns * peaks['dram'] and ns > 0, null, peaks['dram']) as byte_peak,
    if(flop = 0, 0, flop * 1e9 / flop_peak) as compute_ns,
    if(bytes = 0, 0, bytes * 1e9 / byte_peak) as memory_ns
from named
