-- purpose = "Operators below six tenths of their roof take longer than their shapes need."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "op_below_roof"
-- keys = ["source_id", "name"]
-- needs = ["op_call", "attribution", "calling_context"]
-- upon = "modeled_op"
-- is_partial = true
with
    ran as (
        select
            source_id,
            context_id,
            any_value(device_id) as device_id,
            sum(dur_ns) as work_ns,
            count(*) filter (where work_kind = 'kernel') as kernels
        from attribution
        where run_id = $run_id
        group by source_id, context_id
        having count(distinct device_id) = 1 and kernels > 0
    ),
    called as (
        select source_id, context_id, count(*) filter (where work_count > 0) as calls
        from op_call
        where run_id = $run_id
        group by source_id, context_id
    ),
    timed as (
        select
            source_id,
            op_name,
            work_ns,
            kernels,
            calls,
            calls * 1e9 * greatest(flop / peaks[unit_name], all_bytes / peaks['dram']) as roof_ns
        from modeled_op
        join ran using (source_id, context_id)
        join called using (source_id, context_id)
        join known_peak using (source_id, device_id)
        where calls > 0 and flop is not null and (kind <> 'product' or unit_name <> 'fp32')
    )
select
    source_id,
    op_name as name,
    floor(round(sum(work_ns) - sum(roof_ns), 3)) as win_ns,
    sum(calls) as call_count,
    sum(kernels) as kernel_count,
    sum(work_ns) as total_ns,
    sum(roof_ns) / sum(work_ns) as roof_ratio
from timed
where
    roof_ns < 0.6 * work_ns
    and not exists (from kernel_counter where run_id = $run_id)
    -- each name in full: no context of it has shapes that say less plainly what it does
    and (source_id, op_name) not in (
        select (source_id, name)
        from calling_context
        where
            run_id = $run_id
            and input_dims is not null
            and not contains(input_types, 'complex')
            and (source_id, context_id) not in (
                select (source_id, context_id)
                from modeled_op
                where kind <> 'product' or unit_name <> 'fp32'
            )
    )
group by source_id, op_name
