-- purpose = "Sources of the times of a comparison: the best basis of each run."
-- source = "docs/metrics.md, section Comparing runs"
-- needs = ["source_file"]
-- depends = ["launch_source", "reported_op_source"]
-- parameters = "a_run b_run grouping_kind"
-- columns = "run_id source_id basis_kind"
with
    held as (
        select
            run_id,
            source_id,
            case
                table_name
                when 'attribution'
                then 'timeline'
                when 'layer_stat'
                then 'layers'
                else 'host'
            end as basis_kind,
            case
                table_name when 'attribution' then 0 when 'layer_stat' then 6 else 7
            end as basis_rank
        from stored_table
        where
            run_id in (a_run, b_run)
            and (
                table_name = 'attribution'
                or (table_name = 'layer_stat' and grouping_kind in ('layer', 'phase'))
                or (table_name = 'op_call' and grouping_kind in ('op', 'layer', 'phase'))
            )
        union all
        select
            run_id,
            source_id,
            case recording_kind when 'timeline' then 'kernels' else recording_kind end,
            1
        -- one by one: no other run's files are read
        from
            (
                from launch_source
                where run_id = a_run
                union
                from launch_source
                where run_id = b_run
            )
        where grouping_kind in ('kernel', 'category')
        union all
        select
            run_id,
            source_id,
            op_kind || ' (' || side_kind || ')',
            case when side_kind = 'device' then 2 else 4 end
            + case when op_kind = 'framework' then 0 else 1 end
        -- one by one: no other run's files are read
        from
            (
                from reported_op_source
                where run_id = a_run
                union
                from reported_op_source
                where run_id = b_run
            )
        where grouping_kind in ('op', 'category')
    )
select run_id, source_id, basis_kind
from held
qualify basis_rank = min(basis_rank) over (partition by run_id)
