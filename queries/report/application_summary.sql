-- purpose = "An application in a row: how much of the device it uses, what of, what bounds it, and how much of that is known."
-- source = "Zhu 2018 (TBD), eq. 2; Wang Y. 2020 (Time-Based Roofline), sect. II to IV"
-- needs = ["kernel_counter"]
-- depends = ["kernel_bound", "run_group", "group_of", "bound_of"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- by = {type = "VARCHAR", doc = "what a row stands for: name (a kernel), launch, run or label (a value of one)", default = "run", choices = ["name", "launch", "run", "label"]}
-- label = {type = "VARCHAR", doc = "with by=label: which label, e.g. batch", optional = true}
-- fp16_convention = {type = "VARCHAR", doc = "packed: an FP16 instruction is two operations (the vendor); scalar: one (Wang Y. 2020)", default = "packed", choices = ["packed", "scalar"]}
-- launch_overhead_ns = {type = "DOUBLE", doc = "time of one launch; if not given, that of the device", optional = true}
-- [columns]
-- name = {type = "VARCHAR", doc = "run, kernel or value of the label"}
-- launch_count = {type = "BIGINT", doc = "launches"}
-- kernel_count = {type = "BIGINT", doc = "kernels of different names"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations"}
-- fp32_utilization_ratio = {type = "DOUBLE", doc = "FP32 operations / (FP32 peak x time), of the launches where both are known"}
-- intensity_flop_per_byte = {type = "DOUBLE", doc = "all operations / bytes of device memory, of the launches where both are known"}
-- achieved_flop_per_s = {type = "DOUBLE", doc = "all operations / time, of the launches where they are known"}
-- achieved_bytes_per_s = {type = "DOUBLE", doc = "bytes of device memory / time, of the launches where they are known"}
-- bound_kind = {type = "VARCHAR", doc = "overhead, bandwidth or compute; NULL where a time is not known"}
-- roof_ratio = {type = "DOUBLE", doc = "the longer time at peak / time; NULL unless every duration is known"}
-- tensor_share_ratio = {type = "DOUBLE", doc = "tensor operations / all operations"}
-- zero_ai_launch_ratio = {type = "DOUBLE", doc = "share of launches measured to do no floating-point operation; 0 only where every launch was counted"}
-- zero_ai_time_ratio = {type = "DOUBLE", doc = "share of the time of those"}
-- unknown_time_ratio = {type = "DOUBLE", doc = "share of the time of launches whose operations are not all known"}
-- overhead_time_ratio = {type = "DOUBLE", doc = "launches x time of one / time; NULL unless every duration is known"}
-- total_flop = {type = "DOUBLE", doc = "all operations that are known"}
-- total_bytes = {type = "DOUBLE", doc = "bytes of device memory that are known"}
-- occupancy_ratio = {type = "DOUBLE", doc = "achieved occupancy, mean over the time"}
-- compute_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of peak: compute, mean over the time"}
-- memory_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of peak: memory, mean over the time"}
-- reason = {type = "VARCHAR", doc = "what is missing to say what bounds it; of the longest launch"}
-- fp16_convention = {type = "VARCHAR", doc = "packed or scalar"}
WITH
chosen AS (
    SELECT
        *,
        CASE WHEN $by = 'launch' THEN event_id END AS launch_event,
        CASE $fp16_convention WHEN 'packed' THEN total_packed_flop ELSE total_scalar_flop END AS all_flop
    FROM kernel_bound
    WHERE
        ($run_id IS NULL OR run_id = $run_id)
        AND CASE WHEN $by = 'label' AND $label IS NULL THEN error('by=label needs label=NAME') ELSE true END
),
parts AS (
    SELECT
        run_id, source_id, device_id, name, launch_event,
        sum(launch_count) AS launch_count,
        sum(dur_ns) AS total_ns,
        bool_and(dur_ns IS NOT NULL) AS is_timed,
        CAST(sum(fp32_flop) FILTER (WHERE fp32_flop_per_s IS NOT NULL AND dur_ns > 0) AS DOUBLE) AS fp32_flop,
        sum(fp32_flop_per_s * dur_ns) FILTER (WHERE fp32_flop IS NOT NULL) AS fp32_roof,
        CAST(sum(all_flop) AS DOUBLE) AS total_flop,
        CAST(sum(dram_bytes) AS DOUBLE) AS total_bytes,
        CAST(sum(all_flop) FILTER (WHERE dram_bytes > 0) AS DOUBLE) AS known_flop,
        CAST(sum(dram_bytes) FILTER (WHERE all_flop IS NOT NULL) AS DOUBLE) AS known_bytes,
        CAST(sum(all_flop) FILTER (WHERE dur_ns > 0) AS DOUBLE) AS timed_flop,
        sum(dur_ns) FILTER (WHERE all_flop IS NOT NULL) AS flop_ns,
        CAST(sum(dram_bytes) FILTER (WHERE dur_ns > 0) AS DOUBLE) AS timed_bytes,
        sum(dur_ns) FILTER (WHERE dram_bytes IS NOT NULL) AS bytes_ns,
        CAST(sum(tensor_flop) AS DOUBLE) AS tensor_flop,
        bool_and(all_flop IS NOT NULL) AS is_known,
        sum(launch_count) FILTER (WHERE all_flop = 0) AS zero_launch_count,
        sum(dur_ns) FILTER (WHERE all_flop = 0) AS zero_ns,
        sum(occupancy_ratio * dur_ns) AS occupancy_sum,
        sum(dur_ns) FILTER (WHERE occupancy_ratio IS NOT NULL) AS occupancy_ns,
        sum(compute_throughput_ratio * dur_ns) AS compute_throughput_sum,
        sum(dur_ns) FILTER (WHERE compute_throughput_ratio IS NOT NULL) AS compute_throughput_ns,
        sum(memory_throughput_ratio * dur_ns) AS memory_throughput_sum,
        sum(dur_ns) FILTER (WHERE memory_throughput_ratio IS NOT NULL) AS memory_throughput_ns,
        CASE WHEN bool_and(compute_ns IS NOT NULL) THEN sum(compute_ns) END AS compute_ns,
        CASE WHEN bool_and(dram_ns IS NOT NULL) THEN sum(dram_ns) END AS dram_ns,
        CASE WHEN bool_and(overhead_ns IS NOT NULL) THEN sum(overhead_ns) END AS overhead_ns,
        arg_max(bound_reason, coalesce(dur_ns, 0)) AS bound_reason,
        max(coalesce(dur_ns, 0)) FILTER (WHERE bound_reason IS NOT NULL) AS bound_reason_ns
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
        any_value(group_number) AS group_number,
        CAST(sum(launch_count) AS BIGINT) AS launch_count,
        count(DISTINCT name) AS kernel_count,
        CAST(sum(total_ns) AS BIGINT) AS total_ns,
        bool_and(is_timed) AS is_timed,
        ratio(sum(fp32_flop) * 1e9, sum(fp32_roof)) AS fp32_utilization_ratio,
        ratio(sum(known_flop), sum(known_bytes)) AS intensity_flop_per_byte,
        ratio(sum(timed_flop) * 1e9, sum(flop_ns)) AS achieved_flop_per_s,
        ratio(sum(timed_bytes) * 1e9, sum(bytes_ns)) AS achieved_bytes_per_s,
        CASE WHEN bool_and(is_known) THEN ratio(sum(tensor_flop), sum(total_flop)) END AS tensor_share_ratio,
        -- no launch that is measured to do nothing is none only where every launch was counted
        CASE
            WHEN sum(zero_launch_count) > 0 THEN ratio(sum(zero_launch_count), sum(launch_count))
            WHEN bool_and(is_known) THEN 0
        END AS zero_ai_launch_ratio,
        CASE
            WHEN sum(zero_launch_count) > 0 THEN ratio(sum(zero_ns), sum(total_ns))
            WHEN bool_and(is_known) THEN ratio(0, sum(total_ns))
        END AS zero_ai_time_ratio,
        ratio(sum(total_ns) - coalesce(sum(flop_ns), 0), sum(total_ns)) AS unknown_time_ratio,
        sum(total_flop) AS total_flop,
        sum(total_bytes) AS total_bytes,
        coalesce(
            CAST($launch_overhead_ns AS DOUBLE) * sum(launch_count),
            CASE WHEN bool_and(overhead_ns IS NOT NULL) THEN sum(overhead_ns) END
        ) AS overhead_ns,
        ratio(sum(occupancy_sum), sum(occupancy_ns)) AS occupancy_ratio,
        ratio(sum(compute_throughput_sum), sum(compute_throughput_ns)) AS compute_throughput_ratio,
        ratio(sum(memory_throughput_sum), sum(memory_throughput_ns)) AS memory_throughput_ratio,
        CASE WHEN bool_and(compute_ns IS NOT NULL) THEN sum(compute_ns) END AS compute_ns,
        CASE WHEN bool_and(dram_ns IS NOT NULL) THEN sum(dram_ns) END AS dram_ns,
        arg_max(bound_reason, bound_reason_ns) AS bound_reason
    FROM titled
    GROUP BY group_name, owner_id, launch_event
)
SELECT
    group_name AS name, launch_count, kernel_count, total_ns, fp32_utilization_ratio,
    intensity_flop_per_byte, achieved_flop_per_s, achieved_bytes_per_s,
    bound_of(compute_ns, dram_ns, overhead_ns) AS bound_kind,
    CASE WHEN compute_ns IS NOT NULL AND dram_ns IS NOT NULL AND is_timed THEN ratio(greatest(compute_ns, dram_ns), total_ns) END
        AS roof_ratio,
    tensor_share_ratio, zero_ai_launch_ratio, zero_ai_time_ratio, unknown_time_ratio,
    CASE WHEN is_timed THEN ratio(overhead_ns, total_ns) END AS overhead_time_ratio,
    total_flop, total_bytes, occupancy_ratio, compute_throughput_ratio, memory_throughput_ratio,
    CASE WHEN compute_ns IS NULL OR dram_ns IS NULL THEN bound_reason END AS reason,
    CAST($fp16_convention AS VARCHAR) AS fp16_convention
FROM grouped
ORDER BY
    group_number, CASE WHEN $by <> 'label' THEN total_ns END DESC NULLS LAST, name, owner_id,
    launch_event
