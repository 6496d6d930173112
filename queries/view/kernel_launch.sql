-- purpose = "Every launch of a run once: not again in another export of the same report, nor as counters beside a timeline."
-- source = "docs/metrics.md: which kernels count"
-- needs = ["kernel"]
-- depends = ["launch_source", "duration_of", "copy_of"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- event_id = {type = "BIGINT", doc = "place in the source"}
-- name = {type = "VARCHAR", doc = "kernel name, in full"}
-- device_id = {type = "BIGINT", doc = "device"}
-- launch_count = {type = "BIGINT", doc = "launches the row stands for"}
-- start_ns = {type = "BIGINT", doc = "start; NULL without a timeline"}
-- dur_ns = {type = "BIGINT", doc = "duration, of all launches the row stands for; as measured, or cycles / clock"}
WITH
-- not materialized: who asks for one run is to read the files of that run alone
launches AS NOT MATERIALIZED (
    SELECT
        kernel.run_id, kernel.source_id, kernel.event_id, kernel.name, kernel.device_id,
        coalesce(kernel.launch_count, 1) AS launch_count, kernel.start_ns, kernel.dur_ns,
        kernel.launch_key, launch_source.recording_kind, launch_source.page_kind,
        launch_source.is_shared
    FROM kernel JOIN launch_source USING (run_id, source_id)
    -- counters in a file that has times as well are of launches that the times are of
    WHERE kernel.start_ns IS NOT NULL OR kernel.dur_ns IS NOT NULL OR is_timed IS DISTINCT FROM TRUE
),
counted AS NOT MATERIALIZED (
    SELECT
        launches.* REPLACE (
            duration_of(launches.dur_ns, kernel_counter.elapsed_cycles, kernel_counter.sm_clock_hz) AS dur_ns
        ),
        launches.dur_ns AS measured_ns,
        kernel_counter.elapsed_cycles
    FROM launches LEFT JOIN kernel_counter USING (run_id, source_id, event_id)
    WHERE launches.recording_kind = 'counters'
),
shared AS NOT MATERIALIZED (
    SELECT *, copy_of(run_id, launch_key, page_kind, elapsed_cycles, measured_ns) AS copy_index
    FROM counted
    WHERE is_shared
)
SELECT run_id, source_id, event_id, name, device_id, launch_count, start_ns, dur_ns FROM launches
WHERE recording_kind <> 'counters'
UNION ALL
SELECT run_id, source_id, event_id, name, device_id, launch_count, start_ns, dur_ns FROM counted
WHERE NOT is_shared
UNION ALL
SELECT run_id, source_id, event_id, name, device_id, launch_count, start_ns, dur_ns FROM shared
QUALIFY launch_key IS NULL OR row_number() OVER (
    PARTITION BY run_id, launch_key, copy_index
    ORDER BY dur_ns IS NULL, measured_ns IS NULL, source_id, event_id
) = 1
