-- purpose = "Utilization of each device: kernels over elapsed time, with copies, without
-- communication; sum, union and overlap."
-- source = "Zhu 2018 (TBD), eq. 1 and 2: active time is the union over all streams;
-- docs/metrics.md, section gpu_utilization"
-- needs = ["attribution"]
-- depends = ["busy_device", "device_rank"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M", default = "all"}
-- [columns]
-- rank_index = {type = "BIGINT", doc = "rank; NULL if unknown"}
-- device_id = {type = "BIGINT", doc = "device; NULL if unknown"}
-- busy_ratio = {type = "DOUBLE", doc = "busy_ns / elapsed_ns: GPU compute utilization"}
-- busy_with_transfers_ratio = {type = "DOUBLE", doc = "busy_with_transfers_ns / elapsed_ns"}
-- compute_ratio = {type = "DOUBLE", doc = "compute_ns / elapsed_ns"}
-- elapsed_ns = {type = "BIGINT", doc = "time of the steps; for all steps, from the first start to
-- the last end of work on any device of the source"}
-- busy_ns = {type = "BIGINT", doc = "time with at least one kernel running (union)"}
-- busy_with_transfers_ns = {type = "BIGINT", doc = "time with a kernel, copy or memset running
-- (union)"}
-- compute_ns = {type = "BIGINT", doc = "time with a kernel other than communication running
-- (union)"}
-- sum_ns = {type = "BIGINT", doc = "sum of kernel durations"}
-- overlap_ns = {type = "BIGINT", doc = "sum_ns - busy_ns: time counted more than once"}
-- overlapping_count = {type = "BIGINT", doc = "kernels that start while another kernel runs on
-- the device"}
-- kernel_count = {type = "BIGINT", doc = "kernels with known start and duration"}
-- fp32_utilization_ratio = {type = "DOUBLE", doc = "FP32 operations / (FP32 peak x busy_ns); NULL
-- unless known for every kernel"}
-- fp32_flop = {type = "DOUBLE", doc = "FP32 operations, by counters of the run; NULL unless known
-- for every kernel, or for some by joined counters"}
-- fp32_reason = {type = "VARCHAR", doc = "why the FP32 utilization is NULL or a lower bound"}
-- fp32_known_ratio = {type = "DOUBLE", doc = "share of the kernel time with known FP32
-- operations; below 1, the utilization of a joined run is a lower bound; NULL if none are known"}
-- source_id = {type = "VARCHAR", doc = "source (one rank of a job)"}
select
    device_rank.rank_index,
    busy.device_id,
    ratio(busy_ns, elapsed_ns) as busy_ratio,
    ratio(busy_with_transfers_ns, elapsed_ns) as busy_with_transfers_ratio,
    ratio(compute_ns, elapsed_ns) as compute_ratio,
    elapsed_ns,
    busy_ns,
    busy_with_transfers_ns,
    compute_ns,
    sum_ns,
    sum_ns - busy_ns as overlap_ns,
    overlapping_count,
    kernel_count,
    ratio(fp32_flop * 1e9, fp32_flop_per_s * busy_ns) as fp32_utilization_ratio,
    fp32_flop,
    fp32_reason,
    fp32_known_ratio,
    busy.source_id
from busy_device($run_id, $phase) as busy
left join
    device_rank
    on device_rank.run_id = $run_id
    and device_rank.source_id = busy.source_id
    and device_rank.device_id is not distinct from busy.device_id
order by device_rank.rank_index nulls last, busy.source_id, busy.device_id nulls last
