-- purpose = "Time of copies, infeed and outfeed in the profiler's table of operators, if the run
-- has no timeline."
-- source = "docs/metrics.md, sections Operators and Findings"
-- needs = ["op_stat"]
-- depends = ["reported_op_classed"]
-- parameters = "run_id"
-- columns = "name-class win_ns occurrence_count elapsed_ns-operators source_id-rank device_id"
-- name-class = "VARCHAR: operator with the most time"
-- win_ns = "time of such operators"
-- finding.title = "The device copies or feeds data"
-- finding.evidence = "{occurrence_count:execution}, most in {name}"
-- finding.action = "Prefetch the input, keep tensors on the device, and avoid layouts that need
-- copies."
-- finding.command = "query reported_op_breakdown"
-- finding.pool = "copy"
with
    rows as (
        select *
        from reported_op_classed($run_id) as ops
        anti join attribution on attribution.run_id = ops.run_id
        where side_kind = 'device'
        qualify op_kind = max(op_kind) over (partition by source_id)
    ),
    marked as (
        select *, op_class in ('asynchronous copy', 'infeed', 'outfeed') as is_copy from rows
    )
select
    arg_min(name, (- self_ns, name)) filter (where is_copy) as name,
    cast(sum(self_ns) filter (where is_copy) as bigint) as win_ns,
    cast(sum(coalesce(occurrence_count, 1)) filter (where is_copy) as bigint) as occurrence_count,
    cast(sum(self_ns) as bigint) as elapsed_ns,
    source_id,
    device_id
from marked
group by source_id, device_id
having win_ns > 0
order by win_ns desc, source_id, device_id
