-- purpose = "Operations per byte at each level of memory, with the rates reached: the points of a roofline."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II and III; Javed 2019, sect. 3"
-- needs = ["kernel_counter"]
-- depends = ["work_under", "run_group", "group_of"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- by = {type = "VARCHAR", doc = "what a row stands for: name (a kernel), launch, run or label (a value of one)", default = "name", choices = ["name", "launch", "run", "label"]}
-- label = {type = "VARCHAR", doc = "with by=label: which label, e.g. batch", optional = true}
-- level = {type = "VARCHAR", doc = "level of memory; all: those with traffic, and dram", default = "all", choices = ["all", "dram", "l2", "l1"]}
-- precision = {type = "VARCHAR", doc = "operations of one precision only", default = "all", choices = ["all", "fp64", "fp32", "fp16", "tensor"]}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic: FP16 instructions that are work, not moves or conversions, each two operations; packed: all of them (the vendor); scalar: all, each one operation (Wang Y. 2020)", default = "arithmetic", choices = ["arithmetic", "packed", "scalar"]}
-- byte_definition = {type = "VARCHAR", doc = "bytes of L2 and L1 as the papers count them or as the vendor does; any: the first that was collected", default = "any", choices = ["any", "paper", "vendor"]}
-- [columns]
-- name = {type = "VARCHAR", doc = "kernel, or run or value of the label"}
-- level_name = {type = "VARCHAR", doc = "dram, l2 or l1"}
-- intensity_flop_per_byte = {type = "DOUBLE", doc = "operations / bytes, of the launches where both are known"}
-- achieved_flop_per_s = {type = "DOUBLE", doc = "operations / time, of the launches where both are known"}
-- achieved_bytes_per_s = {type = "DOUBLE", doc = "bytes / time, of the launches where both are known"}
-- total_flop = {type = "DOUBLE", doc = "operations"}
-- total_bytes = {type = "DOUBLE", doc = "bytes at that level"}
-- launch_count = {type = "BIGINT", doc = "launches"}
-- known_launch_count = {type = "BIGINT", doc = "launches with both operations and bytes"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations"}
-- reason = {type = "VARCHAR", doc = "why launches have no intensity; that of the longest of them"}
-- precision_name = {type = "VARCHAR", doc = "which operations"}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic, packed or scalar"}
-- other_flop = {type = "DOUBLE", doc = "what the other convention gives: packed beside arithmetic, arithmetic beside packed and scalar"}
-- byte_definition = {type = "VARCHAR", doc = "paper or vendor: which bytes these are"}
-- launch_index = {type = "BIGINT", doc = "with by=launch: the profiler's own number"}
-- event_id = {type = "BIGINT", doc = "with by=launch: place in the source"}
WITH
chosen AS (
    SELECT
        *,
        CASE WHEN $by = 'launch' THEN event_id END AS launch_event,
        CASE $precision
            WHEN 'fp64' THEN fp64_flop
            WHEN 'fp32' THEN fp32_flop
            WHEN 'fp16' THEN fp16_flop
            WHEN 'tensor' THEN tensor_flop
            ELSE all_flop
        END AS part_flop,
        CASE $precision WHEN 'all' THEN other_flop WHEN 'fp16' THEN other_fp16_flop ELSE part_flop END AS other_part_flop,
        CASE $precision
            WHEN 'fp64' THEN fp64_reason
            WHEN 'fp32' THEN fp32_reason
            WHEN 'fp16' THEN fp16_reason
            WHEN 'tensor' THEN tensor_reason
            ELSE total_reason
        END AS part_reason,
        CASE
            WHEN $byte_definition = 'vendor' OR ($byte_definition = 'any' AND l2_paper_bytes IS NULL AND l2_vendor_bytes IS NOT NULL)
            THEN 'vendor' ELSE 'paper'
        END AS l2_definition,
        CASE
            WHEN $byte_definition = 'vendor' OR ($byte_definition = 'any' AND l1_paper_bytes IS NULL AND l1_vendor_bytes IS NOT NULL)
            THEN 'vendor' ELSE 'paper'
        END AS l1_definition
    FROM work_under('fp32', $fp16_convention)
    WHERE
        ($run_id IS NULL OR run_id = $run_id)
        AND CASE WHEN $by = 'label' AND $label IS NULL THEN error('by=label needs label=NAME') ELSE true END
),
levels AS (
    SELECT
        run_id, source_id, device_id, name, launch_event, launch_count, launch_index, dur_ns, part_flop, part_reason, other_part_flop,
        'dram' AS level_name, CAST(NULL AS VARCHAR) AS definition,
        dram_bytes AS traffic_bytes, dram_reason AS traffic_reason
    FROM chosen
    WHERE $level IN ('all', 'dram')
    UNION ALL
    SELECT
        run_id, source_id, device_id, name, launch_event, launch_count, launch_index, dur_ns, part_flop, part_reason, other_part_flop,
        'l2', l2_definition,
        CASE l2_definition WHEN 'paper' THEN l2_paper_bytes ELSE l2_vendor_bytes END, l2_reason
    FROM chosen
    WHERE $level IN ('all', 'l2')
    UNION ALL
    SELECT
        run_id, source_id, device_id, name, launch_event, launch_count, launch_index, dur_ns, part_flop, part_reason, other_part_flop,
        'l1', l1_definition,
        CASE l1_definition WHEN 'paper' THEN l1_paper_bytes ELSE l1_vendor_bytes END, l1_reason
    FROM chosen
    WHERE $level IN ('all', 'l1')
),
explained AS (
    SELECT
        *,
        CASE
            WHEN part_flop IS NULL THEN part_reason
            WHEN traffic_bytes IS NULL THEN level_name || ': ' || coalesce(traffic_reason, 'not_collected')
            WHEN traffic_bytes = 0 THEN level_name || ': no bytes'
        END AS reason
    FROM levels
),
parts AS (
    SELECT
        run_id, source_id, device_id, name, launch_event, level_name,
        sum(launch_count) AS launch_count,
        sum(launch_count) FILTER (WHERE reason IS NULL) AS known_launch_count,
        sum(dur_ns) AS total_ns,
        CAST(sum(part_flop) AS DOUBLE) AS total_flop,
        CAST(sum(other_part_flop) AS DOUBLE) AS other_flop,
        CAST(sum(traffic_bytes) AS DOUBLE) AS total_bytes,
        CAST(sum(part_flop) FILTER (WHERE reason IS NULL) AS DOUBLE) AS known_flop,
        CAST(sum(traffic_bytes) FILTER (WHERE reason IS NULL) AS DOUBLE) AS known_bytes,
        CAST(sum(part_flop) FILTER (WHERE dur_ns > 0) AS DOUBLE) AS timed_flop,
        sum(dur_ns) FILTER (WHERE dur_ns > 0 AND part_flop IS NOT NULL) AS flop_ns,
        CAST(sum(traffic_bytes) FILTER (WHERE dur_ns > 0) AS DOUBLE) AS timed_bytes,
        sum(dur_ns) FILTER (WHERE dur_ns > 0 AND traffic_bytes IS NOT NULL) AS bytes_ns,
        arg_max(reason, coalesce(dur_ns, 0)) AS reason,
        max(coalesce(dur_ns, 0)) FILTER (WHERE reason IS NOT NULL) AS reason_ns,
        CASE WHEN min(definition) = max(definition) THEN min(definition) WHEN min(definition) IS NOT NULL THEN 'mixed' END
            AS definition,
        any_value(launch_index) AS launch_index
    FROM explained
    GROUP BY run_id, source_id, device_id, name, launch_event, level_name
),
titled AS (
    SELECT
        parts.*,
        group_of($by, parts.name, run_group.title, run_group.label_value) AS group_name,
        run_group.label_number AS group_number,
        -- two runs, or launches of two sources, can have one name
        CASE $by WHEN 'launch' THEN parts.source_id WHEN 'run' THEN parts.run_id END AS owner_id
    FROM parts
    JOIN run_group($run_id, $by, $label) AS run_group ON run_group.run_id = parts.run_id
),
grouped AS (
    SELECT
        group_name, owner_id, launch_event, level_name,
        CAST(sum(launch_count) AS BIGINT) AS launch_count,
        CAST(coalesce(sum(known_launch_count), 0) AS BIGINT) AS known_launch_count,
        CAST(sum(total_ns) AS BIGINT) AS total_ns,
        sum(total_flop) AS total_flop,
        sum(other_flop) AS other_flop,
        sum(total_bytes) AS total_bytes,
        ratio(sum(known_flop), sum(known_bytes)) AS intensity_flop_per_byte,
        ratio(sum(timed_flop) * 1e9, sum(flop_ns)) AS achieved_flop_per_s,
        ratio(sum(timed_bytes) * 1e9, sum(bytes_ns)) AS achieved_bytes_per_s,
        arg_max(reason, reason_ns) AS reason,
        CASE WHEN min(definition) = max(definition) THEN min(definition) WHEN min(definition) IS NOT NULL THEN 'mixed' END
            AS definition,
        CASE WHEN $by = 'launch' THEN any_value(launch_index) END AS launch_index,
        any_value(group_number) AS group_number
    FROM titled
    GROUP BY group_name, owner_id, launch_event, level_name
),
told AS (
    SELECT
        *,
        bool_or(total_bytes IS NOT NULL) OVER (PARTITION BY level_name) AS has_traffic,
        max(total_ns) OVER (PARTITION BY group_name, owner_id, launch_event) AS rank_ns
    FROM grouped
)
SELECT
    group_name AS name, level_name, intensity_flop_per_byte, achieved_flop_per_s,
    achieved_bytes_per_s, total_flop, total_bytes, launch_count, known_launch_count, total_ns,
    reason, CAST($precision AS VARCHAR) AS precision_name,
    CAST($fp16_convention AS VARCHAR) AS fp16_convention, other_flop, definition AS byte_definition,
    launch_index, launch_event AS event_id
FROM told
WHERE has_traffic OR level_name = 'dram' OR $level = level_name
ORDER BY
    CASE WHEN $by <> 'label' THEN rank_ns END DESC NULLS LAST, group_number, name, owner_id,
    launch_event, list_position(['dram', 'l2', 'l1'], level_name)
