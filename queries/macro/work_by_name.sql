-- purpose = "Operations per launch of a kernel, by the counters of its run, if all counted
-- launches did the same."
-- source = "docs/metrics.md, section gpu_utilization"
-- needs = ["kernel_counter"]
-- depends = ["kernel_work", "shared_by_all"]
-- parameters = "wanted_run"
-- columns = "run_id name fp32_flop total_flop"
-- fp32_flop = "DOUBLE: FP32 operations, excluding those of tensor cores"
-- total_flop = "operations of all precisions, FP16 only as work"
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
