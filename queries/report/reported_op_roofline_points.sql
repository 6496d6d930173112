-- purpose = "Points of an operator roofline: operations, traffic and time, and the time of both
-- at peak; devices of one name are summed, and rates are per device."
-- source = "Wang Y. E. 2020 (ParaDnn), sect. 4.2 and Fig. 3: rooflines of models and of their
-- operations, colored by class"
-- topic = "rooflines"
-- needs = ["op_stat"]
-- answered_if = "exists (from op_stat where run_id = $run_id and side_kind = 'device')"
-- depends = ["reported_op_figures", "run_title", "whole_sum_where", "one_or_mixed", "sum_where"]
-- parameters = "run_id-all by level timed ceiling"
-- by = {doc = "what a point is: op (name: the same), class or run", default = "op", choices =
-- ["op", "name", "class", "run"]}
-- columns = "run_id run_name name level_name-dram launch_count known_launch_count total_ns
-- known_ns known_flop known_bytes compute_ns bandwidth_ns launch_ns reason-points byte_definition
-- device_name source_id-none event_id-none zero_launch_count zero_ns op_class"
-- name = "operator (with its program if several have the name), class or run"
-- launch_count = "operator executions"
-- total_ns = "time without nested operators"
-- launch_ns = "DOUBLE: NULL: the program launches its operators"
-- byte_definition = "VARCHAR: dram (device memory), accessed (all memories), rate (x time) or
-- mixed"
-- op_class = "class; if several, the one with the most time; NULL for a run"
with
    figures as (
        select
            *,
            case
                when $level not in ('all', 'dram')
                then 'bytes of ' || upper($level) || ' are not recorded for operators'
                when known_flop is null
                then reason
                when $timed and coalesce(known_ns, 0) = 0
                then case when known_ns = 0 then 'duration of zero' else 'duration: unknown' end
            end as lacking
        from
            reported_op_figures(
                $run_id,
                null,
                'device',
                case $by when 'name' then 'op' else $by end,
                'device',
                $ceiling
            )
    ),
    points as (
        select
            run_id,
            group_name,
            program_name,
            device_name,
            arg_min(op_class, (- coalesce(self_ns, 0), op_class)) as op_class,
            sum(occurrence_count) as launch_count,
            sum_where(known_count, lacking is null) as known_launch_count,
            sum(self_ns) as total_ns,
            sum(known_ns) filter (where lacking is null) as known_ns,
            sum(known_flop) filter (where lacking is null) as known_flop,
            sum(known_bytes) filter (where lacking is null) as known_bytes,
            whole_sum_where(compute_ns, lacking is null) as compute_ns,
            whole_sum_where(bandwidth_ns, lacking is null) as bandwidth_ns,
            coalesce(
                min(lacking), min(case when known_count < occurrence_count then reason end)
            ) as reason,
            one_or_mixed(bytes_basis) as byte_definition,
            sum_where(zero_count, lacking is null) as zero_launch_count,
            sum_where(zero_ns, lacking is null) as zero_ns
        from figures
        group by run_id, group_name, program_name, device_name
    )
select
    points.run_id,
    run_title.title as run_name,
    case
        when $by = 'run'
        then run_title.title
        -- instructions of two programs can have one name
        when count(*) over (partition by points.run_id, group_name, device_name) > 1
        then group_name || ' in ' || coalesce(program_name, 'no program')
        else group_name
    end as name,
    'dram' as level_name,
    cast(launch_count as bigint) as launch_count,
    known_launch_count,
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
    zero_launch_count,
    zero_ns,
    case when $by <> 'run' then op_class end as op_class
from points
join
    (from run_title where $run_id is null or run_id = $run_id) as run_title
    on run_title.run_id = points.run_id
order by
    points.run_id,
    points.total_ns desc nulls last,
    points.known_flop desc nulls last,
    name,
    device_name
