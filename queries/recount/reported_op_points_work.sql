-- purpose = "Points of operators of a profiler's table have the operations and bytes of its rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "reported_op_roofline_points"
-- keys = ["name"]
-- needs = ["op_stat"]
-- upon = "worked_op"
-- is_partial = true
select
    name,
    $run_id as run_id,
    (select any_value(run_name) from run where run_id = $run_id) as run_name,
    'dram' as level_name,
    sum(coalesce(occurrence_count, 1)) as known_launch_count,
    sum(dur_ns) as known_ns,
    sum(flop) as known_flop,
    sum(bytes) as known_bytes,
    if(count(distinct basis) = 1, min(basis), 'mixed') as byte_definition,
    sum(if(flop = 0, coalesce(occurrence_count, 1), 0)) as zero_launch_count,
    sum(if(flop = 0, dur_ns, 0)) as zero_ns
from worked_op
where side_kind = 'device'
group by name
having
    bool_and(is_plain and flop is not null and bytes is not null and dur_ns > 0)
    and count(distinct program_name) <= 1
    and (select count(distinct device_id) from worked_op) <= 1
    and (select count(distinct source_id) from worked_op) = 1
