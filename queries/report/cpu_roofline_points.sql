-- purpose = "Points of a processor roofline: operations, traffic and time per node, and the time
-- of both at peak."
-- source = "Javed 2019, sect. 2.2 and 4 (Fig. 5, 6, 8)"
-- topic = "rooflines"
-- needs = ["measurement"]
-- depends = ["cpu_group", "first_reason", "whole_sum_where", "sum_where"]
-- parameters = "run_id-all by level timed"
-- by = {doc = "what a point is: run, name (measured program), launch (measurement), interval or
-- scope; class and phase: the run", default = "run", choices = ["run", "name", "launch", "class",
-- "phase", "interval", "scope"]}
-- columns = "run_id run_name name level_name-dram launch_count known_launch_count total_ns
-- known_ns known_flop known_bytes compute_ns-width bandwidth_ns launch_ns reason byte_definition
-- device_name-cpu source_id event_id zero_launch_count zero_ns"
-- name = "run, measured program, end of the interval, or scope"
-- launch_count = "files and measurements"
-- total_ns = "elapsed time of all nodes"
-- launch_ns = "DOUBLE: NULL: processors launch no kernels"
-- byte_definition = "VARCHAR: NULL: DRAM has one level"
-- source_id = "for a measurement, interval or scope: source"
-- event_id = "position of a measurement in the source, or number of an interval"
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
