-- purpose = "The points of a roofline: operations, traffic and time of each group of launches at each level of memory, and the time both would take at peak."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II; Javed 2019, sect. 2.2"
-- needs = ["kernel_counter"]
-- depends = ["work_under", "run_group", "operator_class", "phase_of", "busy_what"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- by = {type = "VARCHAR", doc = "what a point stands for: name (a kernel), launch, class (of operators), phase (forward, backward) or run", default = "name", choices = ["name", "launch", "class", "phase", "run"]}
-- level = {type = "VARCHAR", doc = "level of memory; all: one row per level", default = "dram", choices = ["all", "dram", "l2", "l1"]}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic: FP16 instructions that are work, not moves or conversions, each two operations; packed: all of them (the vendor); scalar: all, each one operation (Wang Y. 2020)", default = "arithmetic", choices = ["arithmetic", "packed", "scalar"]}
-- timed = {type = "BOOLEAN", doc = "only of launches whose duration is known; operations and bytes need none", default = true}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- run_name = {type = "VARCHAR", doc = "its name"}
-- name = {type = "VARCHAR", doc = "kernel, class, phase or run"}
-- level_name = {type = "VARCHAR", doc = "dram, l2 or l1"}
-- launch_count = {type = "BIGINT", doc = "launches"}
-- known_launch_count = {type = "BIGINT", doc = "launches of which operations, bytes and (if timed) time are known: those the point is of"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations"}
-- known_ns = {type = "BIGINT", doc = "of the launches the point is of; NULL unless all durations are known"}
-- known_flop = {type = "DOUBLE", doc = "their operations"}
-- known_bytes = {type = "DOUBLE", doc = "their bytes at that level"}
-- compute_ns = {type = "DOUBLE", doc = "their operations at the peak of each precision; NULL where a peak is not known"}
-- bandwidth_ns = {type = "DOUBLE", doc = "their bytes at the peak of that level; NULL where it is not known"}
-- memory_ns = {type = "DOUBLE", doc = "the longest of the times of their bytes at peak, over all levels"}
-- busy_name = {type = "VARCHAR", doc = "memory throughput or compute throughput, where the report itself says that it is busy; else NULL"}
-- launch_ns = {type = "DOUBLE", doc = "time of one launch; NULL where it is not known"}
-- reason = {type = "VARCHAR", doc = "why launches are left out; that of the longest of them"}
-- byte_definition = {type = "VARCHAR", doc = "paper or vendor: which bytes of L2 and L1 these are"}
-- device_name = {type = "VARCHAR", doc = "device; a group on several has a row for each; NULL if unknown"}
-- source_id = {type = "VARCHAR", doc = "with by=launch: source"}
-- event_id = {type = "BIGINT", doc = "with by=launch: place in the source"}
-- zero_launch_count = {type = "BIGINT", doc = "of the known launches those that did no operation"}
-- zero_ns = {type = "BIGINT", doc = "their durations"}
WITH
-- worked out once, as the expressions of work are long
chosen AS MATERIALIZED (
    SELECT
        *,
        CASE WHEN $by = 'launch' THEN event_id END AS launch_event
    FROM work_under('fp32', $fp16_convention)
    WHERE $run_id IS NULL OR run_id = $run_id
),
levels AS (
    SELECT
        run_id, source_id, device_id, device_name, name, launch_event, launch_count, dur_ns,
        all_flop, total_reason, dur_reason, compute_ns, overhead_ns, dram_ns, l2_ns, l1_ns,
        compute_throughput_ratio, memory_throughput_ratio,
        unnest(list_filter([
            {
                'level_name': 'dram', 'traffic_bytes': dram_bytes, 'traffic_ns': dram_ns,
                'traffic_reason': dram_reason, 'definition': NULL
            },
            {
                'level_name': 'l2', 'traffic_bytes': coalesce(l2_paper_bytes, l2_vendor_bytes), 'traffic_ns': l2_ns,
                'traffic_reason': l2_reason, 'definition': CASE WHEN l2_paper_bytes IS NOT NULL THEN 'paper' WHEN l2_vendor_bytes IS NOT NULL THEN 'vendor' END
            },
            {
                'level_name': 'l1', 'traffic_bytes': coalesce(l1_paper_bytes, l1_vendor_bytes), 'traffic_ns': l1_ns,
                'traffic_reason': l1_reason, 'definition': CASE WHEN l1_paper_bytes IS NOT NULL THEN 'paper' WHEN l1_vendor_bytes IS NOT NULL THEN 'vendor' END
            }
        ], lambda place: $level IN ('all', place.level_name)), recursive := true)
    FROM chosen
),
explained AS (
    SELECT
        *,
        CASE
            WHEN all_flop IS NULL THEN total_reason
            WHEN traffic_bytes IS NULL THEN level_name || ': ' || coalesce(traffic_reason, 'not_collected')
            WHEN $timed AND dur_ns IS NULL THEN 'duration: ' || dur_reason
            WHEN $timed AND dur_ns = 0 THEN 'duration of zero'
        END AS reason
    FROM levels
),
parts AS (
    SELECT
        run_id, source_id, device_id, name, launch_event, level_name,
        any_value(device_name) AS device_name,
        sum(launch_count) AS launch_count,
        sum(dur_ns) AS total_ns,
        sum(launch_count) FILTER (WHERE reason IS NULL) AS known_launch_count,
        sum(dur_ns) FILTER (WHERE reason IS NULL) AS known_ns,
        bool_or(dur_ns IS NULL) FILTER (WHERE reason IS NULL) AS lacks_time,
        CAST(sum(all_flop) FILTER (WHERE reason IS NULL) AS DOUBLE) AS known_flop,
        CAST(sum(traffic_bytes) FILTER (WHERE reason IS NULL) AS DOUBLE) AS known_bytes,
        sum(launch_count) FILTER (WHERE reason IS NULL AND all_flop = 0) AS zero_launch_count,
        sum(dur_ns) FILTER (WHERE reason IS NULL AND all_flop = 0) AS zero_ns,
        sum(compute_ns) FILTER (WHERE reason IS NULL) AS compute_ns,
        bool_or(compute_ns IS NULL) FILTER (WHERE reason IS NULL) AS lacks_compute,
        sum(traffic_ns) FILTER (WHERE reason IS NULL) AS traffic_ns,
        bool_or(traffic_ns IS NULL) FILTER (WHERE reason IS NULL) AS lacks_traffic,
        sum(dram_ns) FILTER (WHERE reason IS NULL) AS dram_ns,
        bool_or(dram_ns IS NULL) FILTER (WHERE reason IS NULL) AS lacks_dram,
        sum(l2_ns) FILTER (WHERE reason IS NULL) AS l2_ns,
        bool_or(l2_ns IS NULL) FILTER (WHERE reason IS NULL) AS lacks_l2,
        sum(l1_ns) FILTER (WHERE reason IS NULL) AS l1_ns,
        bool_or(l1_ns IS NULL) FILTER (WHERE reason IS NULL) AS lacks_l1,
        sum(overhead_ns) FILTER (WHERE reason IS NULL) AS overhead_ns,
        bool_or(overhead_ns IS NULL) FILTER (WHERE reason IS NULL) AS lacks_overhead,
        sum(compute_throughput_ratio * dur_ns) FILTER (WHERE reason IS NULL) AS compute_throughput_sum,
        sum(dur_ns) FILTER (WHERE reason IS NULL AND compute_throughput_ratio IS NOT NULL) AS compute_throughput_ns,
        sum(memory_throughput_ratio * dur_ns) FILTER (WHERE reason IS NULL) AS memory_throughput_sum,
        sum(dur_ns) FILTER (WHERE reason IS NULL AND memory_throughput_ratio IS NOT NULL) AS memory_throughput_ns,
        arg_max(reason, coalesce(dur_ns, 0)) AS reason,
        max(coalesce(dur_ns, 0)) FILTER (WHERE reason IS NOT NULL) AS reason_ns,
        min(definition) AS least_definition,
        max(definition) AS most_definition
    FROM explained
    GROUP BY run_id, source_id, device_id, name, launch_event, level_name
),
titled AS (
    SELECT
        parts.*,
        run_group.title,
        CASE $by
            WHEN 'class' THEN operator_class(parts.name)
            WHEN 'phase' THEN coalesce(phase_of(parts.name), run_group.label_value, 'unknown')
            WHEN 'run' THEN run_group.title
            ELSE parts.name
        END AS group_name,
        CASE WHEN $by = 'launch' THEN parts.source_id END AS launch_source
    FROM parts
    JOIN run_group($run_id, CASE $by WHEN 'phase' THEN 'label' END, 'phase') AS run_group ON run_group.run_id = parts.run_id
)
SELECT
    run_id,
    any_value(title) AS run_name,
    group_name AS name,
    level_name,
    CAST(sum(launch_count) AS BIGINT) AS launch_count,
    CAST(coalesce(sum(known_launch_count), 0) AS BIGINT) AS known_launch_count,
    CAST(sum(total_ns) AS BIGINT) AS total_ns,
    CAST(CASE WHEN NOT bool_or(lacks_time) THEN sum(known_ns) END AS BIGINT) AS known_ns,
    sum(known_flop) AS known_flop,
    sum(known_bytes) AS known_bytes,
    CASE WHEN NOT bool_or(lacks_compute) THEN sum(compute_ns) END AS compute_ns,
    CASE WHEN NOT bool_or(lacks_traffic) THEN sum(traffic_ns) END AS bandwidth_ns,
    greatest(
        CASE WHEN NOT bool_or(lacks_dram) THEN sum(dram_ns) END,
        CASE WHEN NOT bool_or(lacks_l2) THEN sum(l2_ns) END,
        CASE WHEN NOT bool_or(lacks_l1) THEN sum(l1_ns) END
    ) AS memory_ns,
    busy_what(
        ratio(sum(compute_throughput_sum), sum(compute_throughput_ns)), ratio(sum(memory_throughput_sum), sum(memory_throughput_ns)), 0.6
    ) AS busy_name,
    CASE WHEN NOT bool_or(lacks_overhead) THEN ratio(sum(overhead_ns), sum(known_launch_count)) END AS launch_ns,
    arg_max(reason, reason_ns) AS reason,
    CASE
        WHEN min(least_definition) = max(most_definition) THEN min(least_definition)
        WHEN min(least_definition) IS NOT NULL THEN 'mixed'
    END AS byte_definition,
    device_name,
    launch_source AS source_id,
    launch_event AS event_id,
    CAST(coalesce(sum(zero_launch_count), 0) AS BIGINT) AS zero_launch_count,
    CAST(coalesce(sum(zero_ns), 0) AS BIGINT) AS zero_ns
FROM titled
GROUP BY run_id, group_name, device_name, launch_source, launch_event, level_name
ORDER BY run_id, total_ns DESC NULLS LAST, known_flop DESC NULLS LAST, name, device_name, source_id, event_id, list_position(['dram', 'l2', 'l1'], level_name)
