-- purpose = "Idle time of devices while the launching thread compiled kernels or loaded
-- compiled ones."
-- source = "docs/metrics.md, section gaps"
-- needs = ["attribution"]
-- depends = ["idle_part"]
-- parameters = "run_id phase"
-- columns = "op_name-after win_ns gap_count longest_ns host_name elapsed_ns source_id-rank
-- device_id"
-- finding.title = "The device waits for compilation"
-- finding.evidence = "{gap_count:gap} while the launching thread compiled; longest
-- {longest_ns}[, in {host_name}]"
-- finding.action = "Measure after warm-up; keep shapes fixed (padding, dynamic=True) so that
-- nothing
-- compiles again; keep the caches of compiled code."
-- finding.command = "query largest_gaps"
-- finding.sums = ["gap_count"]
-- finding.pool = "idle"
select
    op_name, part_ns as win_ns, gap_count, longest_ns, host_name, elapsed_ns, source_id, device_id
from idle_part($run_id, $phase)
where idle_kind = 'compile'
order by win_ns desc, source_id, device_id, op_name
