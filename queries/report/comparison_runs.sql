-- purpose = "What a comparison of two runs is about: their devices, sources and steps, and the device time that is left out."
-- source = "docs/metrics.md, section Comparing runs"
-- needs = ["source_file"]
-- depends = ["compared_source", "compared_step", "run_title", "stable_phase", "stable_share", "device_known"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run A, the base"}
-- other_run_id = {type = "VARCHAR", doc = "run B"}
-- by = {type = "VARCHAR", doc = "as of comparison", default = "kernel", choices = ["kernel", "op", "layer", "phase", "category"]}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M", default = "all"}
-- [columns]
-- side_kind = {type = "VARCHAR", doc = "A or B"}
-- run_name = {type = "VARCHAR", doc = "run"}
-- device_names = {type = "VARCHAR", doc = "its devices; NULL where no source says"}
-- source_count = {type = "BIGINT", doc = "sources (ranks) that hold the times compared"}
-- basis_kind = {type = "VARCHAR", doc = "what the times are of: timeline (kernels, copies and sets), kernels, counters or summary (kernels alone), framework or hlo with device or host in brackets (totals of operators), layers (times of layers) or host (operators on the host); NULL where there is nothing of the kind"}
-- step_kind = {type = "VARCHAR", doc = "what the steps are: host, device, reported, detected or iteration"}
-- step_count = {type = "BIGINT", doc = "steps; 0: none"}
-- first_step_index = {type = "BIGINT", doc = "number of the first"}
-- last_step_index = {type = "BIGINT", doc = "number of the last"}
-- work_ns = {type = "BIGINT", doc = "device time of the timeline, in the steps or not"}
-- outside_ns = {type = "BIGINT", doc = "that outside of the steps; 0 where a run has no steps, and all of it is compared"}
-- unstable_reason = {type = "VARCHAR", doc = "why the run has no stable phase; NULL: it has one"}
-- all_step_count = {type = "BIGINT", doc = "steps of the run, whichever were asked for: of its sources the most"}
-- all_mean_ns = {type = "DOUBLE", doc = "mean of the times of all of them"}
-- stable_warning = {type = "VARCHAR", doc = "that the stable steps are under half of them or of their time; NULL: they are not, or there are none"}
-- run_id = {type = "VARCHAR", doc = "id of the run"}
WITH
sides AS (
    SELECT 'a' AS side, * FROM run_title WHERE run_id = $run_id
    UNION ALL
    SELECT 'b', * FROM run_title WHERE run_id = $other_run_id
),
held AS (
    SELECT run_id, any_value(basis_kind) AS basis_kind, count(DISTINCT source_id) AS source_count
    FROM compared_source($run_id, $other_run_id, $by)
    GROUP BY run_id
),
steps AS MATERIALIZED (FROM compared_step($run_id, $other_run_id, $phase, $by)),
step_figures AS (
    SELECT
        side, string_agg(DISTINCT step_kind, ', ' ORDER BY step_kind) AS step_kind,
        count(DISTINCT step_index) AS step_count, min(step_index) AS first_step_index, max(step_index) AS last_step_index
    FROM steps
    GROUP BY side
),
shared AS (SELECT DISTINCT source_id, step_index FROM steps WHERE is_shared),
work AS (
    SELECT
        run_id, CAST(sum(dur_ns) AS BIGINT) AS work_ns,
        CAST(coalesce(sum(dur_ns) FILTER (WHERE shared.step_index IS NULL AND EXISTS (FROM shared)), 0) AS BIGINT) AS outside_ns
    FROM (FROM attribution WHERE run_id IN ($run_id, $other_run_id)) LEFT JOIN shared USING (source_id, step_index)
    GROUP BY run_id
),
stable AS (
    SELECT
        run_id,
        coalesce(
            min(reason),
            CASE WHEN max(first_step_index) > min(last_step_index) THEN 'its sources have no stable step in common' END
        ) AS unstable_reason
    FROM (FROM stable_phase($run_id) UNION FROM stable_phase($other_run_id))
    GROUP BY run_id
),
shares AS (
    SELECT
        run_id, max(all_count) AS all_step_count, ratio(sum(all_ns), sum(all_count)) AS all_mean_ns,
        arg_min(warning, ratio(stable_ns, all_ns)) AS stable_warning
    FROM (FROM stable_share($run_id) UNION FROM stable_share($other_run_id))
    GROUP BY run_id
),
devices AS (
    SELECT known.run_id, string_agg(DISTINCT device_name, ', ' ORDER BY device_name) AS device_names
    -- run by run: a view filtered by IN reads the files of all runs
    FROM (FROM device_known WHERE run_id = $run_id UNION FROM device_known WHERE run_id = $other_run_id) AS known
    LEFT JOIN (FROM device WHERE run_id IN ($run_id, $other_run_id)) AS device
        ON device.run_id = known.run_id AND device.source_id = known.source_id AND device.device_id IS NOT DISTINCT FROM known.device_id
    WHERE device_kind IS DISTINCT FROM 'cpu'
    GROUP BY known.run_id
)
SELECT
    upper(sides.side) AS side_kind, sides.title AS run_name, devices.device_names,
    coalesce(held.source_count, 0) AS source_count, held.basis_kind,
    step_figures.step_kind, coalesce(step_figures.step_count, 0) AS step_count,
    step_figures.first_step_index, step_figures.last_step_index,
    work.work_ns, work.outside_ns,
    CASE WHEN stable.run_id IS NULL THEN 'no steps' ELSE stable.unstable_reason END AS unstable_reason,
    shares.all_step_count, shares.all_mean_ns, shares.stable_warning,
    sides.run_id
FROM sides
LEFT JOIN held ON held.run_id = sides.run_id
LEFT JOIN step_figures ON step_figures.side = sides.side
LEFT JOIN work ON work.run_id = sides.run_id
LEFT JOIN stable ON stable.run_id = sides.run_id
LEFT JOIN shares ON shares.run_id = sides.run_id
LEFT JOIN devices ON devices.run_id = sides.run_id
ORDER BY side_kind
