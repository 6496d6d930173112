-- purpose = "Points of a roofline: operations, traffic and time of each group of launches at each
-- memory level, and the time of both at peak."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II; Javed 2019, sect. 2.2"
-- topic = "rooflines"
-- needs = ["kernel_counter"]
-- depends = ["work_under", "step_launch", "run_group", "operator_class", "phase_of", "busy_what",
-- "level_traffic", "usual_latency_ratio", "whole_sum_where", "one_or_mixed", "sum_where"]
-- parameters = "run_id-all phase-counted by level fp16_convention timed"
-- by = {doc = "what a point is: name (a kernel), launch, class (of operators), phase (forward,
-- backward) or run", choices = ["name", "launch", "class", "phase", "run"]}
-- level = "memory level; all: one row per level"
-- timed = "only launches with known duration; operations and bytes need none"
-- columns = "run_id run_name name level_name launch_count known_launch_count total_ns known_ns
-- known_flop known_bytes compute_ns-precision bandwidth_ns memory_ns busy_name launch_ns
-- reason-points byte_definition device_name source_id event_id-launch zero_launch_count zero_ns"
-- name = "kernel, class, phase or run"
-- known_launch_count = "launches of the point: operations, bytes and (if timed) time are known"
-- known_ns = "sum of the durations of these launches; NULL unless all are known"
-- known_bytes = "bytes at that level"
-- bandwidth_ns = "time of the bytes at the peak of that level; NULL if unknown"
-- memory_ns = "DOUBLE: longest time of the bytes at peak, over all levels"
-- busy_name = "VARCHAR: memory throughput or compute throughput, if the report says that it is
-- busy; else NULL"
-- launch_ns = "DOUBLE: time of one launch; NULL if unknown"
-- byte_definition = "VARCHAR: definition of L2 and L1 bytes: paper or vendor"
-- device_name = "device, with one row per device for a group on several; NULL if unknown"
with
    -- worked out once, as the expressions of work are long
    chosen as materialized(
        select *, case when $by = 'launch' then event_id end as launch_event
        from work_under('fp32', $fp16_convention)
        where
            ($run_id is null or run_id = $run_id)
            and (
                $phase = 'all'
                or (run_id, source_id, event_id)
                in (select (run_id, source_id, event_id) from step_launch($run_id, $phase))
            )
    ),
    levels as (
        select
            *,
            unnest(
                level_traffic(
                    $level,
                    'any',
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
                when all_flop is null
                then total_reason
                when traffic_bytes is null
                then level_name || ': ' || coalesce(traffic_reason, 'not_collected')
                when $timed and dur_ns is null
                then 'duration: ' || dur_reason
                when $timed and dur_ns = 0
                then 'duration of zero'
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
            any_value(device_name) as device_name,
            sum(launch_count) as launch_count,
            sum(dur_ns) as total_ns,
            sum(launch_count) filter (where reason is null) as known_launch_count,
            whole_sum_where(dur_ns, reason is null) as known_ns,
            cast(sum(all_flop) filter (where reason is null) as double) as known_flop,
            cast(sum(traffic_bytes) filter (where reason is null) as double) as known_bytes,
            sum(launch_count) filter (where reason is null and all_flop = 0) as zero_launch_count,
            sum(dur_ns) filter (where reason is null and all_flop = 0) as zero_ns,
            whole_sum_where(
                columns('^(compute|traffic|dram|l2|l1|overhead)_ns$'), reason is null
            ) as "\0",
            sum(compute_throughput_ratio * dur_ns) filter (
                where reason is null
            ) as compute_throughput_sum,
            sum(dur_ns) filter (
                where reason is null and compute_throughput_ratio is not null
            ) as compute_throughput_ns,
            sum(memory_throughput_ratio * dur_ns) filter (
                where reason is null
            ) as memory_throughput_sum,
            sum(dur_ns) filter (
                where reason is null and memory_throughput_ratio is not null
            ) as memory_throughput_ns,
            arg_min(reason, (- coalesce(dur_ns, 0), reason)) as reason,
            max(coalesce(dur_ns, 0)) filter (where reason is not null) as reason_ns,
            one_or_mixed(definition) as definition
        from explained
        group by run_id, source_id, device_id, name, launch_event, level_name
    ),
    titled as (
        select
            parts.*,
            run_group.title,
            case
                $by
                when 'class'
                then operator_class(parts.name)
                when 'phase'
                then coalesce(phase_of(parts.name), run_group.label_value, 'unknown')
                when 'run'
                then run_group.title
                else parts.name
            end as group_name,
            case when $by = 'launch' then parts.source_id end as launch_source
        from parts
        join
            run_group($run_id, case $by when 'phase' then 'label' end, 'phase') as run_group
            on run_group.run_id = parts.run_id
    )
select
    run_id,
    any_value(title) as run_name,
    group_name as name,
    level_name,
    cast(sum(launch_count) as bigint) as launch_count,
    cast(coalesce(sum(known_launch_count), 0) as bigint) as known_launch_count,
    cast(sum(total_ns) as bigint) as total_ns,
    cast(whole_sum_where(known_ns, known_launch_count > 0) as bigint) as known_ns,
    sum(known_flop) as known_flop,
    sum(known_bytes) as known_bytes,
    whole_sum_where(compute_ns, known_launch_count > 0) as compute_ns,
    whole_sum_where(traffic_ns, known_launch_count > 0) as bandwidth_ns,
    greatest(
        whole_sum_where(dram_ns, known_launch_count > 0),
        whole_sum_where(l2_ns, known_launch_count > 0),
        whole_sum_where(l1_ns, known_launch_count > 0)
    ) as memory_ns,
    busy_what(
        ratio(sum(compute_throughput_sum), sum(compute_throughput_ns)),
        ratio(sum(memory_throughput_sum), sum(memory_throughput_ns)),
        usual_latency_ratio()
    ) as busy_name,
    ratio(
        whole_sum_where(overhead_ns, known_launch_count > 0), sum(known_launch_count)
    ) as launch_ns,
    arg_min(reason, (- reason_ns, reason)) as reason,
    one_or_mixed(definition) as byte_definition,
    device_name,
    launch_source as source_id,
    launch_event as event_id,
    cast(coalesce(sum(zero_launch_count), 0) as bigint) as zero_launch_count,
    sum_where(zero_ns, zero_launch_count > 0) as zero_ns
from titled
group by run_id, group_name, device_name, launch_source, launch_event, level_name
order by
    run_id,
    total_ns desc nulls last,
    known_flop desc nulls last,
    name,
    device_name,
    source_id,
    event_id,
    list_position(['dram', 'l2', 'l1'], level_name)
