-- purpose = "Kernels, copies and memsets of a timeline with their end, class and launch."
-- source = "Zhu 2018 (TBD), eq. 1: the times at which the GPU is active; docs/metrics.md, section
-- gpu_utilization"
-- needs = ["attribution"]
-- depends = ["work_class", "work_total", "classified_kernel"]
-- columns = "run_id source_id event_id work_class work_kind name device_id stream_id start_ns
-- end_ns launch_event_id launch_name launch_thread_id launch_start_ns launch_end_ns
-- launch_work_count launch_reason op_name step_index is_alone"
-- event_id = "work: kernel.event_id or transfer.event_id"
-- work_class = "VARCHAR: compute or communication (kernels), memcpy (copies, and instructions
-- that start or await one) or memset"
-- name = "full name"
-- launch_start_ns = "BIGINT: start of that call"
-- launch_end_ns = "BIGINT: end of that call; NULL if the call is truncated"
-- launch_work_count = "BIGINT: kernels, copies and memsets that the call launched: more than one
-- for a graph"
-- launch_reason = "VARCHAR: why launch_event_id is NULL"
-- is_alone = "BOOLEAN: no other work of its device runs at any time of it; NULL if unknown"
-- op_name = "innermost operator around the call"
with
    -- few: asking them is much faster than asking each kernel. The count keeps the optimizer from
    -- asking each kernel first
    names as materialized(
        select
            name,
            case when kernel_count > 0 then work_class('kernel', name, null, null) end as work_class
        from
            (
                select name, sum(work_count) as kernel_count
                from work_total
                where work_kind = 'kernel'
                group by name
            )
    )
select
    work.run_id,
    work.source_id,
    work.event_id,
    case
        when work.work_kind <> 'kernel'
        then work.work_kind
        when said.event_id is null
        then names.work_class
        else work_class('kernel', work.name, said.collective_name, said.category_name)
    end as work_class,
    work.work_kind,
    work.name,
    work.device_id,
    work.stream_id,
    work.start_ns,
    work.start_ns + work.dur_ns as end_ns,
    work.launch_event_id,
    work.launch_name,
    work.launch_thread_id,
    work.launch_start_ns,
    work.launch_start_ns + work.launch_dur_ns as launch_end_ns,
    work.launch_work_count,
    work.launch_reason,
    work.op_name,
    work.step_index,
    work.is_alone
from attribution as work
left join
    classified_kernel as said
    on said.run_id = work.run_id
    and said.source_id = work.source_id
    and said.event_id = work.event_id
left join names on names.name is not distinct from work.name
where work.start_ns is not null and work.dur_ns is not null
