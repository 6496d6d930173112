-- purpose = "Where to look: kernels by time, with utilization, operations per byte, what bounds them and how near to its roof each is."
-- source = "Zhu 2018 (TBD), eq. 2; Wang Y. 2020 (Time-Based Roofline), eq. 1 and sect. II"
-- needs = ["kernel_counter"]
-- depends = ["work_under", "run_group", "group_of", "device_ceiling", "bound_of"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- by = {type = "VARCHAR", doc = "what a row stands for: name (a kernel), launch, run or label (a value of one)", default = "name", choices = ["name", "launch", "run", "label"]}
-- label = {type = "VARCHAR", doc = "with by=label: which label, e.g. batch", optional = true}
-- fp16_convention = {type = "VARCHAR", doc = "packed: an FP16 instruction is two operations (the vendor); scalar: one (Wang Y. 2020)", default = "packed", choices = ["packed", "scalar"]}
-- ceiling = {type = "VARCHAR", doc = "the peak that utilization is against", default = "fp32", choices = ["fp32", "fp64", "fp16", "tensor_fp64", "tensor_tf32", "tensor_bf16", "tensor_fp16", "tensor_fp8", "tensor_fp4"]}
-- level = {type = "VARCHAR", doc = "the memory that intensity is at", default = "dram", choices = ["dram", "l2", "l1"]}
-- below_average = {type = "BOOLEAN", doc = "only those whose utilization is below that of all kernels together", default = false}
-- top = {type = "BIGINT", doc = "how many; all if not given", optional = true}
-- [columns]
-- share_ratio = {type = "DOUBLE", doc = "total_ns / time of all kernels"}
-- utilization_ratio = {type = "DOUBLE", doc = "operations / (peak x time), of the launches where both are known"}
-- name = {type = "VARCHAR", doc = "kernel, or run or value of the label"}
-- bound_kind = {type = "VARCHAR", doc = "overhead, bandwidth (of device memory) or compute"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations"}
-- launch_count = {type = "BIGINT", doc = "launches"}
-- intensity_flop_per_byte = {type = "DOUBLE", doc = "all operations / bytes at the level, of the launches where both are known"}
-- roof_ratio = {type = "DOUBLE", doc = "time at peak / time: how near to the roof; above 1 the data or the peak is wrong, or the clock above its data sheet; NULL unless every duration is known"}
-- mean_ns = {type = "DOUBLE", doc = "mean duration"}
-- reason = {type = "VARCHAR", doc = "why utilization is NULL; that of the longest launch"}
-- bound_reason = {type = "VARCHAR", doc = "why bound_kind is NULL; that of the longest launch"}
-- occupancy_ratio = {type = "DOUBLE", doc = "achieved occupancy, mean over the time"}
-- compute_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of peak: compute, mean over the time"}
-- memory_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of peak: memory, mean over the time"}
-- achieved_flop_per_s = {type = "DOUBLE", doc = "all operations / time, of the launches where they are known"}
-- total_flop = {type = "DOUBLE", doc = "all operations that are known, FP16 by its convention"}
-- total_bytes = {type = "DOUBLE", doc = "bytes at the level"}
-- average_ratio = {type = "DOUBLE", doc = "utilization over all kernels"}
-- known_time_ratio = {type = "DOUBLE", doc = "share of the time for which utilization is known"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "the peak, mean over the time"}
-- peak_source = {type = "VARCHAR", doc = "where it comes from"}
-- ceiling_name = {type = "VARCHAR", doc = "which peak"}
-- level_name = {type = "VARCHAR", doc = "which memory"}
-- launch_index = {type = "BIGINT", doc = "with by=launch: the profiler's own number"}
-- event_id = {type = "BIGINT", doc = "with by=launch: place in the source"}
WITH
chosen AS (
    SELECT
        *,
        CASE WHEN $by = 'launch' THEN event_id END AS launch_event,
        CASE $fp16_convention WHEN 'packed' THEN total_packed_flop ELSE total_scalar_flop END AS all_flop,
        CASE $level
            WHEN 'dram' THEN dram_bytes
            WHEN 'l2' THEN coalesce(l2_paper_bytes, l2_vendor_bytes)
            ELSE coalesce(l1_paper_bytes, l1_vendor_bytes)
        END AS traffic_bytes,
        CASE
            WHEN work_flop IS NULL
            THEN coalesce(
                CASE $ceiling WHEN 'fp64' THEN fp64_reason WHEN 'fp32' THEN fp32_reason WHEN 'fp16' THEN fp16_reason ELSE tensor_reason END,
                'not_collected'
            )
            WHEN dur_ns IS NULL THEN 'duration: ' || dur_reason
            WHEN dur_ns = 0 THEN 'duration of zero'
            WHEN peak IS NULL AND device_name IS NULL THEN 'device not known'
            WHEN peak IS NULL THEN 'no peak for this device'
        END AS reason
    FROM work_under($ceiling, $fp16_convention)
    WHERE
        ($run_id IS NULL OR run_id = $run_id)
        AND CASE WHEN $by = 'label' AND $label IS NULL THEN error('by=label needs label=NAME') ELSE true END
),
parts AS (
    SELECT
        run_id, source_id, device_id, name, launch_event,
        any_value(launch_index) AS launch_index,
        sum(launch_count) AS launch_count,
        sum(dur_ns) AS total_ns,
        sum(launch_count) FILTER (WHERE dur_ns IS NOT NULL) AS timed_launch_count,
        bool_and(dur_ns IS NOT NULL) AS is_timed,
        CAST(sum(all_flop) AS DOUBLE) AS total_flop,
        CAST(sum(traffic_bytes) AS DOUBLE) AS total_bytes,
        CAST(sum(all_flop) FILTER (WHERE traffic_bytes > 0) AS DOUBLE) AS moving_flop,
        CAST(sum(traffic_bytes) FILTER (WHERE all_flop IS NOT NULL) AS DOUBLE) AS working_bytes,
        CAST(sum(all_flop) FILTER (WHERE dur_ns > 0) AS DOUBLE) AS timed_flop,
        sum(dur_ns) FILTER (WHERE all_flop IS NOT NULL) AS flop_ns,
        CAST(sum(work_flop) FILTER (WHERE reason IS NULL) AS DOUBLE) AS known_flop,
        sum(peak * dur_ns) FILTER (WHERE reason IS NULL) AS roof,
        sum(dur_ns) FILTER (WHERE reason IS NULL) AS known_ns,
        arg_max(reason, coalesce(dur_ns, 0)) AS reason,
        max(coalesce(dur_ns, 0)) FILTER (WHERE reason IS NOT NULL) AS reason_ns,
        CASE WHEN bool_and(l2_ns IS NOT NULL) THEN sum(l2_ns) END AS l2_ns,
        CASE WHEN bool_and(l1_ns IS NOT NULL) THEN sum(l1_ns) END AS l1_ns,
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
        any_value(group_number) AS group_number,
        CASE WHEN $by = 'launch' THEN any_value(launch_index) END AS launch_index,
        CAST(sum(launch_count) AS BIGINT) AS launch_count,
        CAST(sum(total_ns) AS BIGINT) AS total_ns,
        ratio(sum(total_ns), sum(timed_launch_count)) AS mean_ns,
        bool_and(is_timed) AS is_timed,
        sum(total_flop) AS total_flop,
        sum(total_bytes) AS total_bytes,
        ratio(sum(moving_flop), sum(working_bytes)) AS intensity_flop_per_byte,
        ratio(sum(timed_flop) * 1e9, sum(flop_ns)) AS achieved_flop_per_s,
        sum(known_flop) AS known_flop,
        sum(roof) AS roof,
        sum(known_ns) AS known_ns,
        arg_max(reason, reason_ns) AS reason,
        arg_max(peak_source, coalesce(total_ns, 0)) AS peak_source,
        CASE WHEN bool_and(l2_ns IS NOT NULL) THEN sum(l2_ns) END AS l2_ns,
        CASE WHEN bool_and(l1_ns IS NOT NULL) THEN sum(l1_ns) END AS l1_ns,
        CASE WHEN bool_and(overhead_ns IS NOT NULL) THEN sum(overhead_ns) END AS overhead_ns,
        ratio(sum(occupancy_sum), sum(occupancy_ns)) AS occupancy_ratio,
        ratio(sum(compute_throughput_sum), sum(compute_throughput_ns)) AS compute_throughput_ratio,
        ratio(sum(memory_throughput_sum), sum(memory_throughput_ns)) AS memory_throughput_ratio,
        CASE WHEN bool_and(compute_ns IS NOT NULL) THEN sum(compute_ns) END AS compute_ns,
        CASE WHEN bool_and(dram_ns IS NOT NULL) THEN sum(dram_ns) END AS dram_ns,
        arg_max(bound_reason, bound_reason_ns) AS bound_reason
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
    share_ratio, utilization_ratio, group_name AS name,
    bound_of(compute_ns, dram_ns, overhead_ns) AS bound_kind,
    total_ns, launch_count, intensity_flop_per_byte,
    CASE
        WHEN compute_ns IS NOT NULL AND dram_ns IS NOT NULL AND is_timed
        THEN ratio(greatest(compute_ns, dram_ns, coalesce(l2_ns, 0), coalesce(l1_ns, 0)), total_ns)
    END AS roof_ratio,
    mean_ns,
    CASE WHEN utilization_ratio IS NULL THEN reason END AS reason,
    CASE WHEN compute_ns IS NULL OR dram_ns IS NULL THEN bound_reason END AS bound_reason,
    occupancy_ratio, compute_throughput_ratio, memory_throughput_ratio, achieved_flop_per_s,
    total_flop, total_bytes, average_ratio, ratio(known_ns, total_ns) AS known_time_ratio,
    ratio(roof, known_ns) AS peak_flop_per_s, peak_source, CAST($ceiling AS VARCHAR) AS ceiling_name,
    CAST($level AS VARCHAR) AS level_name, launch_index, launch_event AS event_id
FROM compared
WHERE NOT $below_average OR utilization_ratio < average_ratio * (1 - 1e-12) -- not by rounding alone
ORDER BY
    CASE WHEN $by <> 'label' THEN total_ns END DESC NULLS LAST, group_number, name, owner_id,
    launch_event
LIMIT $top
