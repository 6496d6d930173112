-- purpose = "Modules hold the feature maps that the rows say: allocated in a forward pass and
-- released in a backward pass."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "memory_by_module"
-- keys = ["source_id", "process_id", "device_kind", "device_id", "module_path"]
-- needs = ["allocation", "calling_context"]
-- is_partial = true
with
    blocks as (
        select allocation.*, module_path
        from allocation
        left join
            (
                select source_id, context_id, module_path
                from calling_context
                where run_id = $run_id
            ) using (source_id, context_id)
        where
            run_id = $run_id
            and phase_kind = 'forward'
            and release_phase_kind = 'backward'
            and not is_released_in_op
    ),
    changes as (
        select *, start_ns as time_ns, event_id as change_id, size_bytes as change_bytes
        from blocks
        union all by name
        select
            *,
            start_ns + dur_ns as time_ns,
            release_event_id as change_id,
            - size_bytes as change_bytes
        from blocks
    ),
    levels as (
        select
            *,
            sum(change_bytes) over (
                partition by source_id, process_id, device_kind, device_id
                order by time_ns, change_id
                rows unbounded preceding
            ) as level_bytes
        from changes
    ),
    peaks as (
        select
            *,
            arg_max(change_id, (level_bytes, - time_ns, - change_id)) over (
                partition by source_id, process_id, device_kind, device_id
            ) as peak_id,
            arg_max(time_ns, (level_bytes, - time_ns, - change_id)) over (
                partition by source_id, process_id, device_kind, device_id
            ) as peak_ns
        from levels
    )
select
    source_id,
    process_id,
    device_kind,
    device_id,
    module_path,
    coalesce(
        sum(change_bytes) filter (where (time_ns, change_id) <= (peak_ns, peak_id)), 0
    ) as at_peak_bytes,
    at_peak_bytes / sum(at_peak_bytes) over (
        partition by source_id, process_id, device_kind, device_id
    ) as share_ratio,
    count(*) filter (where change_bytes > 0) as allocation_count,
    sum(change_bytes) filter (where change_bytes > 0) as allocated_bytes,
    max(change_bytes) as largest_bytes
from peaks
where
    -- sources in which every other block of a forward pass is gone with it
    source_id not in (
        select source_id
        from allocation
        where
            run_id = $run_id
            and phase_kind = 'forward'
            and not coalesce(
                is_released_in_op
                or release_phase_kind = 'backward'
                or (release_phase_kind = 'forward' and release_pass_index = pass_index),
                false
            )
    )
group by source_id, process_id, device_kind, device_id, module_path
