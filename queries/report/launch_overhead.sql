-- purpose = "Whether launching kernels bounds them: N launches of L each, against the time of their work at peak; and the least work not to be bound so."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II and III: overhead-bound, total FLOPs / (N L), peak x L"
-- needs = ["kernel_counter"]
-- depends = ["work_under", "run_group", "group_of", "bound_of", "longest_of", "nearest_of", "near_what", "whole_sum"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- by = {type = "VARCHAR", doc = "what a row stands for: name (a kernel), launch, run or label (a value of one)", default = "name", choices = ["name", "launch", "run", "label"]}
-- label = {type = "VARCHAR", doc = "with by=label: which label, e.g. batch", optional = true}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic: FP16 instructions that are work, not moves or conversions, each two operations; packed: all of them (the vendor); scalar: all, each one operation (Wang Y. 2020)", default = "arithmetic", choices = ["arithmetic", "packed", "scalar"]}
-- latency_below = {type = "DOUBLE", doc = "below this share of every roof it is latency that bounds", default = 0.6}
-- launch_overhead_ns = {type = "DOUBLE", doc = "time of one launch; if not given, that of the device", optional = true}
-- [columns]
-- name = {type = "VARCHAR", doc = "kernel, or run or value of the label; (all) in the row of all"}
-- launch_count = {type = "BIGINT", doc = "N: launches"}
-- bound_kind = {type = "VARCHAR", doc = "overhead, latency (far from every roof), bandwidth or compute; NULL where a time is not known"}
-- per_launch_ns = {type = "DOUBLE", doc = "L: time of one launch"}
-- overhead_ns = {type = "DOUBLE", doc = "N x L"}
-- compute_ns = {type = "DOUBLE", doc = "time of the operations at peak"}
-- bandwidth_ns = {type = "DOUBLE", doc = "time of the traffic of device memory at peak"}
-- total_ns = {type = "BIGINT", doc = "time measured: sum of the durations"}
-- overhead_ceiling_flop_per_s = {type = "DOUBLE", doc = "operations / (N x L): the rate that launching alone allows"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "operations / compute_ns: the peak of this mix of precisions"}
-- least_flop = {type = "DOUBLE", doc = "peak x L: operations a launch needs not to be overhead-bound"}
-- total_flop = {type = "DOUBLE", doc = "operations, FP16 by its convention"}
-- total_bytes = {type = "DOUBLE", doc = "bytes to and from device memory"}
-- reason = {type = "VARCHAR", doc = "why bound_kind is NULL"}
-- nearest_name = {type = "VARCHAR", doc = "the resource whose time at peak is longest: compute, dram, l2 or l1; where that is far, memory throughput or compute throughput if the report itself says that it is busy"}
-- roof_ratio = {type = "DOUBLE", doc = "that time / total_ns; NULL unless every duration is known"}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic, packed or scalar"}
-- is_total = {type = "BOOLEAN", doc = "the row of all of them"}
WITH
-- worked out once, as the expressions of work are long
chosen AS MATERIALIZED (
    SELECT
        *,
        CASE WHEN $by = 'launch' THEN event_id END AS launch_event
    FROM work_under('fp32', $fp16_convention)
    WHERE
        ($run_id IS NULL OR run_id = $run_id)
        AND CASE WHEN $by = 'label' AND $label IS NULL THEN error('by=label needs label=NAME') ELSE true END
),
parts AS (
    SELECT
        run_id, source_id, device_id, name, launch_event,
        sum(launch_count) AS launch_count,
        whole_sum(overhead_ns) AS overhead_ns,
        whole_sum(compute_ns) AS compute_ns,
        whole_sum(dram_ns) AS bandwidth_ns,
        whole_sum(l2_ns) AS l2_ns,
        whole_sum(l1_ns) AS l1_ns,
        sum(compute_throughput_ratio * dur_ns) AS compute_throughput_sum,
        sum(dur_ns) FILTER (WHERE compute_throughput_ratio IS NOT NULL) AS compute_throughput_ns,
        sum(memory_throughput_ratio * dur_ns) AS memory_throughput_sum,
        sum(dur_ns) FILTER (WHERE memory_throughput_ratio IS NOT NULL) AS memory_throughput_ns,
        sum(dur_ns) AS total_ns,
        bool_and(dur_ns IS NOT NULL) AS is_timed,
        CAST(whole_sum(all_flop) AS DOUBLE) AS total_flop,
        CAST(whole_sum(dram_bytes) AS DOUBLE) AS total_bytes,
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
            whole_sum(overhead_ns)
        ) AS overhead_ns,
        whole_sum(compute_ns) AS compute_ns,
        whole_sum(bandwidth_ns) AS bandwidth_ns,
        whole_sum(l2_ns) AS l2_ns,
        whole_sum(l1_ns) AS l1_ns,
        ratio(sum(compute_throughput_sum), sum(compute_throughput_ns)) AS compute_throughput_ratio,
        ratio(sum(memory_throughput_sum), sum(memory_throughput_ns)) AS memory_throughput_ratio,
        CAST(sum(total_ns) AS BIGINT) AS total_ns,
        bool_and(is_timed) AS is_timed,
        whole_sum(total_flop) AS total_flop,
        whole_sum(total_bytes) AS total_bytes,
        arg_max(reason, reason_ns) AS bound_reason,
        any_value(group_number) AS group_number
    FROM titled
    GROUP BY GROUPING SETS ((group_name, owner_id, launch_event), ())
),
held AS (
    SELECT
        *,
        CASE WHEN is_timed THEN ratio(longest_of(compute_ns, bandwidth_ns, l2_ns, l1_ns), total_ns) END AS roof_ratio,
        nearest_of(compute_ns, bandwidth_ns, l2_ns, l1_ns) AS roof_name
    FROM grouped
),
near AS (
    SELECT
        *,
        near_what(roof_name, roof_ratio, compute_throughput_ratio, memory_throughput_ratio, $latency_below) AS nearest_name
    FROM held
),
bounded AS (
    SELECT
        *,
        CASE WHEN overhead_ns IS NOT NULL THEN bound_of(compute_ns, bandwidth_ns, overhead_ns, roof_ratio, nearest_name, $latency_below) END AS bound_kind
    FROM near
)
SELECT
    CASE WHEN is_total THEN '(all)' ELSE group_name END AS name, launch_count,
    bound_kind,
    ratio(overhead_ns, launch_count) AS per_launch_ns,
    overhead_ns, compute_ns, bandwidth_ns, total_ns,
    ratio(total_flop * 1e9, overhead_ns) AS overhead_ceiling_flop_per_s,
    ratio(total_flop * 1e9, compute_ns) AS peak_flop_per_s,
    ratio(total_flop, compute_ns) * ratio(overhead_ns, launch_count) AS least_flop,
    total_flop, total_bytes,
    CASE
        WHEN bound_kind IS NOT NULL THEN NULL
        WHEN compute_ns IS NULL OR bandwidth_ns IS NULL THEN coalesce(bound_reason, 'no peak for this device')
        WHEN overhead_ns IS NULL THEN 'launch overhead of this device not known; give launch_overhead_ns'
        ELSE coalesce(bound_reason, 'duration not known')
    END AS reason,
    nearest_name, roof_ratio,
    CAST($fp16_convention AS VARCHAR) AS fp16_convention, is_total
FROM bounded
WHERE NOT is_total OR launch_count IS NOT NULL
ORDER BY is_total DESC, group_number, total_ns DESC NULLS LAST, name, owner_id, launch_event
