-- purpose = "Operations that one launch of a kernel does, by the counters of its run: known where every launch that was counted did the same."
-- source = "docs/metrics.md, section gpu_utilization"
-- needs = ["kernel_counter"]
-- depends = ["kernel_work"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- name = {type = "VARCHAR", doc = "kernel, in full"}
-- fp32_flop = {type = "DOUBLE", doc = "FP32 operations, not those of tensor cores"}
-- total_flop = {type = "DOUBLE", doc = "operations of every precision, FP16 as work alone"}
WITH
launches AS (
    SELECT
        run_id, name, ratio(fp32_flop, launch_count) AS fp32_flop, ratio(total_arithmetic_flop, launch_count) AS total_flop
    FROM kernel_work
    WHERE wanted_run IS NULL OR run_id = wanted_run
)
SELECT
    run_id, name,
    CASE WHEN count(fp32_flop) = count(*) AND min(fp32_flop) = max(fp32_flop) THEN min(fp32_flop) END AS fp32_flop,
    CASE WHEN count(total_flop) = count(*) AND min(total_flop) = max(total_flop) THEN min(total_flop) END AS total_flop
FROM launches
GROUP BY run_id, name
