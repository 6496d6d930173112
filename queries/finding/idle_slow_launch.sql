-- purpose = "Idle time of devices in launch calls that take 1 ms or more."
-- source = "docs/metrics.md, sections gaps and Findings"
-- needs = ["attribution"]
-- depends = ["idle_part"]
-- parameters = "run_id phase"
-- columns = "op_name-after win_ns gap_count longest_ns host_name elapsed_ns source_id-rank
-- device_id"
-- finding.title = "Launch calls take a millisecond or more"
-- finding.evidence = "{gap_count:call}; longest {longest_ns}, before {op_name}[, in {host_name}]"
-- finding.action = "Warm up before recording: first launches load code, compile, tune and allocate.
-- Later, look for allocations (cudaMalloc, cudaFree) and full queues."
-- finding.command = "query largest_gaps"
-- finding.sums = ["gap_count"]
-- finding.pool = "idle"
select
    op_name, part_ns as win_ns, gap_count, longest_ns, host_name, elapsed_ns, source_id, device_id
from idle_part($run_id, $phase)
where idle_kind = 'slow_launch'
order by win_ns desc, source_id, device_id, op_name
