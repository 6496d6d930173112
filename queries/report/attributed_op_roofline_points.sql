-- purpose = "The points of a roofline of a timeline's operators, layers or phases: operations and
-- bytes (by joined counters, else modelled), the time of their kernels, and the time both would
-- take at peak."
-- source = "Williams 2009 (Roofline), by operator; function op_model; docs/metrics.md, section
-- Operators of a timeline"
-- needs = ["op_call"]
-- depends = ["attributed_op_work", "run_title", "one_provenance"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- level = {type = "VARCHAR", doc = "level of memory; only of dram bytes are known by operator",
-- default = "dram", choices = ["all", "dram", "l2", "l1"]}
-- by = {type = "VARCHAR", doc = "what a point is: an op, a layer (module) or a phase (forward,
-- backward)", default = "op", choices = ["op", "layer", "phase"]}
-- provenance = {type = "VARCHAR", doc = "measured (counters that were joined), modelled or best:
-- measured where there are counters", default = "best", choices = ["best", "measured",
-- "modelled"]}
-- timed = {type = "BOOLEAN", doc = "only where the time is known; operations and bytes need
-- none", default = true}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- run_name = {type = "VARCHAR", doc = "its name"}
-- name = {type = "VARCHAR", doc = "operator"}
-- level_name = {type = "VARCHAR", doc = "dram"}
-- launch_count = {type = "BIGINT", doc = "calls of the operator; where they are not known 1 in
-- each context"}
-- known_launch_count = {type = "BIGINT", doc = "those the point is of"}
-- total_ns = {type = "BIGINT", doc = "time of the kernels, copies and sets"}
-- known_ns = {type = "BIGINT", doc = "time of those the point is of"}
-- known_flop = {type = "DOUBLE", doc = "their operations"}
-- known_bytes = {type = "DOUBLE", doc = "their least bytes"}
-- compute_ns = {type = "DOUBLE", doc = "operations at the peak of their precision; NULL where one
-- is not known"}
-- bandwidth_ns = {type = "DOUBLE", doc = "bytes at the peak of memory; NULL where it is not known"}
-- launch_ns = {type = "DOUBLE", doc = "NULL: a call can launch several kernels"}
-- reason = {type = "VARCHAR", doc = "why calls, or kernels of them, are left out"}
-- byte_definition = {type = "VARCHAR", doc = "measured: of device memory; modelled: each input
-- and each result once; or mixed"}
-- device_name = {type = "VARCHAR", doc = "device; NULL if unknown, or of several names"}
-- source_id = {type = "VARCHAR", doc = "NULL: a point is of all sources"}
-- event_id = {type = "BIGINT", doc = "NULL"}
-- zero_launch_count = {type = "BIGINT", doc = "of the known ones those without an operation"}
-- zero_ns = {type = "BIGINT", doc = "their time"}
-- op_class = {type = "VARCHAR", doc = "class of the operator, as other profilers have it"}
with
    pieces as (
        select
            * replace (
                coalesce(call_count, 1) as call_count,
                case
                    $by
                    when 'layer'
                    then coalesce(module_path, '(no module)')
                    when 'phase'
                    then coalesce(phase_kind, '(no phase)')
                    else name
                end as name
            ),
            case
                family_name
                when 'gemm'
                then 'matmul'
                when 'attention'
                then 'attention'
                when 'reduction'
                then 'reduce'
                when 'pooling'
                then 'reduce'
                when 'softmax'
                then 'normalisation'
                when 'normalization'
                then 'normalisation'
                when 'copy'
                then 'data formatting'
                when 'embedding'
                then 'data formatting'
                when 'convolution'
                then 'convolution'
                when 'elementwise'
                then 'elementwise'
                when 'collective'
                then 'collective'
                else 'other'
            end as op_class,
            case
                when $level not in ('all', 'dram')
                then 'bytes of ' || upper($level) || ' are not known by operator'
                when not is_known
                then reason
                -- whole numbers are no floating-point work
                when total_flop > 0 and ceiling_name is null
                then peak_reason
                when $timed and coalesce(work_ns, 0) = 0
                then case when work_ns = 0 then 'duration of zero' else 'duration: not known' end
            end as lacking,
            lacking is null as is_in
        from attributed_op_work($run_id, 'all', $provenance)
        where basis = 'kernels' and (name is not null or $by <> 'op')
    ),
    points as (
        select
            run_id,
            device_name,
            name,
            arg_max(op_class, coalesce(total_ns, 0)) as op_class,
            sum(call_count) as launch_count,
            coalesce(sum(call_count) filter (where is_in), 0) as known_launch_count,
            sum(total_ns) as total_ns,
            sum(work_ns) filter (where is_in) as known_ns,
            sum(total_flop) filter (where is_in) as known_flop,
            sum(total_bytes) filter (where is_in) as known_bytes,
            case
                when bool_and(compute_ns is not null) filter (where is_in)
                then sum(compute_ns) filter (where is_in)
            end as compute_ns,
            case
                when bool_and(bandwidth_ns is not null) filter (where is_in)
                then sum(bandwidth_ns) filter (where is_in)
            end as bandwidth_ns,
            -- that of the most time left out; of what the point is of, that of kernels without
            -- counters
            arg_max(
                coalesce(lacking, reason),
                coalesce(total_ns - case when is_in then coalesce(work_ns, 0) else 0 end, 0)
            ) as reason,
            coalesce(
                sum(call_count) filter (where is_in and total_flop = 0), 0
            ) as zero_launch_count,
            coalesce(sum(work_ns) filter (where is_in and total_flop = 0), 0) as zero_ns,
            coalesce(
                one_provenance(provenance_kind),
                case $provenance when 'measured' then 'measured' else 'modelled' end
            ) as byte_definition
        from pieces
        group by run_id, device_name, name
    )
select
    points.run_id,
    run_title.title as run_name,
    points.name,
    'dram' as level_name,
    cast(launch_count as bigint) as launch_count,
    cast(known_launch_count as bigint) as known_launch_count,
    cast(total_ns as bigint) as total_ns,
    cast(known_ns as bigint) as known_ns,
    known_flop,
    known_bytes,
    compute_ns,
    bandwidth_ns,
    cast(null as double) as launch_ns,
    reason,
    byte_definition,
    device_name,
    cast(null as varchar) as source_id,
    cast(null as bigint) as event_id,
    cast(zero_launch_count as bigint) as zero_launch_count,
    cast(zero_ns as bigint) as zero_ns,
    case when $by = 'op' then op_class end as op_class
from points
join
    (from run_title where $run_id is null or run_id = $run_id) as run_title
    on run_title.run_id = points.run_id
order by
    points.run_id,
    points.total_ns desc nulls last,
    points.known_flop desc nulls last,
    points.name,
    device_name
