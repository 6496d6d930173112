-- purpose = "Operational intensity at each memory level, with achieved rates: the points of a
-- roofline."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II and III; Javed 2019, sect. 3"
-- topic = "kernels"
-- needs = ["kernel_counter"]
-- depends = ["grouped_launch", "level_traffic", "one_or_mixed", "sum_where"]
-- parameters = "run_id-all phase-counted by label level precision fp16_convention
-- byte_definition-wanted"
-- level = {doc = "memory level; all: levels with traffic, and dram", default = "all"}
-- precision = {type = "VARCHAR", doc = "operations of one precision", default = "all", choices =
-- ["all", "fp64", "fp32", "fp16", "tensor"]}
-- byte_definition-wanted = {type = "VARCHAR", doc = "bytes of L2 and L1 as in the papers or as
-- the vendor counts them; any: the first collected", default = "any", choices = ["any", "paper",
-- "vendor"]}
-- columns = "name-group level_name intensity_flop_per_byte-known achieved_flop_per_s
-- achieved_bytes_per_s total_flop-row total_bytes-level launch_count known_launch_count total_ns
-- reason precision_name fp16_convention other_flop byte_definition launch_index-launch
-- event_id-launch"
-- answer = "intensity_flop_per_byte achieved_flop_per_s total_ns"
-- known_launch_count = "launches with known operations and bytes"
-- reason = "why launches have no intensity, for the longest of them"
-- precision_name = "precision of the operations"
-- byte_definition = "VARCHAR: definition of the bytes: paper or vendor"
with
    chosen as (
        select
            *,
            map{
                'fp64':fp64_flop,
                'fp32':fp32_flop,
                'fp16':fp16_flop,
                'tensor':tensor_flop,
                'all':all_flop
            }[$precision] as part_flop,
            case
                $precision
                when 'all'
                then other_flop
                when 'fp16'
                then other_fp16_flop
                else part_flop
            end as other_part_flop,
            map{
                'fp64':fp64_reason,
                'fp32':fp32_reason,
                'fp16':fp16_reason,
                'tensor':tensor_reason,
                'all':total_reason
            }[$precision] as part_reason
        from grouped_launch($run_id, $phase, $by, $label, 'fp32', $fp16_convention)
    ),
    levels as (
        select
            *,
            unnest(
                level_traffic(
                    $level,
                    $byte_definition,
                    dram_bytes,
                    dram_ns,
                    dram_reason,
                    l2_paper_bytes,
                    l2_vendor_bytes,
                    l2_ns,
                    l2_reason,
                    l1_paper_bytes,
                    l1_vendor_bytes,
                    l1_ns,
                    l1_reason
                ),
                recursive := true
            )
        from chosen
    ),
    explained as (
        select
            *,
            case
                when part_flop is null
                then part_reason
                when traffic_bytes is null
                then level_name || ': ' || coalesce(traffic_reason, 'not_collected')
                when traffic_bytes = 0
                then level_name || ': no bytes'
            end as reason
        from levels
    ),
    grouped as (
        select
            group_name,
            owner_id,
            launch_event,
            level_name,
            cast(sum(launch_count) as bigint) as launch_count,
            sum_where(launch_count, reason is null) as known_launch_count,
            cast(sum(dur_ns) as bigint) as total_ns,
            cast(sum(part_flop) as double) as total_flop,
            cast(sum(other_part_flop) as double) as other_flop,
            cast(sum(traffic_bytes) as double) as total_bytes,
            ratio(
                sum(part_flop) filter (where reason is null),
                sum(traffic_bytes) filter (where reason is null)
            ) as intensity_flop_per_byte,
            ratio(
                sum(part_flop) filter (where dur_ns > 0) * 1e9,
                sum(dur_ns) filter (where part_flop is not null)
            ) as achieved_flop_per_s,
            ratio(
                sum(traffic_bytes) filter (where dur_ns > 0) * 1e9,
                sum(dur_ns) filter (where traffic_bytes is not null)
            ) as achieved_bytes_per_s,
            coalesce(
                arg_min(reason, (- coalesce(dur_ns, 0), reason)),
                case when sum(dur_ns) is null then 'duration unknown' end
            ) as reason,
            -- of what was not counted, the bytes that were looked for first
            one_or_mixed(
                case when level_name <> 'dram' then coalesce(definition, 'paper') end
            ) as definition,
            case when $by = 'launch' then any_value(launch_index) end as launch_index,
            any_value(group_number) as group_number
        from explained
        group by group_name, owner_id, launch_event, level_name
    ),
    told as (
        select
            *,
            bool_or(total_bytes is not null) over (partition by level_name) as has_traffic,
            max(total_ns) over (partition by group_name, owner_id, launch_event) as rank_ns
        from grouped
    )
select
    group_name as name,
    level_name,
    intensity_flop_per_byte,
    achieved_flop_per_s,
    achieved_bytes_per_s,
    total_flop,
    total_bytes,
    launch_count,
    known_launch_count,
    total_ns,
    reason,
    cast($precision as varchar) as precision_name,
    cast($fp16_convention as varchar) as fp16_convention,
    other_flop,
    definition as byte_definition,
    launch_index,
    launch_event as event_id
from told
where has_traffic or level_name = 'dram' or $level = level_name
order by
    case when $by <> 'label' then rank_ns end desc nulls last,
    group_number,
    name,
    owner_id,
    launch_event,
    list_position(['dram', 'l2', 'l1'], level_name)
