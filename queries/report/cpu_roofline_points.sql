-- purpose = "Points of a processor roofline: operations, traffic and time per node, and the time
-- of both at peak."
-- source = "Javed 2019, sect. 2.2 and 4 (Fig. 5, 6, 8)"
-- needs = ["measurement"]
-- depends = ["cpu_group", "first_reason", "whole_sum_where", "sum_where"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all runs", optional = true}
-- by = {type = "VARCHAR", doc = "what a point is: run, name (measured program), launch
-- (measurement), interval or scope; class and phase: the run", default = "run", choices = ["run",
-- "name", "launch", "class", "phase", "interval", "scope"]}
-- level = {type = "VARCHAR", doc = "memory level; only dram is counted", default = "dram",
-- choices = ["all", "dram", "l2", "l1"]}
-- timed = {type = "BOOLEAN", doc = "only points with known elapsed time; operations and bytes
-- need none", default = true}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- run_name = {type = "VARCHAR", doc = "its name"}
-- name = {type = "VARCHAR", doc = "run, measured program, end of the interval, or scope"}
-- level_name = {type = "VARCHAR", doc = "dram"}
-- launch_count = {type = "BIGINT", doc = "files and measurements"}
-- known_launch_count = {type = "BIGINT", doc = "those the point is of"}
-- total_ns = {type = "BIGINT", doc = "elapsed time of all nodes"}
-- known_ns = {type = "BIGINT", doc = "of those the point is of"}
-- known_flop = {type = "DOUBLE", doc = "operations of all nodes"}
-- known_bytes = {type = "DOUBLE", doc = "bytes of all nodes"}
-- compute_ns = {type = "DOUBLE", doc = "time of the operations at the peak of their precision and
-- width; NULL if a peak is unknown"}
-- bandwidth_ns = {type = "DOUBLE", doc = "time of the bytes at peak; NULL if unknown"}
-- launch_ns = {type = "DOUBLE", doc = "NULL: processors launch no kernels"}
-- reason = {type = "VARCHAR", doc = "why the point is unknown"}
-- byte_definition = {type = "VARCHAR", doc = "NULL: DRAM has one level"}
-- device_name = {type = "VARCHAR", doc = "processor; NULL if unknown"}
-- source_id = {type = "VARCHAR", doc = "for a measurement, interval or scope: source"}
-- event_id = {type = "BIGINT", doc = "position of a measurement in the source, or number of an
-- interval"}
-- zero_launch_count = {type = "BIGINT", doc = "known measurements without operations"}
-- zero_ns = {type = "BIGINT", doc = "their time"}
with
    parts as (
        select
            *,
            case
                when $by = 'launch' then part_index when $by = 'interval' then slot_index
            end as place,
            case
                when $by in ('run', 'class', 'phase')
                then title
                when $by = 'scope'
                then coalesce(slot_name, target_name, file_name)
                when $by = 'interval'
                then format('{:g} s', end_ns * 1e-9)
                else coalesce(target_name, file_name)
            end as part_name,
            case
                when $level not in ('all', 'dram')
                then 'bytes of ' || upper($level) || ' are not counted on processors'
                when total_flop is null
                then flop_reason
                when dram_bytes is null
                then 'dram: ' || bytes_reason
                when $timed and node_ns is null
                then 'duration: ' || time_reason
                when $timed and node_ns = 0
                then 'duration of zero'
            end as reason
        from
            cpu_group(
                $run_id,
                case
                    $by
                    when 'interval'
                    then 'interval'
                    when 'scope'
                    then 'scope'
                    when 'name'
                    then 'measurement'
                    when 'launch'
                    then 'measurement'
                    else 'run'
                end,
                'fp32'
            )
    )
select
    run_id,
    any_value(title) as run_name,
    part_name as name,
    'dram' as level_name,
    count(*) as launch_count,
    count(*) filter (where reason is null) as known_launch_count,
    cast(sum(node_ns) as bigint) as total_ns,
    cast(sum(node_ns) filter (where reason is null) as bigint) as known_ns,
    sum(total_flop) filter (where reason is null) as known_flop,
    sum(dram_bytes) filter (where reason is null) as known_bytes,
    whole_sum_where(compute_ns, reason is null) as compute_ns,
    whole_sum_where(bandwidth_ns, reason is null) as bandwidth_ns,
    cast(null as double) as launch_ns,
    first_reason(reason, 'measurements') as reason,
    cast(null as varchar) as byte_definition,
    device_name,
    case when $by in ('launch', 'interval', 'scope') then owner_id end as source_id,
    place as event_id,
    count(*) filter (where reason is null and total_flop = 0) as zero_launch_count,
    sum_where(node_ns, reason is null and total_flop = 0) as zero_ns
from parts
group by run_id, part_name, device_name, source_id, place
order by run_id, source_id, place, total_ns desc nulls last, name, device_name
