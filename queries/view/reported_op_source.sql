-- purpose = "Sources whose operators count in their run: several files of a profile have the same
-- operators."
-- source = "docs/metrics.md, section Operators: of each kind and side the files of one format,
-- and of the per-tool dumps those of one tool; pages with a few of the operators only where there
-- is nothing else of that side"
-- needs = ["op_stat"]
-- columns = "run_id source_id op_kind side_kind"
with
    held as (select distinct run_id, source_id, op_kind, side_kind from op_stat),
    ranked as (
        select
            held.*,
            coalesce(
                list_position(
                    [
                        'tensorflow-profiler',
                        'tensorflow-trace',
                        'tensorflow-timeline',
                        'tensorflow-tools'
                    ],
                    source_file.format_name
                ),
                9
            ) as format_rank,
            case
                when source_file.format_name = 'tensorflow-tools'
                then
                    coalesce(
                        list_position(
                            [
                                'tensorflow_stats',
                                'op_profile',
                                'overview_page',
                                'input_pipeline',
                                'pod_viewer'
                            ],
                            source_file.metadata_json ->> '$.tool'
                        ),
                        9
                    )
                else 0
            end as tool_rank,
            -- pages with the operators of one kind, or the ten longest
            tool_rank > 2 as is_partial
        from held
        left join source_file using (run_id, source_id)
    )
select run_id, source_id, op_kind, side_kind
from ranked
qualify
    (not is_partial or bool_and(is_partial) over (partition by run_id, side_kind))
    and 100 * format_rank + tool_rank
    = min(100 * format_rank + tool_rank) over (partition by run_id, op_kind, side_kind)
