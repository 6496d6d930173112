-- purpose = "Idle time of devices while the host allocates or frees memory before the next launch,
-- if it does so throughout: in both halves of the time."
-- source = "NVIDIA, CUDA C++ Best Practices Guide: cudaMalloc and cudaFree are expensive, and
-- cudaFree waits for the device; docs/metrics.md, section Findings"
-- needs = ["slice", "attribution"]
-- depends = ["recorded_gap", "gap_part", "device_work"]
-- parameters = "run_id phase"
-- columns = "name win_ns call_count longest_ns-call example_offset_ns op_name-after
-- symptom_name elapsed_ns source_id-rank device_id"
-- name = "VARCHAR: call"
-- win_ns = "its time in the idle time of the device, before the next launch began"
-- call_count = "BIGINT: calls in the idle time of the device"
-- finding.title = "The device waits while memory is allocated or freed"
-- finding.evidence = "{call_count:call} while the device was idle, most time in {name}; longest
-- {longest_ns}, {example_offset_ns} after the start, before {op_name}"
-- finding.action = "Allocate once, outside the loop, and reuse the memory: a caching allocator,
-- cudaMallocAsync with a pool, no empty_cache() in the loop."
-- finding.command = "query largest_gaps"
-- finding.sums = ["call_count"]
-- finding.pool = "idle"
with
    called as (
        select
            source_id,
            thread_id,
            event_id,
            name,
            start_ns,
            start_ns + dur_ns as end_ns,
            max(end_ns) over (
                partition by source_id, thread_id
                order by start_ns, end_ns desc, event_id
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from slice
        where
            run_id = $run_id
            and slice_kind in ('runtime', 'driver')
            and dur_ns > 0
            and regexp_matches(name, '^(cu|cuda|hip|musa|aclrt)(Mem|Host)?(Malloc|Alloc|Free)')
    ),
    -- a call of the driver in one of the runtime counts once
    allocation as (
        select * replace (greatest(start_ns, reach_ns) as start_ns)
        from called
        where reach_ns is null or end_ns > reach_ns
    ),
    idle as (
        select
            gaps.source_id,
            gaps.device_id,
            gaps.elapsed_ns,
            gaps.window_start_ns,
            gaps.next_event_id,
            allocation.event_id,
            allocation.name,
            greatest(gaps.gap_start_ns, allocation.start_ns) as start_ns,
            least(gaps.host_end_ns, allocation.end_ns)
            - greatest(gaps.gap_start_ns, allocation.start_ns) as idle_ns,
            case
                when parts.gap_kind = 'synchronisation'
                then 'idle_synchronisation'
                when parts.part_ns >= 1000000
                then 'idle_stall'
                else 'idle_host'
            end as symptom_name
        from recorded_gap($run_id, $phase) as gaps
        join
            allocation
            on allocation.source_id = gaps.source_id
            and allocation.thread_id = gaps.launch_thread_id
            and allocation.start_ns < gaps.host_end_ns
            and allocation.end_ns > gaps.gap_start_ns
        join
            gap_part($run_id, $phase) as parts
            on parts.source_id = gaps.source_id
            and parts.device_id is not distinct from gaps.device_id
            and parts.gap_start_ns = gaps.gap_start_ns
            and parts.gap_kind in ('host', 'synchronisation')
        -- what is allocated before the first work is allocated once
        where gaps.previous_event_id is not null
    ),
    recurring as (
        select *
        from idle
        window device as (partition by source_id, device_id)
        qualify
            bool_or(2 * (start_ns - window_start_ns) < elapsed_ns) over device
            and bool_or(2 * (start_ns - window_start_ns) >= elapsed_ns) over device
    )
select
    recurring.name,
    cast(sum(idle_ns) as bigint) as win_ns,
    count(distinct recurring.event_id) as call_count,
    max(idle_ns) as longest_ns,
    arg_max(
        recurring.start_ns - window_start_ns, (idle_ns, - recurring.start_ns)
    ) as example_offset_ns,
    arg_max(coalesce(work.op_name, work.name), (idle_ns, - recurring.start_ns)) as op_name,
    symptom_name,
    any_value(elapsed_ns) as elapsed_ns,
    recurring.source_id,
    recurring.device_id
from recurring
join
    device_work as work
    on work.run_id = $run_id
    and work.source_id = recurring.source_id
    and work.event_id = recurring.next_event_id
group by recurring.source_id, recurring.device_id, recurring.name, symptom_name
order by win_ns desc, recurring.source_id, recurring.device_id, recurring.name, symptom_name
