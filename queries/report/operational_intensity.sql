-- purpose = "Operational intensity at each memory level, with achieved rates: the points of a
-- roofline."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II and III; Javed 2019, sect. 3"
-- needs = ["kernel_counter"]
-- depends = ["work_under", "run_group", "group_of"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all runs", optional = true}
-- by = {type = "VARCHAR", doc = "what a row is: name (a kernel), launch, run or label (one of its
-- values)", default = "name", choices = ["name", "launch", "run", "label"]}
-- label = {type = "VARCHAR", doc = "label for by=label, e.g. batch", optional = true}
-- level = {type = "VARCHAR", doc = "memory level; all: levels with traffic, and dram", default =
-- "all", choices = ["all", "dram", "l2", "l1"]}
-- precision = {type = "VARCHAR", doc = "operations of one precision", default = "all", choices =
-- ["all", "fp64", "fp32", "fp16", "tensor"]}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic: FP16 instructions except moves and
-- conversions, two operations each; packed: all of them, two operations each (the vendor's rule);
-- scalar: all of them, one operation each (Wang Y. 2020)", default = "arithmetic", choices =
-- ["arithmetic", "packed", "scalar"]}
-- byte_definition = {type = "VARCHAR", doc = "bytes of L2 and L1 as in the papers or as the
-- vendor counts them; any: the first collected", default = "any", choices = ["any", "paper",
-- "vendor"]}
-- [columns]
-- name = {type = "VARCHAR", doc = "kernel, run or label value"}
-- level_name = {type = "VARCHAR", doc = "dram, l2 or l1"}
-- intensity_flop_per_byte = {type = "DOUBLE", doc = "operations / bytes, over launches with both
-- known"}
-- achieved_flop_per_s = {type = "DOUBLE", doc = "operations / time, over launches with both known"}
-- achieved_bytes_per_s = {type = "DOUBLE", doc = "bytes / time, over launches with both known"}
-- total_flop = {type = "DOUBLE", doc = "operations"}
-- total_bytes = {type = "DOUBLE", doc = "bytes at that level"}
-- launch_count = {type = "BIGINT", doc = "launches"}
-- known_launch_count = {type = "BIGINT", doc = "launches with known operations and bytes"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations"}
-- reason = {type = "VARCHAR", doc = "why launches have no intensity, for the longest of them"}
-- precision_name = {type = "VARCHAR", doc = "which operations"}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic, packed or scalar"}
-- other_flop = {type = "DOUBLE", doc = "total of the other FP16 convention: packed for
-- arithmetic, arithmetic for packed and scalar"}
-- byte_definition = {type = "VARCHAR", doc = "definition of the bytes: paper or vendor"}
-- launch_index = {type = "BIGINT", doc = "for by=launch: the profiler's own number"}
-- event_id = {type = "BIGINT", doc = "for by=launch: position in the source"}
with
    chosen as (
        select
            *,
            case when $by = 'launch' then event_id end as launch_event,
            case
                $precision
                when 'fp64'
                then fp64_flop
                when 'fp32'
                then fp32_flop
                when 'fp16'
                then fp16_flop
                when 'tensor'
                then tensor_flop
                else all_flop
            end as part_flop,
            case
                $precision
                when 'all'
                then other_flop
                when 'fp16'
                then other_fp16_flop
                else part_flop
            end as other_part_flop,
            case
                $precision
                when 'fp64'
                then fp64_reason
                when 'fp32'
                then fp32_reason
                when 'fp16'
                then fp16_reason
                when 'tensor'
                then tensor_reason
                else total_reason
            end as part_reason,
            case
                when
                    $byte_definition = 'vendor'
                    or (
                        $byte_definition = 'any'
                        and l2_paper_bytes is null
                        and l2_vendor_bytes is not null
                    )
                then 'vendor'
                else 'paper'
            end as l2_definition,
            case
                when
                    $byte_definition = 'vendor'
                    or (
                        $byte_definition = 'any'
                        and l1_paper_bytes is null
                        and l1_vendor_bytes is not null
                    )
                then 'vendor'
                else 'paper'
            end as l1_definition
        from work_under('fp32', $fp16_convention)
        where
            ($run_id is null or run_id = $run_id)
            and case
                when $by = 'label' and $label is null
                then error('by=label needs label=NAME')
                else true
            end
    ),
    levels as (
        select
            run_id,
            source_id,
            device_id,
            name,
            launch_event,
            launch_count,
            launch_index,
            dur_ns,
            part_flop,
            part_reason,
            other_part_flop,
            'dram' as level_name,
            cast(null as varchar) as definition,
            dram_bytes as traffic_bytes,
            dram_reason as traffic_reason
        from chosen
        where $level in ('all', 'dram')
        union all
        select
            run_id,
            source_id,
            device_id,
            name,
            launch_event,
            launch_count,
            launch_index,
            dur_ns,
            part_flop,
            part_reason,
            other_part_flop,
            'l2',
            l2_definition,
            case l2_definition when 'paper' then l2_paper_bytes else l2_vendor_bytes end,
            l2_reason
        from chosen
        where $level in ('all', 'l2')
        union all
        select
            run_id,
            source_id,
            device_id,
            name,
            launch_event,
            launch_count,
            launch_index,
            dur_ns,
            part_flop,
            part_reason,
            other_part_flop,
            'l1',
            l1_definition,
            case l1_definition when 'paper' then l1_paper_bytes else l1_vendor_bytes end,
            l1_reason
        from chosen
        where $level in ('all', 'l1')
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
    parts as (
        select
            run_id,
            source_id,
            device_id,
            name,
            launch_event,
            level_name,
            sum(launch_count) as launch_count,
            sum(launch_count) filter (where reason is null) as known_launch_count,
            sum(dur_ns) as total_ns,
            cast(sum(part_flop) as double) as total_flop,
            cast(sum(other_part_flop) as double) as other_flop,
            cast(sum(traffic_bytes) as double) as total_bytes,
            cast(sum(part_flop) filter (where reason is null) as double) as known_flop,
            cast(sum(traffic_bytes) filter (where reason is null) as double) as known_bytes,
            cast(sum(part_flop) filter (where dur_ns > 0) as double) as timed_flop,
            sum(dur_ns) filter (where dur_ns > 0 and part_flop is not null) as flop_ns,
            cast(sum(traffic_bytes) filter (where dur_ns > 0) as double) as timed_bytes,
            sum(dur_ns) filter (where dur_ns > 0 and traffic_bytes is not null) as bytes_ns,
            arg_max(reason, coalesce(dur_ns, 0)) as reason,
            max(coalesce(dur_ns, 0)) filter (where reason is not null) as reason_ns,
            case
                when min(definition) = max(definition)
                then min(definition)
                when min(definition) is not null
                then 'mixed'
            end as definition,
            any_value(launch_index) as launch_index
        from explained
        group by run_id, source_id, device_id, name, launch_event, level_name
    ),
    titled as (
        select
            parts.*,
            group_of($by, parts.name, run_group.title, run_group.label_value) as group_name,
            run_group.label_number as group_number,
            -- two runs, or launches of two sources, can have one name
            case $by when 'launch' then parts.source_id when 'run' then parts.run_id end as owner_id
        from parts
        join run_group($run_id, $by, $label) as run_group on run_group.run_id = parts.run_id
    ),
    grouped as (
        select
            group_name,
            owner_id,
            launch_event,
            level_name,
            cast(sum(launch_count) as bigint) as launch_count,
            cast(coalesce(sum(known_launch_count), 0) as bigint) as known_launch_count,
            cast(sum(total_ns) as bigint) as total_ns,
            sum(total_flop) as total_flop,
            sum(other_flop) as other_flop,
            sum(total_bytes) as total_bytes,
            ratio(sum(known_flop), sum(known_bytes)) as intensity_flop_per_byte,
            ratio(sum(timed_flop) * 1e9, sum(flop_ns)) as achieved_flop_per_s,
            ratio(sum(timed_bytes) * 1e9, sum(bytes_ns)) as achieved_bytes_per_s,
            arg_max(reason, reason_ns) as reason,
            case
                when min(definition) = max(definition)
                then min(definition)
                when min(definition) is not null
                then 'mixed'
            end as definition,
            case when $by = 'launch' then any_value(launch_index) end as launch_index,
            any_value(group_number) as group_number
        from titled
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
