-- purpose = "Precision of the work: share of the operations, and of the time of kernels that
-- mostly use it."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. IV: use of tensor cores; Javed 2019, sect. 5"
-- topic = "kernels"
-- needs = ["kernel_counter"]
-- depends = ["grouped_launch", "whole_sum", "sum_where"]
-- parameters = "run_id-all phase-counted by label fp16_convention"
-- by = {default = "run"}
-- columns = "name-group precision_name total_flop-row flop_share_ratio launch_count
-- total_ns-group time_share_ratio other_flop fp16_convention"
-- time_share_ratio = "DOUBLE: share of the time of all launches with counters"
-- precision_name = "fp64, fp32, fp16, tensor; none (measured zero) or unknown (some precisions
-- not counted)"
-- launch_count = "launches that mostly use it"
with
    chosen as (
        select
            *,
            case
                when all_flop is null
                then 'unknown'
                when all_flop = 0
                then 'none'
                when tensor_flop = greatest(tensor_flop, fp64_flop, fp32_flop, fp16_flop)
                then 'tensor'
                when fp64_flop = greatest(fp64_flop, fp32_flop, fp16_flop)
                then 'fp64'
                when fp32_flop = greatest(fp32_flop, fp16_flop)
                then 'fp32'
                else 'fp16'
            end as main_precision
        from grouped_launch($run_id, $phase, $by, $label, 'fp32', $fp16_convention)
    ),
    parts as (
        select
            group_name,
            owner_id,
            launch_event,
            main_precision,
            any_value(group_number) as group_number,
            sum(launch_count) as launch_count,
            sum(dur_ns) as total_ns,
            cast(sum(fp64_flop) as double) as fp64_flop,
            cast(sum(fp32_flop) as double) as fp32_flop,
            cast(sum(fp16_flop) as double) as fp16_flop,
            cast(sum(tensor_flop) as double) as tensor_flop,
            cast(sum(other_fp16_flop) as double) as other_fp16_flop,
            cast(whole_sum(all_flop) as double) as all_flop
        from chosen
        group by group_name, owner_id, launch_event, main_precision
    ),
    kinds as (
        select
            *,
            unnest(['fp64', 'fp32', 'fp16', 'tensor', 'none', 'unknown']) as precision_name,
            unnest([fp64_flop, fp32_flop, fp16_flop, tensor_flop, null, null]) as part_flop,
            unnest(
                [fp64_flop, fp32_flop, other_fp16_flop, tensor_flop, null, null]
            ) as other_part_flop
        from parts
    ),
    grouped as (
        select
            group_name,
            owner_id,
            launch_event,
            precision_name,
            sum(part_flop) as total_flop,
            sum(other_part_flop) as other_flop,
            whole_sum(all_flop) as all_flop,
            sum_where(launch_count, precision_name = main_precision) as launch_count,
            sum_where(total_ns, precision_name = main_precision) as total_ns,
            sum(total_ns) as all_ns,
            any_value(group_number) as group_number
        from kinds
        group by group_name, owner_id, launch_event, precision_name
    )
select
    group_name as name,
    precision_name,
    total_flop,
    ratio(total_flop, all_flop) as flop_share_ratio,
    launch_count,
    total_ns,
    ratio(total_ns, all_ns) as time_share_ratio,
    other_flop,
    cast($fp16_convention as varchar) as fp16_convention
from grouped
where total_flop > 0 or other_flop > 0 or launch_count > 0
order by
    group_number,
    all_ns desc nulls last,
    name,
    owner_id,
    launch_event,
    list_position(['fp64', 'fp32', 'fp16', 'tensor', 'none', 'unknown'], precision_name)
