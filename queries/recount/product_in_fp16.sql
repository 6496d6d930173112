-- purpose = "Products on FP16 units take longer than tensor cores would."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "product_in_fp16"
-- keys = ["source_id", "device_id", "name"]
-- needs = ["attribution", "device"]
-- upon = "modeled_op"
-- is_partial = true
with
    peak as (
        select *, 'FP16' as tensor_name, peaks['tensor_' || lower(tensor_name)] as tensor_peak
        from known_peak
    ),
    products as (
        select
            work.*,
            flop,
            all_bytes,
            tensor_name,
            tensor_peak,
            tensor_peak / peaks['fp16'] as factor,
            peaks['dram'] as dram_peak,
            -- of several kernels of a call, the longest has its work
            row_number() over (
                partition by work.source_id, op_event_id order by work.dur_ns desc, work.event_id
            )
            = 1 as is_longest,
            coalesce(input_dims is null or flop is not null, true) as is_plain
        from attribution as work
        join peak using (source_id, device_id)
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
            and regexp_matches(work.name, '(^|[^a-z])hgemm')
            and not regexp_matches(work.name, 'tensorop|[hs]884|[hs]1688|[hs]16816|mma|tf32|bf16')
            and work.source_id not in (select source_id from step where run_id = $run_id)
            and work.dur_ns > 0
    )
select
    source_id,
    device_id,
    name,
    floor(
        sum(
            if(
                is_longest,
                greatest(0, dur_ns - 1e9 * greatest(flop / tensor_peak, all_bytes / dram_peak)),
                dur_ns
            )
        ) filter (where flop is not null)
    ) as win_ns,
    count(*) as launch_count,
    sum(dur_ns) as total_ns,
    sum(if(is_longest, flop, flop * 0)) as total_flop,
    nullif(count(*) filter (where flop is null), 0) as unknown_count,
    any_value(factor) as peak_factor
from products
where tensor_peak is not null
group by source_id, device_id, name
having bool_and(is_plain) and (win_ns > 0 or win_ns is null)
