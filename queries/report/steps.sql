-- purpose = "The steps one by one, and which of them are the stable phase: time, busy time of the devices, launches, and what their kernels did by the counters that were joined; their median and throughput first."
-- source = "Zhu 2018 (TBD), sect. 3.4: sampling after warm-up and auto-tuning, throughput; docs/metrics.md, section Steps and the stable phase"
-- needs = ["step"]
-- depends = ["step_span", "stable_phase", "stable_share", "step_sample", "rate_of_steps", "joined_bound"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- [columns]
-- step_name = {type = "VARCHAR", doc = "number of the step; (stable) or (all): the median of those, rounded"}
-- rank_index = {type = "BIGINT", doc = "rank; NULL where the file does not say"}
-- elapsed_ns = {type = "BIGINT", doc = "time: from the first work launched in it to the first of the next step; without work on a device that of its mark"}
-- is_stable = {type = "BOOLEAN", doc = "in the stable phase"}
-- reason = {type = "VARCHAR", doc = "why it is not in the stable phase: what it has that stable steps (they) have not; or why there is no stable phase; of (stable) that these are under half of the steps, or of their time"}
-- busy_ratio = {type = "DOUBLE", doc = "busy_ns / (elapsed_ns x devices); of (stable) and (all) added up before"}
-- kernel_count = {type = "BIGINT", doc = "kernels launched in it"}
-- steps_per_s = {type = "DOUBLE", doc = "of (stable) and (all): steps / time from the start of the first to the end of the last; NULL where one between is not there"}
-- samples_per_s = {type = "DOUBLE", doc = "steps_per_s x the run's metric samples_per_step, else its label batch: samples that one source takes in a step"}
-- spread_ratio = {type = "DOUBLE", doc = "of (stable) and (all): (longest - shortest) / median; NULL of fewer than two"}
-- step_count = {type = "BIGINT", doc = "of (stable) and (all): steps"}
-- mean_ns = {type = "DOUBLE", doc = "of (stable) and (all): mean of their times"}
-- longest_ns = {type = "BIGINT", doc = "of (stable) and (all): the longest"}
-- stall_ns = {type = "BIGINT", doc = "of a step that stalled: time in which the devices idled during its mark (without work on a device: its time) beyond the median of all steps, where that is more than the median step takes; of (stable) and (all) the sum"}
-- kernel_ns = {type = "BIGINT", doc = "sum of their durations"}
-- mark_ns = {type = "BIGINT", doc = "duration of the mark: of a host's the time on the host"}
-- busy_ns = {type = "BIGINT", doc = "time in it with at least one kernel, copy or set running, whichever step launched it; of several devices the sum"}
-- work_count = {type = "BIGINT", doc = "kernels, copies and sets launched in it"}
-- step_kind = {type = "VARCHAR", doc = "what marks it: host (the loop), device, or detected (kernels that repeat)"}
-- start_ns = {type = "BIGINT", doc = "start of the first work launched in it; without any that of its mark"}
-- step_index = {type = "BIGINT", doc = "number of the step; NULL of (stable) and (all)"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- total_flop = {type = "DOUBLE", doc = "operations of the kernels launched in it, by joined counters (median); NULL without"}
-- total_bytes = {type = "DOUBLE", doc = "their bytes of device memory, likewise"}
-- fp32_utilization_ratio = {type = "DOUBLE", doc = "their FP32 operations / (peak x their time), of those that have counters"}
-- known_ratio = {type = "DOUBLE", doc = "share of their time of those that have"}
WITH
spans AS MATERIALIZED (
    FROM step_span($run_id)
),
phases AS MATERIALIZED (
    FROM stable_phase($run_id)
),
work AS MATERIALIZED (
    SELECT source_id, device_id, start_ns, start_ns + dur_ns AS end_ns
    FROM attribution
    WHERE run_id = $run_id AND start_ns IS NOT NULL AND dur_ns IS NOT NULL
),
counted AS (
    SELECT
        here.source_id, step_index,
        sum(total_flop) AS total_flop, sum(dram_bytes) AS total_bytes,
        sum(fp32_flop) FILTER (WHERE fp32_flop_per_s IS NOT NULL AND joined_bound.dur_ns > 0) AS fp32_flop,
        sum(fp32_flop_per_s * joined_bound.dur_ns) FILTER (WHERE fp32_flop IS NOT NULL) AS fp32_roof,
        coalesce(sum(joined_bound.dur_ns) FILTER (WHERE total_flop IS NOT NULL), 0) AS counted_ns, sum(joined_bound.dur_ns) AS joined_ns
    FROM (FROM attribution WHERE run_id = $run_id AND work_kind = 'kernel') AS here
    JOIN (FROM joined_bound WHERE run_id = $run_id) AS joined_bound USING (source_id, event_id)
    GROUP BY here.source_id, step_index
),
-- what each work adds to the time in which its device is busy
pieces AS (
    SELECT
        source_id, device_id, start_ns,
        greatest(start_ns, coalesce(max(end_ns) OVER (device ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_ns)) AS begin_ns,
        end_ns
    FROM work
    WINDOW device AS (PARTITION BY source_id, device_id ORDER BY start_ns, end_ns)
),
busy AS (
    SELECT
        source_id, coalesce(CAST(device_id AS VARCHAR), '') AS device_key, begin_ns, end_ns,
        sum(end_ns - begin_ns) OVER (PARTITION BY source_id, device_id ORDER BY begin_ns, end_ns ROWS UNBOUNDED PRECEDING) AS until_ns
    FROM pieces
    WHERE end_ns > begin_ns
),
devices AS (
    SELECT DISTINCT source_id, coalesce(CAST(device_id AS VARCHAR), '') AS device_key FROM work
),
moments AS (
    SELECT source_id, device_key, time_ns
    FROM devices JOIN (
        SELECT source_id, start_ns AS time_ns FROM spans UNION SELECT source_id, end_ns FROM spans
        UNION SELECT source_id, mark_start_ns FROM spans UNION SELECT source_id, mark_start_ns + mark_ns FROM spans
    ) USING (source_id)
    WHERE time_ns IS NOT NULL
),
reached AS (
    SELECT
        moments.source_id, moments.time_ns,
        sum(coalesce(until_ns - greatest(end_ns - moments.time_ns, 0), 0)) AS busy_ns,
        count(*) AS device_count
    FROM moments ASOF LEFT JOIN busy
        ON busy.source_id = moments.source_id AND busy.device_key = moments.device_key
        AND busy.begin_ns <= moments.time_ns
    GROUP BY moments.source_id, moments.time_ns
),
measured AS (
    SELECT
        spans.* REPLACE (coalesce(spans.start_ns, mark_start_ns) AS start_ns, coalesce(spans.end_ns, mark_start_ns + mark_ns) AS end_ns),
        CAST(ended.busy_ns - began.busy_ns AS BIGINT) AS busy_ns,
        ended.device_count,
        CASE
            WHEN ended.device_count IS NULL THEN spans.elapsed_ns
            ELSE mark_ns - ratio(mark_ended.busy_ns - mark_began.busy_ns, ended.device_count)
        END AS wait_ns,
        coalesce(step_index BETWEEN first_step_index AND last_step_index, false) AS is_stable,
        phases.reason AS phase_reason, shares.warning,
        counted.total_flop, counted.total_bytes, counted.fp32_flop, counted.fp32_roof, counted.counted_ns, counted.joined_ns
    FROM spans
    LEFT JOIN counted USING (source_id, step_index)
    JOIN phases USING (run_id, source_id)
    JOIN stable_share($run_id) AS shares USING (run_id, source_id)
    LEFT JOIN reached AS began ON began.source_id = spans.source_id AND began.time_ns = spans.start_ns
    LEFT JOIN reached AS ended ON ended.source_id = spans.source_id AND ended.time_ns = spans.end_ns
    LEFT JOIN reached AS mark_began ON mark_began.source_id = spans.source_id AND mark_began.time_ns = spans.mark_start_ns
    LEFT JOIN reached AS mark_ended
        ON mark_ended.source_id = spans.source_id AND mark_ended.time_ns = spans.mark_start_ns + spans.mark_ns
),
told AS (
    SELECT
        *,
        median(elapsed_ns) FILTER (WHERE is_stable) OVER source AS stable_ns,
        median(kernel_count) FILTER (WHERE is_stable) OVER source AS stable_count,
        CASE
            WHEN is_stable THEN NULL
            WHEN phase_reason IS NOT NULL THEN phase_reason
            WHEN 100 * abs(kernel_count - stable_count) > stable_count
            THEN kernel_count || ' kernels, they have ' || CAST(stable_count AS BIGINT)
            WHEN elapsed_ns > stable_ns * 1.1 OR elapsed_ns < stable_ns * 0.9
            THEN printf('takes %.2f of their time', ratio(elapsed_ns, stable_ns))
            ELSE 'like stable steps, but apart from them'
        END AS reason,
        wait_ns - median(wait_ns) OVER source AS more_ns,
        CASE WHEN more_ns > median(elapsed_ns) OVER source THEN CAST(more_ns AS BIGINT) END AS stall_ns
    FROM measured
    WINDOW source AS (PARTITION BY source_id)
),
added AS (
    SELECT
        source_id, is_all,
        CAST(median(elapsed_ns) AS BIGINT) AS elapsed_ns,
        ratio(sum(busy_ns), sum(elapsed_ns * device_count)) AS busy_ratio,
        CAST(median(kernel_count) AS BIGINT) AS kernel_count,
        CAST(median(kernel_ns) AS BIGINT) AS kernel_ns,
        rate_of_steps(step_index, elapsed_ns, start_ns, end_ns) AS steps_per_s,
        CASE WHEN count(elapsed_ns) > 1 THEN ratio(max(elapsed_ns) - min(elapsed_ns), median(elapsed_ns)) END AS spread_ratio,
        count(*) AS step_count,
        coalesce(any_value(phase_reason), CASE WHEN NOT is_all THEN any_value(warning) END) AS reason,
        avg(elapsed_ns) AS mean_ns, max(elapsed_ns) AS longest_ns, CAST(sum(stall_ns) AS BIGINT) AS stall_ns,
        any_value(step_kind) AS step_kind,
        CAST(median(mark_ns) AS BIGINT) AS mark_ns,
        CAST(median(busy_ns) AS BIGINT) AS busy_ns,
        CAST(median(work_count) AS BIGINT) AS work_count,
        min(start_ns) AS start_ns,
        median(total_flop) AS total_flop, median(total_bytes) AS total_bytes, sum(fp32_flop) AS fp32_flop, sum(fp32_roof) AS fp32_roof,
        sum(counted_ns) AS counted_ns, sum(joined_ns) AS joined_ns
    FROM (SELECT *, true AS is_all FROM told UNION ALL SELECT *, false FROM told WHERE is_stable)
    GROUP BY source_id, is_all
),
rows_of_all AS (
    SELECT
        CASE WHEN is_all THEN '(all)' ELSE '(stable)' END AS step_name,
        elapsed_ns, NOT is_all AS is_stable, busy_ratio, kernel_count, kernel_ns, steps_per_s, spread_ratio, step_count,
        mean_ns, longest_ns, stall_ns, reason, step_kind, mark_ns, busy_ns, work_count, start_ns, source_id, NULL AS step_index,
        total_flop, total_bytes, fp32_flop, fp32_roof, counted_ns, joined_ns
    FROM added
    UNION ALL
    SELECT
        CAST(step_index AS VARCHAR), elapsed_ns, is_stable, ratio(busy_ns, elapsed_ns * device_count), kernel_count, kernel_ns,
        NULL, NULL, NULL, NULL, NULL, stall_ns, reason, step_kind, mark_ns, busy_ns, work_count, start_ns, source_id, step_index,
        total_flop, total_bytes, fp32_flop, fp32_roof, counted_ns, joined_ns
    FROM told
)
SELECT
    step_name, source_file.rank_index, elapsed_ns, is_stable, reason, busy_ratio, kernel_count, steps_per_s,
    steps_per_s * sample_count AS samples_per_s,
    spread_ratio, step_count, mean_ns, longest_ns, stall_ns, kernel_ns, mark_ns, busy_ns, work_count, step_kind, start_ns, step_index, rows_of_all.source_id,
    total_flop, total_bytes, ratio(fp32_flop * 1e9, fp32_roof) AS fp32_utilization_ratio, ratio(counted_ns, joined_ns) AS known_ratio
FROM rows_of_all
LEFT JOIN step_sample ON step_sample.run_id = $run_id
LEFT JOIN source_file ON source_file.source_id = rows_of_all.source_id AND source_file.run_id = $run_id
ORDER BY rank_index NULLS LAST, rows_of_all.source_id, step_index NULLS FIRST, step_name DESC
