-- purpose = "Time of launches whose counters were recorded without any: of the launches of the same kernel that the run has times of."
-- source = "docs/metrics.md, section Which kernels count"
-- needs = ["kernel_counter"]
-- depends = ["counter_source", "kernel_launch"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source of the counters"}
-- event_id = {type = "BIGINT", doc = "the launch: `kernel.event_id`"}
-- other_ns = {type = "BIGINT", doc = "duration in the other recording, of all launches the row stands for"}
WITH
counted AS NOT MATERIALIZED (
    SELECT
        run_id, source_id, event_id, kernel.name, kernel.device_id, kernel.process_id,
        coalesce(kernel.launch_count, 1) AS launch_count
    FROM kernel_counter
    JOIN counter_source USING (run_id, source_id)
    JOIN kernel USING (run_id, source_id, event_id)
    WHERE kernel.dur_ns IS NULL AND (elapsed_cycles IS NULL OR sm_clock_hz IS NULL)
),
timed AS NOT MATERIALIZED (
    SELECT run_id, source_id, event_id, name, device_id, launch_count, start_ns, dur_ns
    FROM kernel_launch JOIN (SELECT DISTINCT run_id FROM counted) USING (run_id)
),
-- of a run with one device, or none that is named, the device says nothing
counted_of_device AS (
    SELECT * REPLACE (
        CASE
            WHEN min(coalesce(device_id, -1)) OVER run = max(coalesce(device_id, -1)) OVER run THEN -1
            ELSE device_id
        END AS device_id
    )
    FROM counted WINDOW run AS (PARTITION BY run_id)
),
timed_of_device AS (
    SELECT * REPLACE (
        CASE
            WHEN min(coalesce(device_id, -1)) OVER run = max(coalesce(device_id, -1)) OVER run THEN -1
            ELSE device_id
        END AS device_id
    )
    FROM timed WINDOW run AS (PARTITION BY run_id)
),
-- launches in order: each row stands for those from `first_launch` to `last_launch`
counted_in_order AS (
    SELECT
        *,
        sum(launch_count) OVER so_far AS last_launch,
        last_launch - launch_count AS first_launch,
        sum(launch_count) OVER own AS total_count,
        count(*) OVER own = 1 OR (min(process_id) OVER own = max(process_id) OVER own) AS is_in_order
    FROM counted_of_device
    WINDOW
        own AS (PARTITION BY run_id, name, device_id),
        so_far AS (own ORDER BY source_id, event_id ROWS UNBOUNDED PRECEDING)
),
timed_in_order AS (
    SELECT
        *,
        sum(launch_count) OVER so_far AS last_launch,
        last_launch - launch_count AS first_launch,
        sum(launch_count) OVER own AS total_count
    FROM timed_of_device
    WINDOW
        own AS (PARTITION BY run_id, name, device_id),
        so_far AS (own ORDER BY start_ns, source_id, event_id ROWS UNBOUNDED PRECEDING)
)
SELECT
    counted.run_id, counted.source_id, counted.event_id,
    CAST(sum(timed.dur_ns) AS BIGINT) AS other_ns
FROM counted_in_order AS counted
JOIN timed_in_order AS timed
    ON timed.run_id = counted.run_id
    AND timed.name = counted.name
    AND timed.device_id = counted.device_id
    AND timed.total_count = counted.total_count
    AND timed.first_launch >= counted.first_launch
    AND timed.last_launch <= counted.last_launch
WHERE counted.is_in_order
GROUP BY counted.run_id, counted.source_id, counted.event_id, counted.launch_count
HAVING sum(timed.launch_count) = counted.launch_count AND count(timed.dur_ns) = count(*)
