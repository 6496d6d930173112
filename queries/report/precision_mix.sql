-- purpose = "Which precision the work is of: share of the operations, and of the time of the kernels that are mostly of it."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. IV: use of tensor cores; Javed 2019, sect. 5"
-- needs = ["kernel_counter"]
-- depends = ["work_under", "run_group", "group_of"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- by = {type = "VARCHAR", doc = "what a row stands for: name (a kernel), launch, run or label (a value of one)", default = "run", choices = ["name", "launch", "run", "label"]}
-- label = {type = "VARCHAR", doc = "with by=label: which label, e.g. batch", optional = true}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic: FP16 instructions that are work, not moves or conversions, each two operations; packed: all of them (the vendor); scalar: all, each one operation (Wang Y. 2020)", default = "arithmetic", choices = ["arithmetic", "packed", "scalar"]}
-- [columns]
-- name = {type = "VARCHAR", doc = "run, kernel or value of the label"}
-- precision_name = {type = "VARCHAR", doc = "fp64, fp32, fp16, tensor; none (measured zero) or unknown (not every precision was counted)"}
-- total_flop = {type = "DOUBLE", doc = "operations of it that were counted"}
-- flop_share_ratio = {type = "DOUBLE", doc = "share of all operations; NULL where not every launch counted every precision"}
-- launch_count = {type = "BIGINT", doc = "launches that are mostly of it"}
-- total_ns = {type = "BIGINT", doc = "their time"}
-- time_share_ratio = {type = "DOUBLE", doc = "share of the time of all launches with counters"}
-- other_flop = {type = "DOUBLE", doc = "what the other convention gives: packed beside arithmetic, arithmetic beside packed and scalar"}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic, packed or scalar"}
WITH
chosen AS (
    SELECT
        *,
        CASE WHEN $by = 'launch' THEN event_id END AS launch_event,
        CASE
            WHEN all_flop IS NULL THEN 'unknown'
            WHEN all_flop = 0 THEN 'none'
            WHEN tensor_flop = greatest(tensor_flop, fp64_flop, fp32_flop, fp16_flop) THEN 'tensor'
            WHEN fp64_flop = greatest(fp64_flop, fp32_flop, fp16_flop) THEN 'fp64'
            WHEN fp32_flop = greatest(fp32_flop, fp16_flop) THEN 'fp32'
            ELSE 'fp16'
        END AS main_precision
    FROM work_under('fp32', $fp16_convention)
    WHERE
        ($run_id IS NULL OR run_id = $run_id)
        AND CASE WHEN $by = 'label' AND $label IS NULL THEN error('by=label needs label=NAME') ELSE true END
),
parts AS (
    SELECT
        run_id, source_id, device_id, name, launch_event, main_precision,
        sum(launch_count) AS launch_count,
        sum(dur_ns) AS total_ns,
        CAST(sum(fp64_flop) AS DOUBLE) AS fp64_flop,
        CAST(sum(fp32_flop) AS DOUBLE) AS fp32_flop,
        CAST(sum(fp16_flop) AS DOUBLE) AS fp16_flop,
        CAST(sum(tensor_flop) AS DOUBLE) AS tensor_flop,
        CAST(sum(other_fp16_flop) AS DOUBLE) AS other_fp16_flop,
        CASE WHEN bool_and(all_flop IS NOT NULL) THEN CAST(sum(all_flop) AS DOUBLE) END AS all_flop
    FROM chosen
    GROUP BY run_id, source_id, device_id, name, launch_event, main_precision
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
kinds AS (
    SELECT
        *,
        unnest(['fp64', 'fp32', 'fp16', 'tensor', 'none', 'unknown']) AS precision_name,
        unnest([fp64_flop, fp32_flop, fp16_flop, tensor_flop, NULL, NULL]) AS part_flop,
        unnest([fp64_flop, fp32_flop, other_fp16_flop, tensor_flop, NULL, NULL]) AS other_part_flop
    FROM titled
),
grouped AS (
    SELECT
        group_name, owner_id, launch_event, precision_name,
        sum(part_flop) AS total_flop,
        sum(other_part_flop) AS other_flop,
        CASE WHEN bool_and(all_flop IS NOT NULL) THEN sum(all_flop) END AS all_flop,
        CAST(coalesce(sum(launch_count) FILTER (WHERE precision_name = main_precision), 0) AS BIGINT) AS launch_count,
        CAST(
            CASE WHEN bool_or(precision_name = main_precision) THEN sum(total_ns) FILTER (WHERE precision_name = main_precision) ELSE 0 END
            AS BIGINT
        ) AS total_ns,
        sum(total_ns) AS all_ns,
        any_value(group_number) AS group_number
    FROM kinds
    GROUP BY group_name, owner_id, launch_event, precision_name
)
SELECT
    group_name AS name, precision_name, total_flop,
    ratio(total_flop, all_flop) AS flop_share_ratio,
    launch_count, total_ns, ratio(total_ns, all_ns) AS time_share_ratio, other_flop,
    CAST($fp16_convention AS VARCHAR) AS fp16_convention
FROM grouped
WHERE total_flop > 0 OR other_flop > 0 OR launch_count > 0
ORDER BY
    group_number, all_ns DESC NULLS LAST, name, owner_id, launch_event,
    list_position(['fp64', 'fp32', 'fp16', 'tensor', 'none', 'unknown'], precision_name)
