-- purpose = "Moments of a program without device work are outside of operators if as many operators
-- and loads of data have ended as have begun."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "host_outside_ops"
-- keys = ["source_id"]
-- needs = ["op_call", "slice"]
-- upon = "host_op_call"
-- is_partial = true
-- is_sum = true
with
    windows as (
        select distinct source_id, from_ns, from_ns + elapsed_ns as till_ns from host_op_call
    ),
    running as (
        select source_id, start_ns, start_ns + dur_ns as end_ns
        from op_call
        where run_id = $run_id
        union all
        select source_id, start_ns, start_ns + dur_ns
        from slice
        where
            run_id = $run_id
            and slice_kind in ('annotation', 'op')
            and regexp_matches(name, '^enumerate\(Data|data_load|wait_for_batch')
    ),
    changes as (
        select source_id, start_ns as at_ns, 1 as change
        from running
        union all
        select source_id, end_ns, -1
        from running
        union all
        select source_id, unnest([from_ns, till_ns]), 0
        from windows
    ),
    levels as (
        select
            source_id,
            at_ns,
            sum(sum(change)) over (partition by source_id order by at_ns) as running_count,
            lead(at_ns) over (partition by source_id order by at_ns) as next_ns
        from changes
        group by source_id, at_ns
    )
select
    source_id,
    sum(least(next_ns, till_ns) - greatest(at_ns, from_ns)) as total_ns,
    sum(least(next_ns, till_ns) - greatest(at_ns, from_ns)) as win_ns
from levels
join windows using (source_id)
where running_count = 0 and next_ns > from_ns and at_ns < till_ns
group by source_id
