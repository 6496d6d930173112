-- purpose = "Framework operators by name, with calls and host time."
-- source = "operator slices as the profiler records them"
-- topic = "operators"
-- needs = ["slice"]
-- answered_if = "exists (from slice where run_id = $run_id and slice_kind = 'op')"
-- depends = ["step_window"]
-- parameters = "run_id phase"
-- phase = "all, stable or N..M: only operators called in these steps"
-- columns = "name-operator call_count total_ns mean_ns min_ns max_ns"
-- total_ns = "host time with at least one call running, summed over threads; nested calls of the
-- same name count once, calls nested in another operator count in both"
with
    of_steps as (
        select source_id, event_id
        from op_call
        join step_window($run_id, $phase) using (run_id, source_id)
        where
            $phase <> 'all'
            and run_id = $run_id
            and step_index between first_step_index and last_step_index
    ),
    calls as (
        select
            name,
            dur_ns,
            start_ns,
            -- how far the calls of this name reach that began before on the same thread
            max(start_ns + dur_ns) over (
                partition by source_id, process_id, thread_id, track_name, name
                order by start_ns, dur_ns desc, event_id
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from slice
        where
            run_id = $run_id
            and slice_kind = 'op'
            and (
                $phase = 'all'
                or (source_id, event_id) in (select (source_id, event_id) from of_steps)
            )
    )
select
    name,
    count(*) as call_count,
    -- a start that is not known leaves nothing to hold against
    cast(
        sum(greatest(dur_ns - greatest(coalesce(reach_ns - start_ns, 0), 0), 0)) filter (
            where dur_ns is not null
        ) as bigint
    ) as total_ns,
    avg(dur_ns) as mean_ns,
    min(dur_ns) as min_ns,
    max(dur_ns) as max_ns
from calls
group by name
order by total_ns desc nulls last, name
