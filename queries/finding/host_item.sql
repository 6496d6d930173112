-- purpose = "Time in which a program without device work reads one number of a tensor after the
-- other."
-- source = "PyTorch, Performance Tuning Guide: .item() copies one number to Python;
-- docs/metrics.md,
-- section Findings"
-- needs = ["op_call", "calling_context"]
-- depends = ["host_call"]
-- parameters = "run_id phase"
-- columns = "win_ns run_count-reads call_count longest_count example_offset_ns elapsed_ns-window
-- source_id-rank device_id-none"
-- win_ns = "BIGINT: from the first read of each series to the end of its last"
-- run_count-reads = "BIGINT: series of eight reads or more, with only views between them"
-- call_count = "BIGINT: their reads"
-- longest_count = "BIGINT: reads of the longest series"
-- finding.title = "Numbers are read one by one"
-- finding.evidence = "{call_count:call} of .item() in {run_count} series; the longest has
-- {longest_count}, {example_offset_ns} after the start"
-- finding.action = "Compute with the whole tensor, or read it at once: tolist(), numpy()."
-- finding.command = "query host_item"
-- finding.pool = "steps"
with
    numbered as (
        select
            *,
            name in ('aten::item', 'aten::is_nonzero') as is_read,
            sum((not is_read and family_name is distinct from 'view')::bigint) over (
                partition by source_id, thread_id order by start_ns, event_id
            ) as series_index
        from host_call($run_id, $phase)
        where is_outermost
    ),
    series as (
        select
            source_id,
            count(*) filter (where is_read) as read_count,
            min(start_ns) filter (where is_read) as from_ns,
            max(start_ns + dur_ns) filter (where is_read) as till_ns,
            any_value(window_start_ns) as window_start_ns,
            any_value(elapsed_ns) as elapsed_ns
        from numbered
        group by source_id, thread_id, series_index
        having read_count >= 8
    )
select
    least(cast(sum(till_ns - from_ns) as bigint), any_value(elapsed_ns)) as win_ns,
    count(*) as run_count,
    cast(sum(read_count) as bigint) as call_count,
    max(read_count) as longest_count,
    arg_max(from_ns - window_start_ns, (read_count, - from_ns)) as example_offset_ns,
    any_value(elapsed_ns) as elapsed_ns,
    source_id,
    cast(null as bigint) as device_id
from series
group by source_id
having win_ns > 0
order by win_ns desc, source_id
