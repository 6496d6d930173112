-- purpose = "Points of a roofline of operators, layers or phases of a timeline: operations and
-- bytes (joined counters, else modeled), kernel time, and the time of both at peak."
-- source = "Williams 2009 (Roofline), by operator; function op_model; docs/metrics.md, section
-- Operators of a timeline"
-- topic = "rooflines"
-- needs = ["attribution"]
-- answered_if = "exists (from attribution where run_id = $run_id and op_name is not null)"
-- depends = ["attributed_op_work", "run_title", "one_or_mixed", "whole_sum_where", "pattern_rank",
-- "sum_where"]
-- parameters = "run_id-all phase level by provenance timed"
-- by = {doc = "what a point is: an op, a layer (module) or a phase (forward, backward)", default
-- = "op", choices = ["op", "layer", "phase"]}
-- columns = "run_id run_name name-operator level_name-dram launch_count known_launch_count
-- total_ns known_ns known_flop known_bytes compute_ns-precision bandwidth_ns launch_ns
-- reason-points byte_definition device_name source_id-none event_id-none zero_launch_count
-- zero_ns op_class"
-- launch_count = "calls of the operator; if unknown, 1 per context"
-- total_ns = "time of the kernels, copies and memsets"
-- launch_ns = "DOUBLE: NULL: a call can launch several kernels"
-- byte_definition = "VARCHAR: measured: device memory; modelled: each input and result once; or
-- mixed"
-- op_class = "operator class, shared with other profilers"
with
    work as materialized(
        from attributed_op_work($run_id, $phase, $provenance)
        where basis = 'kernels' and (name is not null or $by <> 'op')
    ),
    named as (
        select work.name, arg_min(class_name, (pattern_rank(pattern), class_rank)) as class_name
        from (select distinct name from work where family_name is null) as work
        join
            op_class
            on key_kind = 'type'
            and lower(regexp_replace(work.name, '^.*[:/]', '')) glob pattern
        group by work.name
    ),
    pieces as (
        select
            work.* replace (
                coalesce(call_count, 1) as call_count,
                case
                    $by
                    when 'layer'
                    then coalesce(module_path, '(no module)')
                    when 'phase'
                    then coalesce(phase_kind, '(no phase)')
                    else work.name
                end as name
            ),
            case
                when family_name in (select class_name from op_class)
                then family_name
                else coalesce(class_name, 'other')
            end as op_class,
            case
                when $level not in ('all', 'dram')
                then 'bytes of ' || upper($level) || ' are unknown by operator'
                when not is_known
                then reason
                -- whole numbers are no floating-point work
                when is_impossible or total_flop > 0 and ceiling_name is null
                then peak_reason
                when $timed and coalesce(work_ns, 0) = 0
                then case when work_ns = 0 then 'duration of zero' else 'duration: unknown' end
            end as lacking,
            lacking is null as is_in
        from work
        left join named on named.name = work.name
    ),
    points as (
        select
            run_id,
            device_name,
            name,
            arg_min(op_class, (- coalesce(total_ns, 0), op_class)) as op_class,
            sum(call_count) as launch_count,
            coalesce(sum(call_count) filter (where is_in), 0) as known_launch_count,
            sum(total_ns) as total_ns,
            sum(work_ns) filter (where is_in) as known_ns,
            sum(total_flop) filter (where is_in) as known_flop,
            sum(total_bytes) filter (where is_in) as known_bytes,
            whole_sum_where(compute_ns, is_in) as compute_ns,
            whole_sum_where(bandwidth_ns, is_in) as bandwidth_ns,
            -- that of the most time left out; of what the point is of, that of kernels without
            -- counters
            arg_min(
                coalesce(lacking, reason),
                (
                    - coalesce(total_ns - case when is_in then coalesce(work_ns, 0) else 0 end, 0),
                    coalesce(lacking, reason)
                )
            ) as reason,
            coalesce(
                sum(call_count) filter (where is_in and total_flop = 0), 0
            ) as zero_launch_count,
            sum_where(work_ns, is_in and total_flop = 0) as zero_ns,
            coalesce(
                one_or_mixed(provenance_kind),
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
    zero_ns,
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
