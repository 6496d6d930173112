-- purpose = "Idle time of devices in gaps of at least 1 ms in which the host had not begun to
-- launch the next work."
-- source = "docs/metrics.md, section gaps"
-- needs = ["attribution"]
-- depends = ["idle_part"]
-- parameters = "run_id phase"
-- columns = "op_name-after win_ns gap_count longest_ns host_name elapsed_ns source_id-rank
-- device_id"
-- finding.title = "The host stalls while the device waits"
-- finding.evidence = "{gap_count:gap} of at least 1 ms before a launch began; longest {longest_ns},
-- before {op_name}[, while the host was in {host_name}]"
-- finding.action = "Find what the host does in these gaps (sleep, logging, checkpoints, garbage
-- collection, input), and move it out of the loop or to another thread."
-- finding.command = "query largest_gaps"
-- finding.sums = ["gap_count"]
-- finding.pool = "idle"
select
    op_name, part_ns as win_ns, gap_count, longest_ns, host_name, elapsed_ns, source_id, device_id
from idle_part($run_id, $phase)
where idle_kind = 'stall'
order by win_ns desc, source_id, device_id, op_name
