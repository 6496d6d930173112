-- purpose = "Longest kernels with utilization below the average."
-- source = "Zhu 2018 (TBD), Tables V and VI, eq. 2"
-- topic = "kernels"
-- needs = ["kernel_counter"]
-- depends = ["kernel_group"]
-- parameters = "run_id-all phase-counted by label ceiling-launches fp16_convention latency_below
-- top"
-- top = {default = 5}
-- columns = "share_ratio-kernels utilization_ratio name-group bound_kind-launches roof_ratio
-- total_ns speedup_bound ceiling_name-mixed launch_count total_flop average_ratio
-- known_time_ratio peak_flop_per_s-mean peak_source reason fp16_convention"
-- reason = "why no kernel is listed"
-- answer = "share_ratio utilization_ratio total_ns"
-- roof_ratio = "time at peak / time for the nearest roof, including memory"
-- speedup_bound = "DOUBLE: 1 / utilization_ratio: maximum speedup if bound only by that peak"
-- total_flop = "operations of that ceiling's kind"
-- average_ratio = "utilization over all kernels; rows are below it"
with
    groups as materialized(
        from
            kernel_group(
                $run_id,
                $phase,
                $by,
                $label,
                $fp16_convention,
                $ceiling,
                'dram',
                null,
                $latency_below
            )
    ),
    listed as (
        from groups
        where is_below_average
        order by total_ns desc, group_name, owner_id, launch_event
        limit $top
    ),
    why_none as (
        select
            case
                when count(utilization_ratio) = 0
                then
                    'no utilization is known: '
                    || arg_min(reason, (- coalesce(total_ns, 0), reason))
                when count(utilization_ratio) = 1
                then 'the utilization of only one is known: none is below the average'
                else
                    'none is below the average: all '
                    || count(utilization_ratio)
                    || ' with a known utilization have the same'
            end as reason
        from groups
        having count(*) > 0 and not coalesce(bool_or(is_below_average), false)
    )
select
    share_ratio,
    utilization_ratio,
    group_name as name,
    bound_kind,
    roof_ratio,
    total_ns,
    ratio(1, utilization_ratio) as speedup_bound,
    ceiling_name,
    launch_count,
    work_flop as total_flop,
    average_ratio,
    known_time_ratio,
    peak_flop_per_s,
    peak_source,
    why_none.reason,
    cast($fp16_convention as varchar) as fp16_convention
from listed
full join why_none on false
order by total_ns desc nulls last, name, owner_id, launch_event
