-- purpose = "How busy each device was: kernels against elapsed time, with copies and without communication; sum, union and overlap."
-- source = "Zhu 2018 (TBD), eq. 1 and 2: active time is the union over all streams; docs/metrics.md, section gpu_utilization"
-- needs = ["attribution"]
-- depends = ["work_in_window", "device_time", "work_by_name", "joined_bound", "device_peak", "device_rank"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M", default = "all"}
-- [columns]
-- rank_index = {type = "BIGINT", doc = "rank; NULL where the file does not say"}
-- device_id = {type = "BIGINT", doc = "device; NULL where the file does not say"}
-- busy_ratio = {type = "DOUBLE", doc = "busy_ns / elapsed_ns: GPU compute utilization"}
-- busy_with_transfers_ratio = {type = "DOUBLE", doc = "busy_with_transfers_ns / elapsed_ns"}
-- compute_ratio = {type = "DOUBLE", doc = "compute_ns / elapsed_ns"}
-- elapsed_ns = {type = "BIGINT", doc = "time of the steps; of all of them from the first start to the last end of work on any device of the source"}
-- busy_ns = {type = "BIGINT", doc = "time with at least one kernel running (union)"}
-- busy_with_transfers_ns = {type = "BIGINT", doc = "time with a kernel, copy or set running (union)"}
-- compute_ns = {type = "BIGINT", doc = "time with a kernel running that is no communication (union)"}
-- sum_ns = {type = "BIGINT", doc = "sum of kernel durations"}
-- overlap_ns = {type = "BIGINT", doc = "sum_ns - busy_ns: time counted more than once"}
-- overlapping_count = {type = "BIGINT", doc = "kernels that begin while another still runs on the device"}
-- kernel_count = {type = "BIGINT", doc = "kernels whose start and duration are known"}
-- fp32_utilization_ratio = {type = "DOUBLE", doc = "FP32 operations / (FP32 peak x busy_ns); NULL unless those of every kernel are known"}
-- fp32_flop = {type = "DOUBLE", doc = "FP32 operations, by counters of the run; NULL unless those of every kernel are known, or of some by joined counters"}
-- fp32_reason = {type = "VARCHAR", doc = "why the FP32 utilization is NULL, or a lower bound"}
-- fp32_known_ratio = {type = "DOUBLE", doc = "share of the kernel time whose FP32 operations are known: below 1 the utilization of a joined run is a lower bound"}
-- source_id = {type = "VARCHAR", doc = "source (one rank of a job)"}
WITH
busy AS (
    SELECT
        source_id, device_id,
        any_value(elapsed_ns) AS elapsed_ns,
        CAST(sum(exposed_ns) FILTER (WHERE work_class IN ('compute', 'communication')) AS BIGINT) AS busy_ns,
        CAST(sum(exposed_ns) AS BIGINT) AS busy_with_transfers_ns,
        any_value(union_ns) FILTER (WHERE work_class = 'compute') AS compute_ns,
        CAST(sum(sum_ns) FILTER (WHERE work_class IN ('compute', 'communication')) AS BIGINT) AS sum_ns,
        CAST(sum(work_count) FILTER (WHERE work_class IN ('compute', 'communication')) AS BIGINT) AS kernel_count,
        CAST(sum(overlapping_count) AS BIGINT) AS overlapping_count
    FROM device_time($run_id, $phase)
    GROUP BY source_id, device_id
),
-- of a launch that was joined to counters by these, else by the counters of its name in the same run
worked AS (
    SELECT
        here.source_id, here.device_id,
        sum(coalesce(joined.fp32_flop, work.fp32_flop)) AS known_flop,
        count(*) FILTER (WHERE coalesce(joined.fp32_flop, work.fp32_flop) IS NULL) AS unknown_count,
        sum(here.end_ns - here.start_ns) FILTER (WHERE coalesce(joined.fp32_flop, work.fp32_flop) IS NOT NULL) AS known_ns,
        sum(here.end_ns - here.start_ns) AS all_ns,
        bool_or(joined.is_matched) AS is_joined
    FROM work_in_window($run_id, $phase) AS here
    LEFT JOIN (FROM joined_bound WHERE run_id = $run_id) AS joined
        ON joined.source_id = here.source_id AND joined.event_id = here.event_id
    LEFT JOIN work_by_name($run_id) AS work ON work.name = here.name AND joined.event_id IS NULL
    WHERE here.work_class IN ('compute', 'communication')
    GROUP BY here.source_id, here.device_id
),
held AS (
    SELECT
        busy.*,
        CASE WHEN worked.unknown_count = 0 OR worked.is_joined THEN worked.known_flop END AS fp32_flop,
        coalesce(ratio(coalesce(worked.known_ns, 0), worked.all_ns), 0) AS fp32_known_ratio,
        device_peak.fp32_flop_per_s,
        CASE
            WHEN worked.known_flop IS NULL THEN 'operations: not_collected'
            WHEN worked.unknown_count > 0
            THEN 'operations of ' || worked.unknown_count || ' of ' || busy.kernel_count || ' kernels not known'
            WHEN device_peak.fp32_flop_per_s IS NULL THEN 'no peak for this device'
        END AS fp32_reason
    FROM busy
    LEFT JOIN worked
        ON worked.source_id = busy.source_id AND worked.device_id IS NOT DISTINCT FROM busy.device_id
    LEFT JOIN device_peak
        ON device_peak.run_id = $run_id AND device_peak.source_id = busy.source_id
        AND device_peak.device_id IS NOT DISTINCT FROM busy.device_id
)
SELECT
    device_rank.rank_index,
    held.device_id,
    ratio(held.busy_ns, held.elapsed_ns) AS busy_ratio,
    ratio(held.busy_with_transfers_ns, held.elapsed_ns) AS busy_with_transfers_ratio,
    ratio(held.compute_ns, held.elapsed_ns) AS compute_ratio,
    held.elapsed_ns, held.busy_ns, held.busy_with_transfers_ns, held.compute_ns, held.sum_ns,
    held.sum_ns - held.busy_ns AS overlap_ns,
    held.overlapping_count,
    held.kernel_count,
    ratio(held.fp32_flop * 1e9, held.fp32_flop_per_s * held.busy_ns) AS fp32_utilization_ratio,
    held.fp32_flop, held.fp32_reason, held.fp32_known_ratio,
    held.source_id
FROM held
LEFT JOIN device_rank
    ON device_rank.run_id = $run_id AND device_rank.source_id = held.source_id AND device_rank.device_id IS NOT DISTINCT FROM held.device_id
-- without kernels their time is not known, not 0
WHERE held.kernel_count > 0
ORDER BY device_rank.rank_index NULLS LAST, held.source_id, held.device_id NULLS LAST
