-- purpose = "Idle time of devices that begins in a call of the host that waits for the device."
-- source = "docs/metrics.md, section gaps"
-- needs = ["attribution"]
-- depends = ["idle_part"]
-- parameters = "run_id phase"
-- columns = "op_name-after win_ns gap_count longest_ns host_name elapsed_ns source_id-rank
-- device_id"
-- finding.title = "The device runs dry after the host waited for it"
-- finding.evidence = "{gap_count:gap} beginning in a call that waits for the device; longest
-- {longest_ns}, before {op_name}[, in {host_name}]"
-- finding.action = "Remove .item(), .cpu(), synchronize() and blocking copies from the loop, or
-- move them to its end."
-- finding.command = "query largest_gaps"
-- finding.sums = ["gap_count"]
-- finding.pool = "idle"
select
    op_name, part_ns as win_ns, gap_count, longest_ns, host_name, elapsed_ns, source_id, device_id
from idle_part($run_id, $phase)
where idle_kind = 'synchronisation'
order by win_ns desc, source_id, device_id, op_name
