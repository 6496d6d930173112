-- purpose = "Points of operators of a profiler's table are the times and executions of its rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "reported_op_roofline_points"
-- keys = ["name"]
-- needs = ["op_stat"]
-- is_partial = true
with
    told as (
        select *
        from op_stat
        where run_id = $run_id and side_kind = 'device'
        qualify
            count(distinct program_name) over (partition by name) <= 1
            and count(distinct op_kind) over () = 1
            and count(distinct device_id) over () <= 1
    )
select
    name,
    sum(coalesce(occurrence_count, 1)) as launch_count,
    sum(coalesce(self_ns, dur_ns)) as total_ns
from told
where (select count(distinct source_id) from told) = 1
group by name
