-- purpose = "The work that ran on the devices in the time of some steps, cut to that time; whoever launched it."
-- source = "docs/metrics.md, section gpu_utilization"
-- needs = ["attribution"]
-- depends = ["device_work", "step_window"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- wanted_phase = {type = "VARCHAR", doc = "all, stable or N..M (step numbers, both included)"}
-- [columns]
-- start_ns = {type = "BIGINT", doc = "start, not before that of the steps; beside these, the columns of device_work"}
-- end_ns = {type = "BIGINT", doc = "end, not after that of the steps"}
-- elapsed_ns = {type = "BIGINT", doc = "time of the steps on the devices of the source"}
SELECT
    work.* REPLACE (
        greatest(work.start_ns, windows.start_ns) AS start_ns, least(work.end_ns, windows.end_ns) AS end_ns
    ),
    windows.end_ns - windows.start_ns AS elapsed_ns
FROM device_work AS work
JOIN step_window(wanted_run, wanted_phase) AS windows
    ON windows.run_id = work.run_id AND windows.source_id = work.source_id
WHERE
    (wanted_run IS NULL OR work.run_id = wanted_run)
    AND (windows.first_step_index IS NULL OR (work.start_ns < windows.end_ns AND work.end_ns > windows.start_ns))
