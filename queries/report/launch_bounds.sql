-- purpose = "How much of the time launching kernels costs, at least and at most, as the timeline has it; beside launches times the time of one."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II and III: launch overhead N L; docs/metrics.md, section launch_bounds"
-- needs = ["attribution"]
-- depends = ["device_work", "step_window", "device_gap", "work_by_name", "device_peak", "device_rank"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M", default = "all"}
-- by = {type = "VARCHAR", doc = "what a row stands for: device (of a source), or name (a kernel, of all devices and sources)", default = "device", choices = ["device", "name"]}
-- launch_overhead_ns = {type = "DOUBLE", doc = "time of one launch; if not given, that of the device", optional = true}
-- [columns]
-- rank_index = {type = "BIGINT", doc = "by device: rank; NULL where the file does not say"}
-- device_id = {type = "BIGINT", doc = "by device: device; NULL where the file does not say"}
-- name = {type = "VARCHAR", doc = "by name: kernel; a graph's launch counts for the kernel of it that begins first"}
-- lower_ratio = {type = "DOUBLE", doc = "lower_ns / elapsed_ns"}
-- upper_ratio = {type = "DOUBLE", doc = "upper_ns / elapsed_ns; above 1 where calls overlap with work, or with each other"}
-- lower_ns = {type = "BIGINT", doc = "time in which the device was idle and the launch call of the next kernel was in flight"}
-- upper_ns = {type = "BIGINT", doc = "call_ns + delay_ns"}
-- launch_count = {type = "BIGINT", doc = "N: launch calls; a graph is one"}
-- coverage_ratio = {type = "DOUBLE", doc = "share of the kernels whose launch is in the file"}
-- mean_launch_ns = {type = "DOUBLE", doc = "call_ns / launch_count"}
-- launches_per_step = {type = "DOUBLE", doc = "launch calls in steps / steps that have any"}
-- mean_queue_depth = {type = "DOUBLE", doc = "kernels whose call has returned and that have not begun, mean over the time"}
-- max_queue_depth = {type = "BIGINT", doc = "most of these at once, on one device"}
-- mean_delay_ns = {type = "DOUBLE", doc = "from a call's end to the start of its first kernel, waiting for other work too; without those that are negative"}
-- call_ns = {type = "BIGINT", doc = "sum of the durations of the launch calls"}
-- delay_ns = {type = "BIGINT", doc = "from a call's end to the start of its first kernel, where the device was idle all that time"}
-- overhead_ns = {type = "DOUBLE", doc = "N x L: launch_count x per_launch_ns"}
-- per_launch_ns = {type = "DOUBLE", doc = "L: time of one launch of this device"}
-- kernel_count = {type = "BIGINT", doc = "kernels"}
-- graph_launch_count = {type = "BIGINT", doc = "calls of them that launched several kernels, copies or sets"}
-- coverage_time_ratio = {type = "DOUBLE", doc = "the same by their durations"}
-- negative_delay_count = {type = "BIGINT", doc = "calls whose first kernel began before they returned: without delay"}
-- disagreeing_count = {type = "BIGINT", doc = "calls whose first kernel began before they did: the clocks of host and device disagree"}
-- elapsed_ns = {type = "BIGINT", doc = "time of the steps; by name that of all devices added up"}
-- total_flop = {type = "DOUBLE", doc = "operations, FP16 packed, by counters of the run; NULL unless those of every kernel are known"}
-- overhead_ceiling_flop_per_s = {type = "DOUBLE", doc = "operations / (N x L): the rate that launching alone allows"}
-- reason = {type = "VARCHAR", doc = "why the bounds are NULL, or not of all kernels"}
-- overhead_reason = {type = "VARCHAR", doc = "why overhead_ns or the ceiling is NULL"}
-- source_id = {type = "VARCHAR", doc = "by device: source (one rank of a job)"}
WITH
windows AS MATERIALIZED (
    SELECT * FROM step_window($run_id, $phase)
),
kernels AS MATERIALIZED (
    SELECT
        kernel.source_id, kernel.device_id, kernel.event_id, kernel.name, kernel.start_ns, kernel.end_ns,
        kernel.launch_event_id, kernel.launch_start_ns, kernel.launch_end_ns, kernel.launch_work_count,
        kernel.step_index, windows.end_ns - windows.start_ns AS elapsed_ns,
        CASE WHEN kernel.launch_end_ns IS NOT NULL THEN greatest(kernel.launch_end_ns, windows.start_ns) END AS queued_ns,
        CASE WHEN $by = 'device' THEN kernel.source_id END AS place_source,
        CASE WHEN $by = 'device' THEN kernel.device_id END AS place_device,
        CASE WHEN $by = 'name' THEN kernel.name END AS place_name
    FROM device_work AS kernel
    JOIN windows ON windows.source_id = kernel.source_id
    WHERE
        kernel.run_id = $run_id AND kernel.work_kind = 'kernel'
        AND (windows.first_step_index IS NULL OR (kernel.start_ns >= windows.start_ns AND kernel.start_ns < windows.end_ns))
),
-- a number for what a row stands for: names are long
places AS MATERIALIZED (
    SELECT *, row_number() OVER () AS place_index FROM (SELECT DISTINCT place_source, place_device, place_name FROM kernels)
),
timed AS MATERIALIZED (
    SELECT
        kernels.*,
        places.place_index,
        idle.call_ns AS in_flight_ns,
        CASE WHEN idle.rest_kind = 'launch' THEN idle.gap_end_ns - idle.host_end_ns - idle.call_ns END AS delay_ns
    FROM kernels
    JOIN places
        ON places.place_source IS NOT DISTINCT FROM kernels.place_source
        AND places.place_device IS NOT DISTINCT FROM kernels.place_device
        AND places.place_name IS NOT DISTINCT FROM kernels.place_name
    LEFT JOIN device_gap($run_id, $phase) AS idle
        ON idle.source_id = kernels.source_id AND idle.next_event_id = kernels.event_id
),
-- the first kernel of a graph stands for its launch
graphs AS (
    SELECT
        source_id, device_id, launch_event_id,
        arg_min(event_id, (start_ns, event_id)) AS first_event_id,
        sum(in_flight_ns) AS in_flight_ns
    FROM timed
    WHERE launch_work_count > 1
    GROUP BY source_id, device_id, launch_event_id
),
launched AS (
    SELECT
        timed.* REPLACE (coalesce(graphs.in_flight_ns, timed.in_flight_ns) AS in_flight_ns),
        timed.launch_event_id IS NOT NULL AND coalesce(graphs.first_event_id, timed.event_id) = timed.event_id AS is_first,
        timed.start_ns - timed.launch_end_ns AS wait_ns,
        work.total_flop, device_peak.launch_overhead_ns
    FROM timed
    LEFT JOIN graphs
        ON graphs.source_id = timed.source_id AND graphs.device_id IS NOT DISTINCT FROM timed.device_id
        AND graphs.launch_event_id = timed.launch_event_id
    LEFT JOIN work_by_name($run_id) AS work ON work.name = timed.name
    LEFT JOIN device_peak
        ON device_peak.run_id = $run_id AND device_peak.source_id = timed.source_id
        AND device_peak.device_id IS NOT DISTINCT FROM timed.device_id
),
added AS (
    SELECT
        place_index,
        count(*) AS kernel_count,
        count(launch_event_id) AS known_count,
        sum(end_ns - start_ns) AS kernel_ns,
        sum(end_ns - start_ns) FILTER (WHERE launch_event_id IS NOT NULL) AS known_ns,
        count(*) FILTER (WHERE is_first) AS launch_count,
        count(*) FILTER (WHERE is_first AND launch_work_count > 1) AS graph_launch_count,
        count(*) FILTER (WHERE is_first AND step_index IS NOT NULL) AS step_launch_count,
        count(DISTINCT (source_id, step_index)) FILTER (WHERE is_first AND step_index IS NOT NULL) AS step_count,
        sum(launch_end_ns - launch_start_ns) FILTER (WHERE is_first) AS call_ns,
        -- NULL where the clocks agree on no call: then nothing is known of them
        sum(coalesce(in_flight_ns, 0)) FILTER (WHERE is_first AND start_ns >= launch_start_ns) AS lower_ns,
        sum(coalesce(delay_ns, 0)) FILTER (WHERE is_first AND start_ns >= launch_start_ns) AS delay_ns,
        avg(wait_ns) FILTER (WHERE is_first AND wait_ns >= 0) AS mean_delay_ns,
        count(*) FILTER (WHERE is_first AND wait_ns < 0) AS negative_delay_count,
        count(*) FILTER (WHERE is_first AND start_ns < launch_start_ns) AS disagreeing_count,
        sum(greatest(start_ns - queued_ns, 0)) FILTER (WHERE start_ns >= launch_start_ns) AS queued_ns,
        any_value(elapsed_ns) AS elapsed_ns,
        CASE WHEN count(total_flop) = count(*) THEN sum(total_flop) END AS total_flop,
        coalesce(
            CAST($launch_overhead_ns AS DOUBLE),
            CASE
                WHEN count(launch_overhead_ns) = count(*) AND min(launch_overhead_ns) = max(launch_overhead_ns)
                THEN min(launch_overhead_ns)
            END
        ) AS per_launch_ns
    FROM launched
    GROUP BY place_index
),
changes AS (
    SELECT source_id, device_id, place_index, unnest([queued_ns, start_ns]) AS time_ns, unnest([1, -1]) AS change
    FROM timed
    WHERE start_ns > queued_ns
),
depths AS (
    SELECT
        place_index,
        sum(change) OVER (
            PARTITION BY source_id, device_id, place_index ORDER BY time_ns, change
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS depth
    FROM changes
),
deepest AS (
    SELECT place_index, max(depth) AS max_queue_depth
    FROM depths
    GROUP BY place_index
),
devices AS (
    SELECT sum(elapsed_ns) AS elapsed_ns FROM (SELECT DISTINCT source_id, device_id, elapsed_ns FROM kernels)
),
measured AS (
    SELECT
        places.*,
        added.* EXCLUDE (place_index) REPLACE (
            CAST(CASE WHEN $by = 'device' THEN added.elapsed_ns ELSE devices.elapsed_ns END AS BIGINT) AS elapsed_ns
        ),
        CASE WHEN added.queued_ns IS NOT NULL THEN coalesce(deepest.max_queue_depth, 0) END AS max_queue_depth,
        CASE WHEN added.launch_count > 0 THEN added.launch_count * added.per_launch_ns END AS overhead_ns
    FROM added
    CROSS JOIN devices
    JOIN places ON places.place_index = added.place_index
    LEFT JOIN deepest ON deepest.place_index = added.place_index
)
SELECT
    device_rank.rank_index, measured.place_device AS device_id, measured.place_name AS name,
    ratio(measured.lower_ns, measured.elapsed_ns) AS lower_ratio,
    ratio(measured.call_ns + measured.delay_ns, measured.elapsed_ns) AS upper_ratio,
    CAST(measured.lower_ns AS BIGINT) AS lower_ns,
    CAST(measured.call_ns + measured.delay_ns AS BIGINT) AS upper_ns,
    measured.launch_count,
    ratio(measured.known_count, measured.kernel_count) AS coverage_ratio,
    ratio(measured.call_ns, measured.launch_count) AS mean_launch_ns,
    ratio(measured.step_launch_count, measured.step_count) AS launches_per_step,
    ratio(measured.queued_ns, measured.elapsed_ns) AS mean_queue_depth,
    CAST(measured.max_queue_depth AS BIGINT) AS max_queue_depth,
    measured.mean_delay_ns,
    CAST(measured.call_ns AS BIGINT) AS call_ns,
    CAST(measured.delay_ns AS BIGINT) AS delay_ns,
    measured.overhead_ns, measured.per_launch_ns, measured.kernel_count, measured.graph_launch_count,
    ratio(coalesce(measured.known_ns, 0), measured.kernel_ns) AS coverage_time_ratio,
    measured.negative_delay_count, measured.disagreeing_count, measured.elapsed_ns, measured.total_flop,
    ratio(measured.total_flop * 1e9, measured.overhead_ns) AS overhead_ceiling_flop_per_s,
    CASE
        WHEN measured.known_count = 0 THEN 'launches not in the file'
        ELSE nullif(concat_ws(
            '; ',
            CASE
                WHEN measured.known_count < measured.kernel_count
                THEN 'launches of ' || (measured.kernel_count - measured.known_count) || ' of ' || measured.kernel_count || ' kernels not in the file'
            END,
            CASE
                WHEN measured.disagreeing_count > 0
                THEN 'clocks disagree: ' || measured.disagreeing_count || ' of ' || measured.launch_count || ' calls begin after their kernel'
            END
        ), '')
    END AS reason,
    CASE
        WHEN measured.launch_count = 0 THEN 'launches not in the file'
        WHEN measured.per_launch_ns IS NULL THEN 'launch overhead of this device not known; give launch_overhead_ns'
        WHEN measured.total_flop IS NULL THEN 'operations of the kernels not known'
    END AS overhead_reason,
    measured.place_source AS source_id
FROM measured
LEFT JOIN device_rank
    ON device_rank.run_id = $run_id AND device_rank.source_id = measured.place_source AND device_rank.device_id IS NOT DISTINCT FROM measured.place_device
ORDER BY
    device_rank.rank_index NULLS LAST, measured.place_source, measured.place_device NULLS LAST,
    measured.lower_ns DESC NULLS LAST, measured.kernel_count DESC, measured.place_name
