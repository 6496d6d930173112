-- purpose = "Launches with counters in groups, with all that the reports about kernels say of them: one place for how figures of launches become those of a group."
-- source = "Zhu 2018 (TBD), eq. 2; Wang Y. 2020 (Time-Based Roofline), eq. 1 and sect. II to IV"
-- needs = ["kernel_counter"]
-- depends = ["work_under", "run_group", "group_of", "device_ceiling", "bound_of", "longest_of", "nearest_of", "near_what", "whole_sum"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- grouping_kind = {type = "VARCHAR", doc = "name, launch, run or label"}
-- wanted_label = {type = "VARCHAR", doc = "with label: which"}
-- convention = {type = "VARCHAR", doc = "of FP16: arithmetic, packed or scalar"}
-- wanted_ceiling = {type = "VARCHAR", doc = "the peak that utilization is against; own: that of most of a launch's operations"}
-- wanted_level = {type = "VARCHAR", doc = "the memory that intensity is at: dram, l2 or l1"}
-- given_launch_ns = {type = "DOUBLE", doc = "time of one launch; NULL for that of the device"}
-- latency_below = {type = "DOUBLE", doc = "share of the time below which no roof limits"}
-- [columns]
-- group_name = {type = "VARCHAR", doc = "kernel, or run or value of the label"}
-- owner_id = {type = "VARCHAR", doc = "of a launch its source, of a run the run: what tells equal names apart"}
-- launch_event = {type = "BIGINT", doc = "of a launch: place in the source"}
-- launch_index = {type = "BIGINT", doc = "of a launch: the profiler's own number"}
-- group_number = {type = "DOUBLE", doc = "of a label: its value as a number"}
-- launch_count = {type = "BIGINT", doc = "launches"}
-- kernel_count = {type = "BIGINT", doc = "kernels of different names"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations"}
-- mean_ns = {type = "DOUBLE", doc = "mean duration"}
-- share_ratio = {type = "DOUBLE", doc = "total_ns / time of all groups"}
-- work_flop = {type = "DOUBLE", doc = "operations of the ceiling's kind that are known"}
-- utilization_ratio = {type = "DOUBLE", doc = "operations / (peak x time), of the launches where both are known"}
-- average_ratio = {type = "DOUBLE", doc = "the same of all groups together"}
-- is_below_average = {type = "BOOLEAN", doc = "utilization_ratio < average_ratio, not by rounding alone"}
-- known_time_ratio = {type = "DOUBLE", doc = "share of the time for which utilization is known"}
-- ceiling_name = {type = "VARCHAR", doc = "which peak; mixed where launches have several"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "the peak, mean over the time"}
-- peak_source = {type = "VARCHAR", doc = "where it comes from"}
-- reason = {type = "VARCHAR", doc = "why utilization is not known; that of the longest launch"}
-- fp32_utilization_ratio = {type = "DOUBLE", doc = "FP32 operations / (FP32 peak x time), of the launches where both are known"}
-- total_flop = {type = "DOUBLE", doc = "all operations that are known"}
-- other_flop = {type = "DOUBLE", doc = "the same by the other convention"}
-- total_bytes = {type = "DOUBLE", doc = "bytes at the level that are known"}
-- intensity_flop_per_byte = {type = "DOUBLE", doc = "operations / bytes, of the launches where both are known"}
-- achieved_flop_per_s = {type = "DOUBLE", doc = "operations / time, of the launches where they are known"}
-- achieved_bytes_per_s = {type = "DOUBLE", doc = "bytes / time, of the launches where they are known"}
-- tensor_share_ratio = {type = "DOUBLE", doc = "tensor operations / all operations"}
-- zero_launch_count = {type = "BIGINT", doc = "launches measured to do no operation; NULL for none"}
-- zero_ns = {type = "BIGINT", doc = "their time"}
-- is_known = {type = "BOOLEAN", doc = "all operations of all launches are known"}
-- unknown_time_ratio = {type = "DOUBLE", doc = "share of the time of launches whose operations are not all known"}
-- compute_ns = {type = "DOUBLE", doc = "time of the operations at peak"}
-- dram_ns = {type = "DOUBLE", doc = "time of the traffic of device memory at peak"}
-- overhead_ns = {type = "DOUBLE", doc = "time of the launches themselves"}
-- overhead_time_ratio = {type = "DOUBLE", doc = "that / total_ns; NULL unless every duration is known"}
-- bound_kind = {type = "VARCHAR", doc = "overhead, latency, bandwidth or compute; NULL where a time is not known"}
-- nearest_name = {type = "VARCHAR", doc = "the resource whose time at peak is longest: compute, dram, l2 or l1; where that is far, memory throughput or compute throughput if the report itself says that it is busy"}
-- roof_ratio = {type = "DOUBLE", doc = "that time / total_ns; NULL unless every duration is known"}
-- bound_reason = {type = "VARCHAR", doc = "why bound_kind is NULL; that of the longest launch"}
-- missing_metrics = {type = "VARCHAR", doc = "what the profiler's --metrics has to name beside for all operations; of the longest launch without"}
-- occupancy_ratio = {type = "DOUBLE", doc = "achieved occupancy, mean over the time"}
-- compute_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of peak: compute, mean over the time"}
-- memory_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of peak: memory, mean over the time"}
WITH
-- worked out once, as the expressions of work are long
chosen AS MATERIALIZED (
    SELECT
        *,
        CASE WHEN grouping_kind = 'launch' THEN event_id END AS launch_event,
        CASE wanted_level
            WHEN 'dram' THEN dram_bytes
            WHEN 'l2' THEN coalesce(l2_paper_bytes, l2_vendor_bytes)
            ELSE coalesce(l1_paper_bytes, l1_vendor_bytes)
        END AS traffic_bytes,
        CASE
            WHEN work_flop IS NULL THEN work_reason
            WHEN dur_ns IS NULL THEN 'duration: ' || dur_reason
            WHEN dur_ns = 0 THEN 'duration of zero'
            WHEN peak IS NULL AND device_name IS NULL THEN 'device not known'
            WHEN peak IS NULL THEN 'no peak for this device'
        END AS reason
    FROM work_under(wanted_ceiling, convention)
    WHERE
        (wanted_run IS NULL OR run_id = wanted_run)
        AND CASE WHEN grouping_kind = 'label' AND wanted_label IS NULL THEN error('by=label needs label=NAME') ELSE true END
),
parts AS (
    SELECT
        run_id, source_id, device_id, name, launch_event, ceiling_name,
        any_value(launch_index) AS launch_index,
        sum(launch_count) AS launch_count,
        sum(dur_ns) AS total_ns,
        sum(launch_count) FILTER (WHERE dur_ns IS NOT NULL) AS timed_launch_count,
        bool_and(dur_ns IS NOT NULL) AS is_timed,
        bool_and(all_flop IS NOT NULL) AS is_known,
        CAST(sum(all_flop) AS DOUBLE) AS total_flop,
        CAST(sum(other_flop) AS DOUBLE) AS other_flop,
        CAST(sum(tensor_flop) AS DOUBLE) AS tensor_flop,
        CAST(sum(traffic_bytes) AS DOUBLE) AS total_bytes,
        CAST(sum(all_flop) FILTER (WHERE traffic_bytes > 0) AS DOUBLE) AS moving_flop,
        CAST(sum(traffic_bytes) FILTER (WHERE all_flop IS NOT NULL) AS DOUBLE) AS working_bytes,
        CAST(sum(all_flop) FILTER (WHERE dur_ns > 0) AS DOUBLE) AS timed_flop,
        sum(dur_ns) FILTER (WHERE all_flop IS NOT NULL) AS flop_ns,
        CAST(sum(traffic_bytes) FILTER (WHERE dur_ns > 0) AS DOUBLE) AS timed_bytes,
        sum(dur_ns) FILTER (WHERE traffic_bytes IS NOT NULL) AS bytes_ns,
        sum(launch_count) FILTER (WHERE all_flop = 0) AS zero_launch_count,
        sum(dur_ns) FILTER (WHERE all_flop = 0) AS zero_ns,
        CAST(sum(work_flop) AS DOUBLE) AS work_flop,
        CAST(sum(work_flop) FILTER (WHERE reason IS NULL) AS DOUBLE) AS known_flop,
        sum(peak * dur_ns) FILTER (WHERE reason IS NULL) AS roof,
        sum(dur_ns) FILTER (WHERE reason IS NULL) AS known_ns,
        arg_max(reason, coalesce(dur_ns, 0)) AS reason,
        max(coalesce(dur_ns, 0)) FILTER (WHERE reason IS NOT NULL) AS reason_ns,
        CAST(sum(fp32_flop) FILTER (WHERE fp32_flop_per_s IS NOT NULL AND dur_ns > 0) AS DOUBLE) AS fp32_flop,
        sum(fp32_flop_per_s * dur_ns) FILTER (WHERE fp32_flop IS NOT NULL) AS fp32_roof,
        whole_sum(compute_ns) AS compute_ns,
        whole_sum(dram_ns) AS dram_ns,
        whole_sum(l2_ns) AS l2_ns,
        whole_sum(l1_ns) AS l1_ns,
        whole_sum(overhead_ns) AS overhead_ns,
        arg_max(bound_reason, coalesce(dur_ns, 0)) AS bound_reason,
        max(coalesce(dur_ns, 0)) FILTER (WHERE bound_reason IS NOT NULL) AS bound_reason_ns,
        arg_max(missing_metrics, coalesce(dur_ns, 0)) AS missing_metrics,
        sum(occupancy_ratio * dur_ns) AS occupancy_sum,
        sum(dur_ns) FILTER (WHERE occupancy_ratio IS NOT NULL) AS occupancy_ns,
        sum(compute_throughput_ratio * dur_ns) AS compute_throughput_sum,
        sum(dur_ns) FILTER (WHERE compute_throughput_ratio IS NOT NULL) AS compute_throughput_ns,
        sum(memory_throughput_ratio * dur_ns) AS memory_throughput_sum,
        sum(dur_ns) FILTER (WHERE memory_throughput_ratio IS NOT NULL) AS memory_throughput_ns
    FROM chosen
    GROUP BY run_id, source_id, device_id, name, launch_event, ceiling_name
),
titled AS (
    SELECT
        parts.*,
        group_of(grouping_kind, parts.name, run_group.title, run_group.label_value) AS group_name,
        run_group.label_number AS group_number,
        -- two runs, or launches of two sources, can have one name
        CASE grouping_kind WHEN 'launch' THEN parts.source_id WHEN 'run' THEN parts.run_id END AS owner_id
    FROM parts
    JOIN run_group(wanted_run, grouping_kind, wanted_label) AS run_group ON run_group.run_id = parts.run_id
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
        AND device_ceiling.ceiling_name = titled.ceiling_name
        AND (wanted_run IS NULL OR device_ceiling.run_id = wanted_run)
),
grouped AS (
    SELECT
        group_name, owner_id, launch_event,
        any_value(group_number) AS group_number,
        CASE WHEN grouping_kind = 'launch' THEN any_value(launch_index) END AS launch_index,
        CAST(sum(launch_count) AS BIGINT) AS launch_count,
        count(DISTINCT name) AS kernel_count,
        CAST(sum(total_ns) AS BIGINT) AS total_ns,
        ratio(sum(total_ns), sum(timed_launch_count)) AS mean_ns,
        bool_and(is_timed) AS is_timed,
        bool_and(is_known) AS is_known,
        sum(total_flop) AS total_flop,
        sum(other_flop) AS other_flop,
        sum(total_bytes) AS total_bytes,
        ratio(sum(moving_flop), sum(working_bytes)) AS intensity_flop_per_byte,
        ratio(sum(timed_flop) * 1e9, sum(flop_ns)) AS achieved_flop_per_s,
        ratio(sum(timed_bytes) * 1e9, sum(bytes_ns)) AS achieved_bytes_per_s,
        CASE WHEN bool_and(is_known) THEN ratio(sum(tensor_flop), sum(total_flop)) END AS tensor_share_ratio,
        CAST(sum(zero_launch_count) AS BIGINT) AS zero_launch_count,
        CAST(sum(zero_ns) AS BIGINT) AS zero_ns,
        ratio(sum(total_ns) - coalesce(sum(flop_ns), 0), sum(total_ns)) AS unknown_time_ratio,
        sum(work_flop) AS work_flop,
        sum(known_flop) AS known_flop,
        sum(roof) AS roof,
        sum(known_ns) AS known_ns,
        arg_max(reason, reason_ns) AS reason,
        -- that of launches that did nothing is no other one
        coalesce(
            CASE WHEN count(DISTINCT ceiling_name) FILTER (WHERE work_flop > 0) > 1 THEN 'mixed' END,
            any_value(ceiling_name) FILTER (WHERE work_flop > 0), any_value(ceiling_name)
        ) AS ceiling_name,
        coalesce(arg_max(peak_source, total_ns) FILTER (WHERE work_flop > 0), arg_max(peak_source, coalesce(total_ns, 0))) AS peak_source,
        ratio(sum(fp32_flop) * 1e9, sum(fp32_roof)) AS fp32_utilization_ratio,
        whole_sum(compute_ns) AS compute_ns,
        whole_sum(dram_ns) AS dram_ns,
        whole_sum(l2_ns) AS l2_ns,
        whole_sum(l1_ns) AS l1_ns,
        coalesce(given_launch_ns * sum(launch_count), whole_sum(overhead_ns)) AS overhead_ns,
        arg_max(bound_reason, bound_reason_ns) AS bound_reason,
        arg_max(missing_metrics, bound_reason_ns) AS missing_metrics,
        ratio(sum(occupancy_sum), sum(occupancy_ns)) AS occupancy_ratio,
        ratio(sum(compute_throughput_sum), sum(compute_throughput_ns)) AS compute_throughput_ratio,
        ratio(sum(memory_throughput_sum), sum(memory_throughput_ns)) AS memory_throughput_ratio
    FROM sourced
    GROUP BY group_name, owner_id, launch_event
),
compared AS (
    SELECT
        *,
        ratio(known_flop * 1e9, roof) AS utilization_ratio,
        ratio(sum(known_flop) OVER () * 1e9, sum(roof) OVER ()) AS average_ratio,
        ratio(total_ns, sum(total_ns) OVER ()) AS share_ratio,
        CASE WHEN is_timed THEN total_ns END AS timed_ns,
        ratio(longest_of(compute_ns, dram_ns, l2_ns, l1_ns), timed_ns) AS roof_ratio,
        nearest_of(compute_ns, dram_ns, l2_ns, l1_ns) AS roof_name
    FROM grouped
),
-- a stage for each step: a name that is used again in its own SELECT is worked out again
near AS (
    SELECT
        *,
        near_what(roof_name, roof_ratio, compute_throughput_ratio, memory_throughput_ratio, latency_below) AS nearest_name
    FROM compared
),
bounded AS (
    SELECT
        *,
        bound_of(compute_ns, dram_ns, overhead_ns, roof_ratio, nearest_name, latency_below) AS bound_kind
    FROM near
)
SELECT
    group_name, owner_id, launch_event, launch_index, group_number, launch_count, kernel_count, total_ns, mean_ns,
    share_ratio, work_flop, utilization_ratio, average_ratio,
    utilization_ratio < average_ratio * (1 - 1e-12) AS is_below_average,
    ratio(known_ns, total_ns) AS known_time_ratio, ceiling_name, ratio(roof, known_ns) AS peak_flop_per_s, peak_source,
    CASE WHEN utilization_ratio IS NULL THEN reason END AS reason,
    fp32_utilization_ratio, total_flop, other_flop, total_bytes, intensity_flop_per_byte, achieved_flop_per_s,
    achieved_bytes_per_s, tensor_share_ratio, zero_launch_count, zero_ns, is_known, unknown_time_ratio,
    compute_ns, dram_ns, overhead_ns, ratio(overhead_ns, timed_ns) AS overhead_time_ratio, nearest_name, bound_kind, roof_ratio,
    CASE
        WHEN bound_kind IS NOT NULL THEN NULL
        WHEN compute_ns IS NULL OR dram_ns IS NULL THEN coalesce(bound_reason, 'no peak for this device')
        ELSE coalesce(bound_reason, 'duration not known')
    END AS bound_reason,
    missing_metrics, occupancy_ratio, compute_throughput_ratio, memory_throughput_ratio
FROM bounded
