-- purpose = "Idle time of devices without a cause in the file: launches unknown, or long after the
-- launch."
-- source = "docs/metrics.md, sections gaps and Findings"
-- needs = ["attribution"]
-- depends = ["idle_part"]
-- parameters = "run_id phase"
-- columns = "op_name-after win_ns gap_count longest_ns reason-idle elapsed_ns source_id-rank
-- device_id"
-- reason-idle = "VARCHAR: why, for most of the time"
-- finding.title = "The device waits for something that the file does not show"
-- finding.evidence = "{gap_count:gap}, most: {reason}; longest {longest_ns}[, before {op_name}]"
-- finding.action = "Look at the longest gaps: work that was not recorded (graphs, other processes),
-- waits for events of other streams, or launches outside of the recording."
-- finding.command = "query largest_gaps"
-- finding.sums = ["gap_count"]
-- finding.pool = "idle"
select op_name, part_ns as win_ns, gap_count, longest_ns, reason, elapsed_ns, source_id, device_id
from idle_part($run_id, $phase)
where idle_kind = 'unexplained'
order by win_ns desc, source_id, device_id, op_name
