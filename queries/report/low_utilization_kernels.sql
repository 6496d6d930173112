-- purpose = "The kernels that take the longest of those whose utilization is below the average: where the device is wasted."
-- source = "Zhu 2018 (TBD), Tables V and VI, eq. 2"
-- needs = ["kernel_counter"]
-- depends = ["work_under", "run_group", "group_of", "device_ceiling"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- by = {type = "VARCHAR", doc = "what a row stands for: name (a kernel), launch, run or label (a value of one)", default = "name", choices = ["name", "launch", "run", "label"]}
-- label = {type = "VARCHAR", doc = "with by=label: which label, e.g. batch", optional = true}
-- ceiling = {type = "VARCHAR", doc = "the peak that utilization is against", default = "fp32", choices = ["fp32", "fp64", "fp16", "tensor_fp64", "tensor_tf32", "tensor_bf16", "tensor_fp16", "tensor_fp8", "tensor_fp4"]}
-- fp16_convention = {type = "VARCHAR", doc = "packed: an FP16 instruction is two operations (the vendor); scalar: one (Wang Y. 2020)", default = "packed", choices = ["packed", "scalar"]}
-- top = {type = "BIGINT", doc = "how many", default = 5}
-- [columns]
-- share_ratio = {type = "DOUBLE", doc = "total_ns / time of all kernels"}
-- utilization_ratio = {type = "DOUBLE", doc = "operations / (peak x time), of the launches where both are known"}
-- name = {type = "VARCHAR", doc = "kernel, or run or value of the label"}
-- launch_count = {type = "BIGINT", doc = "launches"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations"}
-- total_flop = {type = "DOUBLE", doc = "operations of that ceiling's kind"}
-- average_ratio = {type = "DOUBLE", doc = "utilization over all kernels: what the rows are below"}
-- speedup_bound = {type = "DOUBLE", doc = "1 / utilization: how much faster it can get at most"}
-- known_time_ratio = {type = "DOUBLE", doc = "share of the time for which utilization is known"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "the peak, mean over the time"}
-- ceiling_name = {type = "VARCHAR", doc = "which peak"}
-- peak_source = {type = "VARCHAR", doc = "where it comes from"}
-- fp16_convention = {type = "VARCHAR", doc = "packed or scalar"}
WITH
chosen AS (
    SELECT
        *,
        CASE WHEN $by = 'launch' THEN event_id END AS launch_event
    FROM work_under($ceiling, $fp16_convention)
    WHERE
        ($run_id IS NULL OR run_id = $run_id)
        AND CASE WHEN $by = 'label' AND $label IS NULL THEN error('by=label needs label=NAME') ELSE true END
),
parts AS (
    SELECT
        run_id, source_id, device_id, name, launch_event,
        sum(launch_count) AS launch_count,
        sum(dur_ns) AS total_ns,
        CAST(sum(work_flop) AS DOUBLE) AS total_flop,
        sum(dur_ns) FILTER (WHERE work_flop IS NOT NULL AND peak IS NOT NULL AND dur_ns > 0) AS known_ns,
        CAST(sum(work_flop) FILTER (WHERE peak IS NOT NULL AND dur_ns > 0) AS DOUBLE) AS known_flop,
        sum(dur_ns * peak) FILTER (WHERE work_flop IS NOT NULL AND dur_ns > 0) AS roof
    FROM chosen
    GROUP BY run_id, source_id, device_id, name, launch_event
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
sourced AS (
    SELECT
        titled.*,
        CASE
            WHEN device_ceiling.value IS NOT NULL THEN device_ceiling.source_text
            WHEN titled.roof IS NOT NULL THEN 'the report: peak_sustained x clock'
        END AS peak_source
    FROM titled
    LEFT JOIN device_ceiling
        ON device_ceiling.run_id = titled.run_id
        AND device_ceiling.source_id = titled.source_id
        AND device_ceiling.device_id IS NOT DISTINCT FROM titled.device_id
        AND device_ceiling.ceiling_kind = 'compute'
        AND device_ceiling.ceiling_name = $ceiling
        AND ($run_id IS NULL OR device_ceiling.run_id = $run_id)
),
grouped AS (
    SELECT
        group_name, owner_id, launch_event,
        CAST(sum(launch_count) AS BIGINT) AS launch_count,
        CAST(sum(total_ns) AS BIGINT) AS total_ns,
        sum(total_flop) AS total_flop,
        sum(known_ns) AS known_ns,
        sum(known_flop) AS known_flop,
        sum(roof) AS roof,
        arg_max(peak_source, coalesce(total_ns, 0)) AS peak_source
    FROM sourced
    GROUP BY group_name, owner_id, launch_event
),
compared AS (
    SELECT
        *,
        ratio(known_flop * 1e9, roof) AS utilization_ratio,
        ratio(sum(known_flop) OVER () * 1e9, sum(roof) OVER ()) AS average_ratio,
        ratio(total_ns, sum(total_ns) OVER ()) AS share_ratio
    FROM grouped
)
SELECT
    share_ratio, utilization_ratio, group_name AS name, launch_count, total_ns, total_flop,
    average_ratio, ratio(1, utilization_ratio) AS speedup_bound,
    ratio(known_ns, total_ns) AS known_time_ratio,
    ratio(roof, known_ns) AS peak_flop_per_s,
    CAST($ceiling AS VARCHAR) AS ceiling_name, peak_source,
    CAST($fp16_convention AS VARCHAR) AS fp16_convention
FROM compared
WHERE utilization_ratio < average_ratio * (1 - 1e-12) -- not by rounding alone
ORDER BY total_ns DESC, name, owner_id, launch_event
LIMIT $top
