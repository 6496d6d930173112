-- purpose = "Idle time of devices while the launching thread loaded data."
-- source = "docs/metrics.md, section gaps"
-- needs = ["attribution"]
-- depends = ["idle_part"]
-- parameters = "run_id phase"
-- columns = "op_name-after win_ns gap_count longest_ns host_name elapsed_ns source_id-rank
-- device_id"
-- finding.title = "The device waits for data"
-- finding.evidence = "{gap_count:gap} while the launching thread loaded data; longest
-- {longest_ns}[, in {host_name}]"
-- finding.action = "Load in other processes (num_workers), pin memory, prefetch, and decode before
-- training."
-- finding.command = "query largest_gaps"
-- finding.sums = ["gap_count"]
-- finding.pool = "idle"
select
    op_name, part_ns as win_ns, gap_count, longest_ns, host_name, elapsed_ns, source_id, device_id
from idle_part($run_id, $phase)
where idle_kind = 'data_loading'
order by win_ns desc, source_id, device_id, op_name
