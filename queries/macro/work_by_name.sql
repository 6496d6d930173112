-- purpose = "Operations that one launch of a kernel does, by the counters of its run: known where
-- every launch that was counted did the same."
-- source = "docs/metrics.md, section gpu_utilization"
-- needs = ["kernel_counter"]
-- depends = ["kernel_work", "shared_by_all"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all runs"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- name = {type = "VARCHAR", doc = "kernel, in full"}
-- fp32_flop = {type = "DOUBLE", doc = "FP32 operations, not those of tensor cores"}
-- total_flop = {type = "DOUBLE", doc = "operations of every precision, FP16 as work alone"}
with
    launches as (
        select
            run_id,
            name,
            ratio(fp32_flop, launch_count) as fp32_flop,
            ratio(total_arithmetic_flop, launch_count) as total_flop
        from kernel_work
        where wanted_run is null or run_id = wanted_run
    )
select run_id, name, shared_by_all(fp32_flop) as fp32_flop, shared_by_all(total_flop) as total_flop
from launches
group by run_id, name
