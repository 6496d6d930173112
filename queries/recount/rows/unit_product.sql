-- purpose = "Kernels that multiply matrices on FP32 or FP16 units, with what tensor cores would
-- take,
-- added up by name; of runs without steps and operators that tell plainly what they do."
-- upon = "modeled_op"
with
    products as (
        select
            work.*,
            flop,
            all_bytes,
            peaks['dram'] as dram_peak,
            if(regexp_matches(work.name, '(^|[^a-z])sgemm'), 'fp32', 'fp16') as unit_name,
            case
                when unit_name = 'fp16'
                then 'FP16'
                when peaks['tensor_tf32'] > peaks['fp32']
                then 'TF32'
                when peaks['tensor_bf16'] > peaks['fp32']
                then 'BF16'
                when peaks['tensor_fp16'] > peaks['fp32']
                then 'FP16'
            end as tensor_name,
            peaks['tensor_' || lower(tensor_name)] as tensor_peak,
            tensor_peak / peaks[unit_name] as factor,
            -- of several kernels of a call, the longest has its work
            row_number() over (
                partition by work.source_id, op_event_id, unit_name
                order by work.dur_ns desc, work.event_id
            )
            = 1 as is_longest,
            coalesce(input_dims is null or flop is not null, true) as is_plain
        from attribution as work
        join known_peak using (source_id, device_id)
        left join
            (
                select source_id, context_id, input_dims from calling_context where run_id = $run_id
            ) as context using (source_id, context_id)
        left join
            (
                select source_id, context_id, flop, all_bytes from modeled_op where kind = 'product'
            ) as model using (source_id, context_id)
        where
            work.run_id = $run_id
            and work_kind = 'kernel'
            and regexp_matches(work.name, '(^|[^a-z])[sh]gemm')
            and not regexp_matches(work.name, 'tensorop|[hs]884|[hs]1688|[hs]16816|mma|tf32|bf16')
            and work.source_id not in (select source_id from step where run_id = $run_id)
            and work.dur_ns > 0
    )
select
    unit_name,
    source_id,
    device_id,
    name,
    floor(
        round(
            sum(
                if(
                    is_longest,
                    greatest(0, dur_ns - 1e9 * greatest(flop / tensor_peak, all_bytes / dram_peak)),
                    dur_ns
                )
            ) filter (where flop is not null),
            3
        )
    ) as win_ns,
    count(*) as launch_count,
    sum(dur_ns) as total_ns,
    sum(if(is_longest, flop, flop * 0)) as total_flop,
    nullif(count(*) filter (where flop is null), 0) as unknown_count,
    any_value(tensor_name) as tensor_name,
    any_value(factor) as peak_factor
from products
where tensor_peak is not null
group by unit_name, source_id, device_id, name
having bool_and(is_plain) and (win_ns > 0 or win_ns is null)
