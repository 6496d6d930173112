-- purpose = "How busy each device was: kernels against elapsed time, with copies and without
-- communication; sum, union and overlap."
-- source = "Zhu 2018 (TBD), eq. 1 and 2: active time is the union over all streams;
-- docs/metrics.md, section gpu_utilization"
-- needs = ["attribution"]
-- depends = ["busy_device", "device_rank"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M", default = "all"}
-- [columns]
-- rank_index = {type = "BIGINT", doc = "rank; NULL where the file does not say"}
-- device_id = {type = "BIGINT", doc = "device; NULL where the file does not say"}
-- busy_ratio = {type = "DOUBLE", doc = "busy_ns / elapsed_ns: GPU compute utilization"}
-- busy_with_transfers_ratio = {type = "DOUBLE", doc = "busy_with_transfers_ns / elapsed_ns"}
-- compute_ratio = {type = "DOUBLE", doc = "compute_ns / elapsed_ns"}
-- elapsed_ns = {type = "BIGINT", doc = "time of the steps; of all of them from the first start to
-- the last end of work on any device of the source"}
-- busy_ns = {type = "BIGINT", doc = "time with at least one kernel running (union)"}
-- busy_with_transfers_ns = {type = "BIGINT", doc = "time with a kernel, copy or set running
-- (union)"}
-- compute_ns = {type = "BIGINT", doc = "time with a kernel running that is no communication
-- (union)"}
-- sum_ns = {type = "BIGINT", doc = "sum of kernel durations"}
-- overlap_ns = {type = "BIGINT", doc = "sum_ns - busy_ns: time counted more than once"}
-- overlapping_count = {type = "BIGINT", doc = "kernels that begin while another still runs on the
-- device"}
-- kernel_count = {type = "BIGINT", doc = "kernels whose start and duration are known"}
-- fp32_utilization_ratio = {type = "DOUBLE", doc = "FP32 operations / (FP32 peak x busy_ns); NULL
-- unless those of every kernel are known"}
-- fp32_flop = {type = "DOUBLE", doc = "FP32 operations, by counters of the run; NULL unless those
-- of every kernel are known, or of some by joined counters"}
-- fp32_reason = {type = "VARCHAR", doc = "why the FP32 utilization is NULL, or a lower bound"}
-- fp32_known_ratio = {type = "DOUBLE", doc = "share of the kernel time whose FP32 operations are
-- known: below 1 the utilization of a joined run is a lower bound; NULL without any"}
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
