-- purpose = "How long each device was busy in some steps, and the FP32 operations of its kernels: by joined counters, else by those of the run itself."
-- source = "Zhu 2018 (TBD), eq. 1 and 2; docs/metrics.md, section gpu_utilization"
-- needs = ["attribution"]
-- depends = ["work_in_window", "device_time", "work_by_name", "joined_bound", "device_peak", "whole_sum"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- wanted_phase = {type = "VARCHAR", doc = "all, stable or N..M, as of step_window"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source (one rank of a job)"}
-- device_id = {type = "BIGINT", doc = "device; NULL where the file does not say"}
-- elapsed_ns = {type = "BIGINT", doc = "time of the steps; of all of them from the first start to the last end of work on any device of the source"}
-- busy_ns = {type = "BIGINT", doc = "time with at least one kernel running (union)"}
-- busy_with_transfers_ns = {type = "BIGINT", doc = "time with a kernel, copy or set running (union)"}
-- compute_ns = {type = "BIGINT", doc = "time with a kernel running that is no communication (union)"}
-- sum_ns = {type = "BIGINT", doc = "sum of kernel durations"}
-- overlapping_count = {type = "BIGINT", doc = "kernels that begin while another still runs on the device"}
-- kernel_count = {type = "BIGINT", doc = "kernels whose start and duration are known"}
-- fp32_flop = {type = "DOUBLE", doc = "FP32 operations, by counters of the run; NULL unless those of every kernel are known, or of some by joined counters"}
-- fp32_flop_per_s = {type = "DOUBLE", doc = "peak of FP32"}
-- fp32_reason = {type = "VARCHAR", doc = "why the FP32 utilization is NULL, or a lower bound"}
-- fp32_known_ratio = {type = "DOUBLE", doc = "share of the kernel time whose FP32 operations are known: below 1 the utilization of a joined run is a lower bound; NULL without any"}
-- peak_ns = {type = "DOUBLE", doc = "time of all operations, each at the peak of its precision, by joined counters; NULL unless those of every kernel are known"}
WITH
busy AS (
    SELECT
        run_id, source_id, device_id,
        any_value(elapsed_ns) AS elapsed_ns,
        CAST(sum(exposed_ns) FILTER (WHERE work_class IN ('compute', 'communication')) AS BIGINT) AS busy_ns,
        CAST(sum(exposed_ns) AS BIGINT) AS busy_with_transfers_ns,
        any_value(union_ns) FILTER (WHERE work_class = 'compute') AS compute_ns,
        CAST(sum(sum_ns) FILTER (WHERE work_class IN ('compute', 'communication')) AS BIGINT) AS sum_ns,
        CAST(sum(work_count) FILTER (WHERE work_class IN ('compute', 'communication')) AS BIGINT) AS kernel_count,
        CAST(sum(overlapping_count) AS BIGINT) AS overlapping_count
    FROM device_time(wanted_run, wanted_phase)
    GROUP BY run_id, source_id, device_id
),
-- of a launch that was joined to counters by these, else by the counters of its name in the same run
worked AS (
    SELECT
        here.run_id, here.source_id, here.device_id,
        sum(coalesce(joined.fp32_flop, work.fp32_flop)) AS known_flop,
        count(*) FILTER (WHERE coalesce(joined.fp32_flop, work.fp32_flop) IS NULL) AS unknown_count,
        sum(here.end_ns - here.start_ns) FILTER (WHERE coalesce(joined.fp32_flop, work.fp32_flop) IS NOT NULL) AS known_ns,
        sum(here.end_ns - here.start_ns) AS all_ns,
        bool_or(joined.is_matched) AS is_joined,
        whole_sum(joined.compute_ns) AS peak_ns
    FROM work_in_window(wanted_run, wanted_phase) AS here
    LEFT JOIN (FROM joined_bound WHERE wanted_run IS NULL OR run_id = wanted_run) AS joined
        ON joined.run_id = here.run_id AND joined.source_id = here.source_id AND joined.event_id = here.event_id
    LEFT JOIN work_by_name(wanted_run) AS work
        ON work.run_id = here.run_id AND work.name = here.name AND joined.event_id IS NULL
    WHERE here.work_class IN ('compute', 'communication')
    GROUP BY here.run_id, here.source_id, here.device_id
),
held AS (
    SELECT
        busy.*,
        CASE WHEN worked.unknown_count = 0 OR worked.is_joined THEN worked.known_flop END AS fp32_flop,
        CASE WHEN worked.known_flop IS NOT NULL THEN ratio(worked.known_ns, worked.all_ns) END AS fp32_known_ratio,
        device_peak.fp32_flop_per_s, worked.peak_ns,
        CASE
            WHEN worked.known_flop IS NULL THEN 'operations: not_collected'
            WHEN worked.unknown_count > 0 AND worked.is_joined AND device_peak.fp32_flop_per_s IS NOT NULL
            THEN 'at least: operations of ' || worked.unknown_count || ' of ' || busy.kernel_count || ' kernels not known'
            WHEN worked.unknown_count > 0
            THEN 'operations of ' || worked.unknown_count || ' of ' || busy.kernel_count || ' kernels not known'
            WHEN device_peak.fp32_flop_per_s IS NULL THEN 'no peak for this device'
        END AS fp32_reason
    FROM busy
    LEFT JOIN worked
        ON worked.run_id = busy.run_id AND worked.source_id = busy.source_id AND worked.device_id IS NOT DISTINCT FROM busy.device_id
    LEFT JOIN (FROM device_peak WHERE wanted_run IS NULL OR run_id = wanted_run) AS device_peak
        ON device_peak.run_id = busy.run_id AND device_peak.source_id = busy.source_id
        AND device_peak.device_id IS NOT DISTINCT FROM busy.device_id
)
SELECT
    run_id, source_id, device_id, elapsed_ns, busy_ns, busy_with_transfers_ns, compute_ns,
    sum_ns, overlapping_count, kernel_count, fp32_flop, fp32_flop_per_s, fp32_reason, fp32_known_ratio, peak_ns
FROM held
-- without kernels their time is not known, not 0
WHERE kernel_count > 0
