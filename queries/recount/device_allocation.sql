-- purpose = "Devices are idle for the part of allocations before the launch of the next work."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "device_allocation"
-- keys = ["source_id", "device_id", "name", "symptom_name"]
-- needs = ["slice", "attribution"]
-- upon = "idle_piece"
-- is_partial = true
with
    called as (
        select
            *,
            start_ns + dur_ns as end_ns,
            max(start_ns + dur_ns) over (
                partition by source_id, thread_id
                order by start_ns, dur_ns desc
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from slice
        where
            run_id = $run_id
            and slice_kind in ('runtime', 'driver')
            and dur_ns > 0
            and regexp_matches(name, '^(cuda|cu|hip|musa|aclrt)(Mem|Host)?(Malloc|Alloc|Free)')
    ),
    hit as (
        select
            piece.*,
            called.event_id as call_id,
            name,
            greatest(start_ns, coalesce(reach_ns, start_ns), gap_start_ns) as hit_ns,
            least(end_ns, host_end_ns) - hit_ns as idle_ns,
            case
                idle_kind
                when 'host'
                then 'idle_host'
                when 'stall'
                then 'idle_stall'
                else 'idle_synchronisation'
            end as symptom_name,
            hit_ns - from_ns < elapsed_ns / 2 as is_early
        from idle_piece as piece
        join
            called
            on called.source_id = piece.source_id
            and called.thread_id = launch_thread_id
            and start_ns < host_end_ns
            and end_ns > gap_start_ns
        where
            idle_kind in ('host', 'stall', 'synchronisation')
            and piece.event_id is not null
            and not is_first
            and (reach_ns is null or end_ns > reach_ns)
            and idle_ns > 0
    )
select
    source_id,
    device_id,
    name,
    symptom_name,
    sum(idle_ns) as win_ns,
    count(distinct call_id) as call_count,
    max(idle_ns) as longest_ns,
    max_by(hit_ns - from_ns, (idle_ns, - hit_ns)) as example_offset_ns,
    max_by(op_name, (idle_ns, - hit_ns)) as op_name,
    any_value(elapsed_ns) as elapsed_ns
from hit
where
    (source_id, coalesce(device_id, -1)) in (
        select (source_id, coalesce(device_id, -1))
        from hit
        group by source_id, device_id
        having bool_or(is_early) and bool_or(not is_early)
    )
group by source_id, device_id, name, symptom_name
