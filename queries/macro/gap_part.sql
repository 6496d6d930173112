-- purpose = "The times in which devices were idle, parted into what they waited for: a row each part."
-- source = "HTA's breakdown of idle time into host, kernel and other waits; docs/metrics.md, section gaps"
-- needs = ["attribution"]
-- depends = ["device_gap", "is_data_loading"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- wanted_phase = {type = "VARCHAR", doc = "all, stable or N..M (step numbers, both included)"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source (one rank of a job)"}
-- device_id = {type = "BIGINT", doc = "device; NULL where the file does not say"}
-- gap_start_ns = {type = "BIGINT", doc = "end of the work before it, not before the steps"}
-- gap_end_ns = {type = "BIGINT", doc = "start of the work after it, not after the steps"}
-- window_start_ns = {type = "BIGINT", doc = "start of the steps"}
-- elapsed_ns = {type = "BIGINT", doc = "time of the steps"}
-- previous_event_id = {type = "BIGINT", doc = "work that ended where the gap begins; NULL where nothing is before it"}
-- next_event_id = {type = "BIGINT", doc = "work that ends the gap; NULL where there is none"}
-- gap_kind = {type = "VARCHAR", doc = "what a part of the gap waited for: data_loading, synchronisation, host, launch, graph, communication, copy, stream, queue or unknown"}
-- part_ns = {type = "BIGINT", doc = "that part; the parts of a gap, a row each, add up to it"}
-- reason = {type = "VARCHAR", doc = "of unknown: why"}
WITH
told AS MATERIALIZED (
    SELECT * FROM device_gap(wanted_run, wanted_phase)
),
-- what the host did meanwhile: loading data, or a call that can wait for the device
calls AS MATERIALIZED (
    SELECT
        run_id, source_id, thread_id, start_ns, start_ns + dur_ns AS end_ns,
        slice_kind IN ('annotation', 'op') AS is_loading
    FROM slice
    WHERE
        (wanted_run IS NULL OR run_id = wanted_run)
        AND (
            slice_kind IN ('annotation', 'op') AND is_data_loading(name)
            OR slice_kind IN ('runtime', 'driver') AND (contains(name, 'ynchronize') OR contains(name, 'emcpy'))
        )
        AND dur_ns > 0
),
loading AS (
    SELECT
        *,
        max(end_ns) OVER (
            PARTITION BY run_id, source_id, thread_id ORDER BY start_ns, end_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reach_ns
    FROM calls
    WHERE is_loading
),
-- the union of these on each thread: intervals that do not overlap, with the time in those before
loaded AS MATERIALIZED (
    SELECT
        run_id, source_id, thread_id, greatest(start_ns, coalesce(reach_ns, start_ns)) AS load_start_ns,
        end_ns AS load_end_ns,
        sum(end_ns - load_start_ns) OVER (PARTITION BY run_id, source_id, thread_id ORDER BY end_ns)
            - (end_ns - load_start_ns) AS before_ns
    FROM loading
    WHERE reach_ns IS NULL OR end_ns > reach_ns
),
late AS (
    SELECT
        told.*,
        coalesce(first.before_ns + least(told.gap_start_ns, first.load_end_ns) - first.load_start_ns, 0)
            AS loaded_before_ns,
        coalesce(waits.end_ns > told.gap_start_ns, false) AS is_waiting
    FROM told
    ASOF LEFT JOIN loaded AS first
        ON first.run_id = told.run_id AND first.source_id = told.source_id
        AND first.thread_id = told.launch_thread_id AND first.load_start_ns <= told.gap_start_ns
    ASOF LEFT JOIN (SELECT * FROM calls WHERE NOT is_loading) AS waits
        ON waits.run_id = told.run_id AND waits.source_id = told.source_id
        AND waits.thread_id = told.launch_thread_id AND waits.start_ns <= told.gap_start_ns
    WHERE told.host_end_ns > told.gap_start_ns
),
split AS MATERIALIZED (
    SELECT
        late.*,
        CAST(
            coalesce(last.before_ns + least(late.host_end_ns, last.load_end_ns) - last.load_start_ns, 0)
            - late.loaded_before_ns AS BIGINT
        ) AS data_loading_ns
    FROM late
    ASOF LEFT JOIN loaded AS last
        ON last.run_id = late.run_id AND last.source_id = late.source_id
        AND last.thread_id = late.launch_thread_id AND last.load_start_ns <= late.host_end_ns
),
parts AS (
    SELECT * REPLACE (NULL AS reason), 'data_loading' AS gap_kind, data_loading_ns AS part_ns FROM split
    UNION ALL BY NAME
    SELECT
        * REPLACE (NULL AS reason), CASE WHEN is_waiting THEN 'synchronisation' ELSE 'host' END AS gap_kind,
        host_end_ns - gap_start_ns - data_loading_ns AS part_ns
    FROM split
    UNION ALL BY NAME
    SELECT *, rest_kind AS gap_kind, gap_end_ns - host_end_ns AS part_ns FROM told
)
SELECT
    run_id, source_id, device_id, gap_start_ns, gap_end_ns, window_start_ns, elapsed_ns, previous_event_id,
    next_event_id, gap_kind, part_ns, reason
FROM parts
WHERE part_ns > 0
