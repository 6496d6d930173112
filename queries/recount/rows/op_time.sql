-- purpose = "Operators in each source: time of their kernels and copies, or on the host where no
-- kernel runs, their calls that launch work, and the work that the model knows of them."
-- upon = "op_unit"
with
    ran as (
        select
            source_id,
            unit_id,
            sum(dur_ns) as device_ns,
            coalesce(
                sum(dur_ns) filter (where work_kind = 'kernel'),
                if(count(*) filter (where work_kind = 'kernel') = 0, 0, null)
            ) as kernel_ns,
            count(*) filter (where work_kind = 'kernel') as kernel_count,
            count(*) filter (where work_kind <> 'kernel') as copy_count
        from (from attribution where run_id = $run_id)
        left join op_unit using (source_id, context_id)
        group by source_id, unit_id
    ),
    called as (
        select
            source_id,
            unit_id,
            count(*) filter (where unit_id = op_call.context_id) as calls,
            count(*) filter (where unit_id = op_call.context_id and work_count > 0) as launching,
            sum(self_ns) as host_ns
        from (from op_call where run_id = $run_id) as op_call
        left join op_unit using (source_id, context_id)
        group by source_id, unit_id
    ),
    paired as (
        select
            coalesce(ran.source_id, called.source_id) as source_id,
            coalesce(ran.unit_id, called.unit_id) as unit_id,
            coalesce(ran.source_id, called.source_id) in (
                select source_id from attribution where run_id = $run_id and work_kind = 'kernel'
            ) as has_kernels,
            ran.* exclude (source_id, unit_id),
            called.* exclude (source_id, unit_id)
        from ran
        full join
            called
            on called.source_id = ran.source_id
            and called.unit_id is not distinct from ran.unit_id
    )
select
    source_id,
    unit_id,
    name,
    module_path,
    has_kernels,
    if(has_kernels, device_ns, host_ns) as total_ns,
    nullif(if(has_kernels, launching, calls), 0) as call_count,
    kernel_ns,
    kernel_count,
    copy_count,
    host_ns,
    flop::double * nullif(if(has_kernels, launching, calls), 0) as flop,
    bytes::double * nullif(if(has_kernels, launching, calls), 0) as bytes,
    precision_name,
    is_heavy
from paired
left join
    (
        select distinct source_id, unit_id, name, module_path, flop, bytes, precision_name, is_heavy
        from op_unit
    ) using (source_id, unit_id)
where not has_kernels or kernel_count is not null
