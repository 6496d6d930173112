-- purpose = "Series of reads of one number last from the first read to the end of the last."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "host_item"
-- keys = ["source_id"]
-- needs = ["op_call", "calling_context"]
-- upon = "host_op_call"
-- is_partial = true
with
    -- what is none of these may be a view or not
    told as (
        select
            *,
            name in ('aten::item', 'aten::is_nonzero') as is_read,
            regexp_full_match(
                name, 'aten::(select|slice|view|unsqueeze|squeeze|expand|t|transpose|permute)'
            ) as is_view
        from host_op_call
        where is_outermost
    ),
    numbered as (
        select
            *,
            count(*) filter (where not is_read and not is_view) over (
                partition by source_id, thread_id order by start_ns, event_id
            ) as series
        from told
        qualify
            bool_and(
                is_read
                or is_view
                or regexp_full_match(
                    name, 'aten::(mul|add|sub|div|mm|addmm|linear|sum|relu|copy_)_?'
                )
            ) over (partition by source_id)
    ),
    ended as (
        select
            source_id,
            count(*) filter (where is_read) as reads,
            min(start_ns) filter (where is_read) as first_ns,
            max(end_ns) filter (where is_read) - first_ns as series_ns,
            any_value(from_ns) as from_ns,
            any_value(elapsed_ns) as elapsed_ns
        from numbered
        group by source_id, thread_id, series
        having reads > 7
    )
select
    source_id,
    least(sum(series_ns), any_value(elapsed_ns)) as win_ns,
    count(*) as run_count,
    sum(reads) as call_count,
    max(reads) as longest_count,
    max_by(first_ns - from_ns, (reads, - first_ns)) as example_offset_ns,
    any_value(elapsed_ns) as elapsed_ns
from ended
group by source_id
having win_ns > 0
