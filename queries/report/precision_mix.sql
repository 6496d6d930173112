-- purpose = "Precision of the work: share of the operations, and of the time of kernels that
-- mostly use it."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. IV: use of tensor cores; Javed 2019, sect. 5"
-- needs = ["kernel_counter"]
-- depends = ["grouped_launch", "whole_sum", "sum_where"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all runs", optional = true}
-- by = {type = "VARCHAR", doc = "what a row is: name (a kernel), launch, run or label (one of its
-- values)", default = "run", choices = ["name", "launch", "run", "label"]}
-- label = {type = "VARCHAR", doc = "label for by=label, e.g. batch", optional = true}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic: FP16 instructions except moves and
-- conversions, two operations each; packed: all of them, two operations each (the vendor's rule);
-- scalar: all of them, one operation each (Wang Y. 2020)", default = "arithmetic", choices =
-- ["arithmetic", "packed", "scalar"]}
-- [columns]
-- name = {type = "VARCHAR", doc = "run, kernel or label value"}
-- precision_name = {type = "VARCHAR", doc = "fp64, fp32, fp16, tensor; none (measured zero) or
-- unknown (some precisions not counted)"}
-- total_flop = {type = "DOUBLE", doc = "counted operations"}
-- flop_share_ratio = {type = "DOUBLE", doc = "share of all operations; NULL unless every
-- precision was counted for every launch"}
-- launch_count = {type = "BIGINT", doc = "launches that mostly use it"}
-- total_ns = {type = "BIGINT", doc = "their time"}
-- time_share_ratio = {type = "DOUBLE", doc = "share of the time of all launches with counters"}
-- other_flop = {type = "DOUBLE", doc = "total of the other FP16 convention: packed for
-- arithmetic, arithmetic for packed and scalar"}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic, packed or scalar"}
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
        from grouped_launch($run_id, $by, $label, 'fp32', $fp16_convention)
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
            cast(
                case
                    when bool_or(precision_name = main_precision)
                    then sum(total_ns) filter (where precision_name = main_precision)
                    else 0
                end as bigint
            ) as total_ns,
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
