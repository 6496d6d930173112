-- purpose = "Idle time of devices before work below 10 µs that was queued in time, in gaps below 1
-- ms."
-- source = "docs/metrics.md, sections gaps and Findings"
-- needs = ["attribution"]
-- depends = ["idle_part"]
-- parameters = "run_id phase"
-- columns = "op_name-after win_ns gap_count longest_ns elapsed_ns source_id-rank device_id"
-- finding.title = "Short kernels follow each other with gaps"
-- finding.evidence = "{gap_count:gap} before work below 10 µs that was queued in time; most before
-- {op_name}"
-- finding.action = "Fuse them (torch.compile, fused or foreach optimizers), and join streams less
-- often: each launch that depends on another costs the device 1 to 2 µs."
-- finding.command = "query gaps"
-- finding.sums = ["gap_count"]
-- finding.pool = "idle"
select op_name, part_ns as win_ns, gap_count, longest_ns, elapsed_ns, source_id, device_id
from idle_part($run_id, $phase)
where idle_kind = 'between'
order by win_ns desc, source_id, device_id, op_name
