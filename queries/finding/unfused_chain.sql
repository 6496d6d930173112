-- purpose = "Time of chains of three or more elementwise kernels on tensors of one size, one after
-- the other on a stream, that could be one kernel: without its time at the roof, and the idle time
-- between them; without a device, of operators on a thread of the host."
-- source = "docs/metrics.md, section Findings"
-- needs = ["op_call", "calling_context"]
-- depends = ["gap_part", "step_window", "host_call", "device_peak", "processor_peak",
-- "time_at_peak", "whole_ns"]
-- parameters = "run_id phase"
-- columns = "name-operator win_ns chain_count call_count example_offset_ns symptom_name
-- elapsed_ns-window source_id-rank device_id"
-- name-operator = "VARCHAR: operator that the chains begin with"
-- win_ns = "BIGINT: time of the chains, less that of reading the input of the first and writing the
-- output of the last at the peak of memory, or less the longest if that is unknown or shorter; with
-- an idle finding as symptom_name, the idle time between their kernels"
-- chain_count = "BIGINT: chains"
-- call_count = "BIGINT: kernels of the longest; without a device, calls"
-- finding.title = "Chains of elementwise operators run one by one"
-- finding.evidence = "{chain_count:chain}, most time in those that begin with {name}; the longest
-- has {call_count:operator}, {example_offset_ns} after the start"
-- finding.action = "Fuse them: torch.compile, fused or foreach optimizers, a kernel of your own."
-- finding.command = "query ops --param by=shape"
-- finding.pool = "steps"
with
    worked as (select distinct source_id from attribution where run_id = $run_id),
    host_calls as materialized(from host_call($run_id, $phase)),
    model as materialized(
        select
            source_id,
            context_id,
            name,
            op_model(name, input_dims, input_types, input_strides, concrete_inputs) as work
        from calling_context
        where
            run_id = $run_id
            and context_kind = 'op'
            and source_id in (from worked)
            and context_id in (select context_id from attribution where run_id = $run_id)
    ),
    -- on the host: elementwise operators, and others that call none
    host_pieces as (
        select
            *,
            max(start_ns + dur_ns) over (
                partition by source_id, thread_id
                order by start_ns, dur_ns desc, event_id
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from host_calls
        where
            dur_ns > 0
            and (
                family_name = 'elementwise'
                or event_id
                not in (select parent_event_id from host_calls where parent_event_id is not null)
            )
    ),
    piece as (
        select
            calls.source_id,
            calls.device_id,
            calls.stream_id as lane_id,
            calls.event_id,
            calls.start_ns,
            calls.dur_ns,
            windows.start_ns as window_start_ns,
            windows.end_ns - windows.start_ns as elapsed_ns,
            model.name,
            work.family_name,
            work.read_bytes,
            work.write_bytes,
            peaks.dram_bytes_per_s as bytes_per_s
        from attribution as calls
        join
            step_window($run_id, $phase) as windows
            on windows.source_id = calls.source_id
            and calls.start_ns >= windows.start_ns
            and calls.start_ns < windows.end_ns
        left join model on model.source_id = calls.source_id and model.context_id = calls.context_id
        left join
            device_peak as peaks
            on peaks.run_id = $run_id
            and peaks.source_id = calls.source_id
            and peaks.device_id is not distinct from calls.device_id
        where calls.run_id = $run_id and calls.dur_ns > 0
        union all
        select
            calls.source_id,
            null,
            thread_id,
            event_id,
            start_ns,
            dur_ns,
            window_start_ns,
            elapsed_ns,
            name,
            family_name,
            read_bytes,
            write_bytes,
            peaks.peak_bytes_per_s
        from host_pieces as calls
        left join processor_peak($run_id) as peaks on peaks.source_id = calls.source_id
        -- views and new tensors do no work between others
        where
            (reach_ns is null or reach_ns <= start_ns)
            and family_name is distinct from 'view'
            and not starts_with(name, 'aten::empty')
    ),
    ordered as (
        select
            *,
            case when family_name = 'elementwise' then write_bytes end as size_bytes,
            row_number() over lane as place,
            size_bytes is null or size_bytes is distinct from lag(size_bytes) over lane as is_first
        from piece
        window lane as (partition by source_id, device_id, lane_id order by start_ns, event_id)
    ),
    numbered as (
        select
            *,
            sum(is_first::bigint) over (
                partition by source_id, device_id, lane_id order by place
            ) as chain_index
        from ordered
    ),
    member as materialized(
        select
            *,
            arg_min(name, place) over chain as first_name,
            min(start_ns) over chain as chain_start_ns,
            sum(dur_ns) over chain as chain_ns,
            -- one kernel reads what the first reads, and writes what the last writes
            least(
                max(dur_ns) over chain,
                time_at_peak(arg_min(read_bytes, place) over chain + size_bytes, bytes_per_s)
            ) as fused_ns,
            count(*) over chain as chain_call_count
        from numbered
        where size_bytes is not null
        window chain as (partition by source_id, device_id, lane_id, chain_index)
        qualify chain_call_count >= 3
    ),
    won as (
        select
            member.*,
            case when device_id is null then 'host_memory_bound' end as symptom_name,
            dur_ns - dur_ns * ratio(fused_ns, chain_ns) as part_ns
        from member
        union all
        select
            member.*,
            case
                when parts.gap_kind = 'host'
                then 'idle_host'
                when parts.gap_kind = 'launch'
                then 'idle_launch'
                else 'idle_between'
            end,
            parts.part_ns
        from member
        join
            gap_part($run_id, $phase) as parts
            on parts.source_id = member.source_id
            and parts.device_id is not distinct from member.device_id
            and parts.next_event_id = member.event_id
        where
            not member.is_first
            -- longer ones have causes of their own
            and parts.part_ns < 1000000
            and (
                parts.gap_kind in ('host', 'launch')
                or parts.gap_kind in ('queue', 'stream')
                and member.dur_ns < 10000
            )
    )
select
    first_name as name,
    whole_ns(sum(part_ns)) as win_ns,
    count(distinct(lane_id, chain_index)) as chain_count,
    arg_max(chain_call_count, (chain_ns, - chain_start_ns)) as call_count,
    arg_max(chain_start_ns - window_start_ns, (chain_ns, - chain_start_ns)) as example_offset_ns,
    symptom_name,
    any_value(elapsed_ns) as elapsed_ns,
    source_id,
    device_id
from won
group by source_id, device_id, first_name, symptom_name
having win_ns > 0
order by win_ns desc, source_id, device_id, name, symptom_name
