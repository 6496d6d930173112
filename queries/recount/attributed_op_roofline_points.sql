-- purpose = "Points of operators are the work and times of their calls, and the times at peak."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "attributed_op_roofline_points"
-- keys = ["name"]
-- options.provenance = ["best", "modelled"]
-- options.by = ["op", "layer"]
-- options.level = ["dram", "all", "l2"]
-- needs = ["attribution", "op_call"]
-- upon = "op_roof"
-- is_partial = true
-- skips_unknown = true
with
    works as (
        select
            op_time.* replace (
                if($by = 'op', op_time.name, coalesce(op_time.module_path, '(no module)')) as name,
                if($by = 'op', call_count, coalesce(call_count, 1)) as call_count
            ),
            -- unknown where it is not known which peak the work has
            if(flop + bytes is null or $level = 'l2', false, not is_impossible) as is_known,
            compute_ns,
            memory_ns,
            -- whole numbers are no floating-point work, unless tensor cores have a peak for them
            coalesce(is_undecided, false)
            or coalesce(
                flop > 0 and regexp_matches(precision_name, '^u?int|bool'), false
            ) as is_undecided
        from op_time
        left join
            (
                select
                    source_id,
                    unit_id,
                    compute_ns,
                    memory_ns,
                    is_undecided,
                    -- above a peak
                    (flop > 0 and unit_name is not null and flop_peak is null)
                    or (bytes > 0 and byte_peak is null) as is_impossible
                from op_roof
            ) as roof
            on roof.source_id = op_time.source_id
            and roof.unit_id is not distinct from op_time.unit_id
        where has_kernels and (op_time.name is not null or $by <> 'op') and total_ns is not null
    )
select
    name,
    sum(call_count) as launch_count,
    'dram' as level_name,
    'modelled' as byte_definition,
    if(
        count(is_known) = count(*), sum(if(is_known and flop = 0, call_count, 0)), null
    ) as zero_launch_count,
    if(count(is_known) = count(*), sum(if(is_known and flop = 0, total_ns, 0)), null) as zero_ns,
    if(count(is_known) = count(*), sum(if(is_known, call_count, 0)), null) as known_launch_count,
    sum(total_ns) as total_ns,
    if(count(is_known) = count(*), sum(if(is_known, total_ns, null)), null) as known_ns,
    if(count(is_known) = count(*), sum(if(is_known, flop, null)), null) as known_flop,
    if(count(is_known) = count(*), sum(if(is_known, bytes, null)), null) as known_bytes,
    if(count(is_known) = count(*), sum(if(is_known, compute_ns, null)), null) as compute_ns,
    if(count(is_known) = count(*), sum(if(is_known, memory_ns, null)), null) as bandwidth_ns
from works
where not exists (from kernel_match where run_id = $run_id)
group by name
having not bool_or(is_undecided)
