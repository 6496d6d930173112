-- purpose = "Operations per launch of a kernel, by the counters of its run, if all counted
-- launches did the same."
-- source = "docs/metrics.md, section gpu_utilization"
-- needs = ["kernel_counter"]
-- depends = ["kernel_work"]
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
select
    run_id,
    name,
    case
        when count(fp32_flop) = count(*) and min(fp32_flop) = max(fp32_flop) then min(fp32_flop)
    end as fp32_flop,
    case
        when count(total_flop) = count(*) and min(total_flop) = max(total_flop) then min(total_flop)
    end as total_flop
from launches
group by run_id, name
