-- purpose = "Idle time of devices in gaps below 1 ms in which the host had not begun to launch the
-- next work."
-- source = "docs/metrics.md, section gaps"
-- needs = ["attribution"]
-- depends = ["idle_part"]
-- parameters = "run_id phase"
-- columns = "op_name-after win_ns gap_count longest_ns host_name elapsed_ns source_id-rank
-- device_id"
-- finding.title = "The host launches work too slowly"
-- finding.evidence = "{gap_count:gap} below 1 ms before a launch began, most before {op_name}"
-- finding.action = "Launch fewer, larger kernels: torch.compile, CUDA graphs, fused or foreach
-- optimizers, larger batches; less Python between them."
-- finding.command = "query launch_bounds"
-- finding.sums = ["gap_count"]
-- finding.pool = "idle"
select
    op_name, part_ns as win_ns, gap_count, longest_ns, host_name, elapsed_ns, source_id, device_id
from idle_part($run_id, $phase)
where idle_kind = 'host'
order by win_ns desc, source_id, device_id, op_name
