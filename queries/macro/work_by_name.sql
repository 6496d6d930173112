-- purpose = "Operations that one launch of a kernel does, by the counters of its run: known where
-- every launch that was counted did the same."
-- source = "docs/metrics.md, section gpu_utilization"
-- needs = ["kernel_counter"]
-- depends = ["kernel_work"]
-- parameters = "wanted_run"
-- columns = "run_id name fp32_flop total_flop"
-- fp32_flop = "DOUBLE: FP32 operations, excluding those of tensor cores"
-- total_flop = "operations of every precision, FP16 as work alone"
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
