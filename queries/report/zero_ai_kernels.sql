-- purpose = "Kernels without floating-point work: measured to have none, or not known to have any and why; with their share of launches, time and traffic."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II and IV: zero-AI kernels"
-- needs = ["kernel_counter"]
-- depends = ["kernel_work", "run_group", "group_of"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- by = {type = "VARCHAR", doc = "what a row stands for: name (a kernel), launch, run or label (a value of one)", default = "name", choices = ["name", "launch", "run", "label"]}
-- label = {type = "VARCHAR", doc = "with by=label: which label, e.g. batch", optional = true}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic: FP16 instructions that are work, not moves or conversions, each two operations; packed: all of them (the vendor); scalar: all, each one operation (Wang Y. 2020)", default = "arithmetic", choices = ["arithmetic", "packed", "scalar"]}
-- [columns]
-- name = {type = "VARCHAR", doc = "kernel, or run or value of the label"}
-- zero_ai_kind = {type = "VARCHAR", doc = "measured_zero; integer (tensor operations on integers and no others); moves or conversions: FP16 instructions alone, that are no work; else not known: not_collected, not_available (on this device), no_value (the launch failed), or named_copy (by its function a copy or integer kernel)"}
-- is_zero_ai = {type = "BOOLEAN", doc = "true where measured; NULL where not known"}
-- launch_count = {type = "BIGINT", doc = "launches"}
-- launch_share_ratio = {type = "DOUBLE", doc = "share of all launches with counters"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations"}
-- time_share_ratio = {type = "DOUBLE", doc = "share of the time of all launches with counters"}
-- fp16_flop = {type = "DOUBLE", doc = "FP16 operations of moves and conversions, which the packed convention counts"}
-- dram_bytes = {type = "DOUBLE", doc = "bytes to and from device memory"}
-- reason = {type = "VARCHAR", doc = "why nobody knows"}
-- missing_metrics = {type = "VARCHAR", doc = "what the profiler's --metrics has to name beside, to know"}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic, packed or scalar: by the latter two moves and conversions are operations"}
-- launch_index = {type = "BIGINT", doc = "with by=launch: the profiler's own number"}
-- event_id = {type = "BIGINT", doc = "with by=launch: place in the source"}
WITH
-- worked out once, as the expressions of work are long
chosen AS MATERIALIZED (
    SELECT
        *,
        CASE WHEN $by = 'launch' THEN event_id END AS launch_event,
        CASE WHEN $fp16_convention = 'arithmetic' THEN total_arithmetic_flop ELSE total_packed_flop END AS all_flop,
        CASE
            WHEN all_flop > 0 OR known_flop > 0 THEN 'has_work'
            WHEN all_flop = 0 AND tensor_int_flop > 0 THEN 'integer'
            WHEN all_flop = 0 THEN coalesce(fp16_kind, 'measured_zero')
            WHEN regexp_matches(kernel_function(name), '(?i)memcpy|memset|copy|transpose|permute|gather|scatter|concat|index|sort|scan|hash|fill')
            THEN 'named_copy'
            WHEN total_reason LIKE '%not_available' THEN 'not_available'
            WHEN total_reason LIKE '%nan' THEN 'no_value'
            ELSE 'not_collected'
        END AS zero_ai_kind
    FROM kernel_work
    WHERE
        ($run_id IS NULL OR run_id = $run_id)
        AND CASE WHEN $by = 'label' AND $label IS NULL THEN error('by=label needs label=NAME') ELSE true END
),
parts AS (
    SELECT
        run_id, source_id, device_id, name, launch_event, zero_ai_kind,
        sum(launch_count) AS launch_count,
        sum(dur_ns) AS total_ns,
        CAST(sum(fp16_packed_flop) AS DOUBLE) AS fp16_flop,
        CAST(sum(dram_bytes) AS DOUBLE) AS dram_bytes,
        arg_max(missing_metrics, coalesce(dur_ns, 0)) AS missing_metrics,
        arg_max(total_reason, coalesce(dur_ns, 0)) AS reason,
        max(coalesce(dur_ns, 0)) FILTER (WHERE total_reason IS NOT NULL) AS reason_ns,
        any_value(launch_index) AS launch_index
    FROM chosen
    GROUP BY run_id, source_id, device_id, name, launch_event, zero_ai_kind
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
        group_name, owner_id, launch_event, zero_ai_kind,
        CAST(sum(launch_count) AS BIGINT) AS launch_count,
        CAST(sum(total_ns) AS BIGINT) AS total_ns,
        sum(fp16_flop) AS fp16_flop,
        sum(dram_bytes) AS dram_bytes,
        arg_max(missing_metrics, reason_ns) AS missing_metrics,
        arg_max(reason, reason_ns) AS reason,
        CASE WHEN $by = 'launch' THEN any_value(launch_index) END AS launch_index,
        any_value(group_number) AS group_number
    FROM titled
    GROUP BY group_name, owner_id, launch_event, zero_ai_kind
),
shared AS (
    SELECT
        *,
        ratio(launch_count, sum(launch_count) OVER ()) AS launch_share_ratio,
        ratio(total_ns, sum(total_ns) OVER ()) AS time_share_ratio
    FROM grouped
)
SELECT
    group_name AS name, zero_ai_kind,
    CASE WHEN zero_ai_kind IN ('measured_zero', 'integer', 'moves', 'conversions') THEN true END AS is_zero_ai,
    launch_count, launch_share_ratio, total_ns, time_share_ratio, fp16_flop, dram_bytes,
    reason, missing_metrics, CAST($fp16_convention AS VARCHAR) AS fp16_convention,
    launch_index, launch_event AS event_id
FROM shared
WHERE zero_ai_kind <> 'has_work'
ORDER BY
    group_number, total_ns DESC NULLS LAST, launch_count DESC, name, zero_ai_kind, owner_id,
    launch_event
