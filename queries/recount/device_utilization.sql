-- purpose = "Devices are busy, and do the operations and bytes, that their kernels and operators
-- say."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "device_utilization"
-- keys = ["source_id", "device_id"]
-- is_partial = true
-- skips_unknown = true
with
    ops as (
        select
            *,
            coalesce(self_ns, dur_ns) as own_ns,
            coalesce(type_name, category_name, name) = 'IDLE' as is_idle,
            -- counted with what is inside or at the end of it
            self_ns < dur_ns or name like '%-start%' as is_part,
            coalesce(flop_count, reported_flop_per_s * dur_ns * 1e-9) as flop,
            coalesce(dram_bytes, accessed_bytes, reported_bytes_per_s * dur_ns * 1e-9) as bytes
        from op_stat
        where run_id = $run_id and side_kind = 'device'
        qualify op_kind = 'hlo' or not bool_or(op_kind = 'hlo') over (partition by source_id)
    ),
    op_sums as (
        select
            source_id,
            device_id,
            sum(flop) as total_flop,
            sum(bytes) as total_bytes,
            coalesce(sum(own_ns) filter (where not is_idle), 0) as op_ns,
            sum(own_ns) filter (where is_idle) as idle_ns,
            sum(own_ns) filter (where flop is not null) as known_ns,
            bool_or(is_part) as has_parts
        from ops
        group by source_id, device_id
    ),
    idle_counts as (
        select source_id, sum(value) as idle_ns
        from counter
        where run_id = $run_id and event_name = 'IDLE' and scope_name = 'Device' and unit = 'ns'
        group by source_id
    ),
    kernels as (
        select
            source_id,
            kernel.device_id,
            coalesce(work.start_ns, kernel.start_ns) as start_ns,
            coalesce(work.start_ns + work.dur_ns, kernel.start_ns + kernel.dur_ns) as end_ns
        from kernel
        left join
            (
                select source_id, event_id, start_ns, dur_ns from attribution where run_id = $run_id
            ) as work using (source_id, event_id)
        where run_id = $run_id
    ),
    spans as (
        from kernels
        union all by name
        select source_id, start_ns, start_ns + dur_ns as end_ns
        from slice
        where run_id = $run_id
        union all by name
        select source_id, start_ns, start_ns + dur_ns as end_ns
        from step
        where run_id = $run_id
        union all by name
        select source_id, start_ns, start_ns + dur_ns as end_ns
        from transfer
        where run_id = $run_id
    ),
    windows as (
        select source_id, max(end_ns) - min(start_ns) as span_ns
        from spans
        where end_ns is not null and source_id in (select source_id from kernels)
        group by source_id
    ),
    reached as (
        select
            *,
            max(end_ns) over (
                partition by source_id, device_id
                order by start_ns, end_ns
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from kernels
        where end_ns is not null
    ),
    busy as (
        select
            source_id,
            device_id,
            sum(greatest(0, end_ns - greatest(start_ns, coalesce(reach_ns, start_ns)))) as run_ns
        from reached
        group by source_id, device_id
    ),
    peaks as (
        select
            source_id,
            device_id,
            any_value(device.name) as device_name,
            max(value) filter (where ceiling_name = 'tensor_bf16') as bf16,
            max(value) filter (where ceiling_name = 'tensor_fp16') as fp16,
            coalesce(
                max(value) filter (where ceiling_name = 'dram'),
                if(count(value) = 0, any_value(reported_bytes_per_s), null)
            ) as peak_bytes_per_s,
            coalesce(
                bf16, fp16, if(count(value) = 0, any_value(reported_flop_per_s), null)
            ) as peak_flop_per_s,
            case
                when bf16 is not null
                then 'tensor_bf16'
                when fp16 is not null
                then 'tensor_fp16'
                when peak_flop_per_s is not null
                then 'reported'
            end as ceiling_name
        from device
        left join model_ceiling on model_name = device.name
        where
            run_id = $run_id
            and source_id not in (select source_id from assumption where run_id = $run_id)
            and (
                model_name is not null
                -- neither by name nor by what it has
                or device.sm_count is null
                and device.name is not null
                and not exists (
                    from device_model
                    where contains(regexp_replace(lower(device.name), '\W', '', 'g'), model_key)
                )
            )
        group by source_id, device_id
    )
select
    coalesce(op_sums.source_id, busy.source_id) as source_id,
    coalesce(op_sums.device_id, busy.device_id) as device_id,
    device_name,
    coalesce(span_ns, op_ns + coalesce(op_sums.idle_ns, idle_counts.idle_ns)) as window_ns,
    if(span_ns is null, op_ns + 0 * window_ns, run_ns) as busy_ns,
    case
        when span_ns is not null then 'timeline' when window_ns is not null then 'operators'
    end as window_basis,
    busy_ns / nullif(window_ns, 0) as busy_ratio,
    if(has_parts, null, total_flop) as total_flop,
    if(has_parts, null, total_bytes) as total_bytes,
    if(has_parts, null, known_ns / nullif(op_ns, 0)) as known_time_ratio,
    if(coalesce(op_sums.device_id, busy.device_id) is null, null, 1) as device_count,
    ceiling_name,
    peak_flop_per_s,
    peak_bytes_per_s,
    total_flop * 1e9 / (peak_flop_per_s * nullif(window_ns, 0)) as flop_utilization_ratio,
    total_bytes * 1e9 / (peak_bytes_per_s * nullif(window_ns, 0)) as bandwidth_utilization_ratio
from op_sums
full join
    busy
    on busy.source_id = op_sums.source_id
    and busy.device_id is not distinct from op_sums.device_id
left join windows on windows.source_id = coalesce(op_sums.source_id, busy.source_id)
left join idle_counts on idle_counts.source_id = op_sums.source_id
left join
    peaks
    on peaks.source_id = coalesce(op_sums.source_id, busy.source_id)
    and peaks.device_id = coalesce(op_sums.device_id, busy.device_id)
where
    -- the same operators in several formats, or pages of one
    (select count(distinct format_name) from source_file where run_id = $run_id) <= 1
    and (select count(distinct source_id) from op_stat where run_id = $run_id) <= 1
    -- starts and ends of copies are no work
    and not exists (
        from kernel
        where
            run_id = $run_id
            and regexp_matches(coalesce(category_name, '') || name, '-(start|update|done)')
    )
