-- purpose = "Points of operators are the work and times of their calls, and the times at peak."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "attributed_op_roofline_points"
-- keys = ["name"]
-- needs = ["attribution", "op_call"]
-- upon = "op_roof"
-- is_partial = true
-- skips_unknown = true
with
    works as (
        select
            op_time.*,
            -- no peak is for operations on whole numbers
            flop + bytes is not null
            and not (
                flop > 0 and regexp_matches(coalesce(precision_name, ''), '^u?int|bool')
            ) as is_known,
            compute_ns,
            memory_ns,
            coalesce(is_undecided, false) as is_undecided
        from op_time
        left join
            (select source_id, unit_id, compute_ns, memory_ns, is_undecided from op_roof) as roof
            on roof.source_id = op_time.source_id
            and roof.unit_id is not distinct from op_time.unit_id
        where has_kernels and name is not null and total_ns is not null
    )
select
    name,
    sum(call_count) as launch_count,
    sum(if(is_known, call_count, 0)) as known_launch_count,
    sum(total_ns) as total_ns,
    sum(if(is_known, total_ns, null)) as known_ns,
    sum(if(is_known, flop, null)) as known_flop,
    sum(if(is_known, bytes, null)) as known_bytes,
    sum(if(is_known, compute_ns, null)) as compute_ns,
    sum(if(is_known, memory_ns, null)) as bandwidth_ns
from works
where not exists (from kernel_match where run_id = $run_id)
group by name
having not bool_or(is_undecided)
