-- purpose = "Utilization of each device: kernels over elapsed time, with copies, without
-- communication; sum, union and overlap."
-- source = "Zhu 2018 (TBD), eq. 1 and 2: active time is the union over all streams;
-- docs/metrics.md, section gpu_utilization"
-- topic = "time"
-- needs = ["attribution"]
-- depends = ["busy_device", "device_rank", "possible_ratio", "above_peak"]
-- parameters = "run_id phase"
-- columns = "rank_index device_id busy_ratio busy_with_transfers_ratio compute_ratio elapsed_ns
-- busy_ns busy_with_transfers_ns compute_ns-busy sum_ns-kernels overlap_ns overlapping_count
-- kernel_count-timed fp32_utilization_ratio fp32_flop-run fp32_reason-utilization
-- fp32_known_ratio source_id-rank"
-- answer = "busy_ratio fp32_utilization_ratio"
-- busy_with_transfers_ratio = "DOUBLE: busy_with_transfers_ns / elapsed_ns"
-- compute_ratio = "DOUBLE: compute_ns / elapsed_ns"
-- overlap_ns = "BIGINT: sum_ns - busy_ns: time counted more than once"
-- fp32_utilization_ratio = "FP32 operations / (FP32 peak x busy_ns); NULL unless known for every
-- kernel, or above 1.05"
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
    possible_ratio(fp32_flop * 1e9, fp32_flop_per_s * busy_ns) as fp32_utilization_ratio,
    fp32_flop,
    coalesce(
        above_peak(
            ratio(fp32_flop * 1e9, fp32_flop_per_s * busy_ns),
            'operations (measured)',
            'the peak fp32'
        ),
        fp32_reason
    ) as fp32_reason,
    fp32_known_ratio,
    busy.source_id
from busy_device($run_id, $phase) as busy
left join
    device_rank
    on device_rank.run_id = $run_id
    and device_rank.source_id = busy.source_id
    and device_rank.device_id is not distinct from busy.device_id
order by device_rank.rank_index nulls last, busy.source_id, busy.device_id nulls last
