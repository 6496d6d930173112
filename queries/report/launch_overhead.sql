-- purpose = "Whether launching kernels bounds them: N launches of L each, against the time of their work at peak; and the least work not to be bound so."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II and III: overhead-bound, total FLOPs / (N L), peak x L"
-- needs = ["kernel_counter"]
-- depends = ["kernel_bound", "run_group", "group_of", "bound_of"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- by = {type = "VARCHAR", doc = "what a row stands for: name (a kernel), launch, run or label (a value of one)", default = "name", choices = ["name", "launch", "run", "label"]}
-- label = {type = "VARCHAR", doc = "with by=label: which label, e.g. batch", optional = true}
-- launch_overhead_ns = {type = "DOUBLE", doc = "time of one launch; if not given, that of the device", optional = true}
-- [columns]
-- name = {type = "VARCHAR", doc = "kernel, or run or value of the label; (all) in the row of all"}
-- launch_count = {type = "BIGINT", doc = "N: launches"}
-- bound_kind = {type = "VARCHAR", doc = "overhead, bandwidth or compute; NULL where a time is not known"}
-- per_launch_ns = {type = "DOUBLE", doc = "L: time of one launch"}
-- overhead_ns = {type = "DOUBLE", doc = "N x L"}
-- compute_ns = {type = "DOUBLE", doc = "time of the operations at peak"}
-- bandwidth_ns = {type = "DOUBLE", doc = "time of the traffic of device memory at peak"}
-- total_ns = {type = "BIGINT", doc = "time measured: sum of the durations"}
-- overhead_ceiling_flop_per_s = {type = "DOUBLE", doc = "operations / (N x L): the rate that launching alone allows"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "operations / compute_ns: the peak of this mix of precisions"}
-- least_flop = {type = "DOUBLE", doc = "peak x L: operations a launch needs not to be overhead-bound"}
-- total_flop = {type = "DOUBLE", doc = "operations, FP16 packed"}
-- total_bytes = {type = "DOUBLE", doc = "bytes to and from device memory"}
-- reason = {type = "VARCHAR", doc = "why bound_kind is NULL"}
-- is_total = {type = "BOOLEAN", doc = "the row of all of them"}
WITH
chosen AS (
    SELECT
        *,
        CASE WHEN $by = 'launch' THEN event_id END AS launch_event
    FROM kernel_bound
    WHERE
        ($run_id IS NULL OR run_id = $run_id)
        AND CASE WHEN $by = 'label' AND $label IS NULL THEN error('by=label needs label=NAME') ELSE true END
),
parts AS (
    SELECT
        run_id, source_id, device_id, name, launch_event,
        sum(launch_count) AS launch_count,
        CASE WHEN bool_and(overhead_ns IS NOT NULL) THEN sum(overhead_ns) END AS overhead_ns,
        CASE WHEN bool_and(compute_ns IS NOT NULL) THEN sum(compute_ns) END AS compute_ns,
        CASE WHEN bool_and(dram_ns IS NOT NULL) THEN sum(dram_ns) END AS bandwidth_ns,
        sum(dur_ns) AS total_ns,
        CASE WHEN bool_and(total_packed_flop IS NOT NULL) THEN CAST(sum(total_packed_flop) AS DOUBLE) END
            AS total_flop,
        CASE WHEN bool_and(dram_bytes IS NOT NULL) THEN CAST(sum(dram_bytes) AS DOUBLE) END AS total_bytes,
        arg_max(bound_reason, coalesce(dur_ns, 0)) AS reason,
        max(coalesce(dur_ns, 0)) FILTER (WHERE bound_reason IS NOT NULL) AS reason_ns
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
grouped AS (
    SELECT
        group_name, owner_id, launch_event,
        grouping(group_name) = 1 AS is_total,
        CAST(sum(launch_count) AS BIGINT) AS launch_count,
        coalesce(
            CAST($launch_overhead_ns AS DOUBLE) * sum(launch_count),
            CASE WHEN bool_and(overhead_ns IS NOT NULL) THEN sum(overhead_ns) END
        ) AS overhead_ns,
        CASE WHEN bool_and(compute_ns IS NOT NULL) THEN sum(compute_ns) END AS compute_ns,
        CASE WHEN bool_and(bandwidth_ns IS NOT NULL) THEN sum(bandwidth_ns) END AS bandwidth_ns,
        CAST(sum(total_ns) AS BIGINT) AS total_ns,
        CASE WHEN bool_and(total_flop IS NOT NULL) THEN sum(total_flop) END AS total_flop,
        CASE WHEN bool_and(total_bytes IS NOT NULL) THEN sum(total_bytes) END AS total_bytes,
        arg_max(reason, reason_ns) AS bound_reason,
        any_value(group_number) AS group_number
    FROM titled
    GROUP BY GROUPING SETS ((group_name, owner_id, launch_event), ())
)
SELECT
    CASE WHEN is_total THEN '(all)' ELSE group_name END AS name, launch_count,
    CASE WHEN overhead_ns IS NOT NULL THEN bound_of(compute_ns, bandwidth_ns, overhead_ns) END AS bound_kind,
    ratio(overhead_ns, launch_count) AS per_launch_ns,
    overhead_ns, compute_ns, bandwidth_ns, total_ns,
    ratio(total_flop * 1e9, overhead_ns) AS overhead_ceiling_flop_per_s,
    ratio(total_flop * 1e9, compute_ns) AS peak_flop_per_s,
    ratio(total_flop, compute_ns) * ratio(overhead_ns, launch_count) AS least_flop,
    total_flop, total_bytes,
    CASE
        WHEN compute_ns IS NULL OR bandwidth_ns IS NULL THEN bound_reason
        WHEN overhead_ns IS NULL THEN 'launch overhead of this device not known; give launch_overhead_ns'
    END AS reason,
    is_total
FROM grouped
WHERE NOT is_total OR launch_count IS NOT NULL
ORDER BY is_total DESC, group_number, total_ns DESC NULLS LAST, name, owner_id, launch_event
