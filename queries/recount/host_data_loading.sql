-- purpose = "A program without device work loads data as long as the thread that does most."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "host_data_loading"
-- keys = ["source_id", "name"]
-- needs = ["op_call", "slice"]
-- upon = "host_op_call"
-- is_partial = true
with
    windows as (select distinct source_id, from_ns, elapsed_ns from host_op_call),
    loading as (
        select
            *,
            greatest(start_ns, from_ns) as begin_ns,
            least(start_ns + dur_ns, from_ns + elapsed_ns) as end_ns,
            max(start_ns + dur_ns) over (
                partition by source_id, coalesce(thread_id, -1)
                order by start_ns, dur_ns desc
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from slice
        join windows using (source_id)
        where
            run_id = $run_id
            and slice_kind in ('annotation', 'op')
            and regexp_matches(name, '^enumerate\(Data|data_load|wait_for_batch')
            and start_ns + dur_ns > from_ns
            and start_ns < from_ns + elapsed_ns
    ),
    pieces as (
        select *, end_ns - greatest(begin_ns, coalesce(reach_ns, begin_ns)) as piece_ns
        from loading
        where reach_ns is null or end_ns > reach_ns
    ),
    threads as (select source_id, thread_id, sum(piece_ns) as thread_ns from pieces group by all)
select
    source_id,
    name,
    sum(piece_ns) as win_ns,
    count(*) as call_count,
    max(piece_ns) as longest_ns,
    max_by(begin_ns - from_ns, (piece_ns, - begin_ns)) as example_offset_ns,
    any_value(elapsed_ns) as elapsed_ns
from pieces
where
    (source_id, coalesce(thread_id, -1)) in (
        select (source_id, coalesce(first(thread_id order by thread_ns desc, thread_id), -1))
        from threads
        group by source_id
    )
group by source_id, name
