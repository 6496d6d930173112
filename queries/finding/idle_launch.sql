-- purpose = "Idle time of devices between the start of a launch and the start of its work."
-- source = "docs/metrics.md, section gaps"
-- needs = ["attribution"]
-- depends = ["idle_part"]
-- parameters = "run_id phase"
-- columns = "op_name-after win_ns gap_count longest_ns host_name elapsed_ns source_id-rank
-- device_id"
-- finding.title = "Launching takes longer than the work launched"
-- finding.evidence = "{gap_count:gap} while a launch was under way; longest {longest_ns}, before
-- {op_name}"
-- finding.action = "Launch fewer, larger kernels: CUDA graphs, torch.compile, fused operators,
-- larger batches."
-- finding.command = "query launch_bounds"
-- finding.sums = ["gap_count"]
-- finding.pool = "idle"
select
    op_name, part_ns as win_ns, gap_count, longest_ns, host_name, elapsed_ns, source_id, device_id
from idle_part($run_id, $phase)
where idle_kind = 'launch'
order by win_ns desc, source_id, device_id, op_name
