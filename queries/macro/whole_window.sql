-- purpose = "Time of all device work of each source."
-- source = "docs/metrics.md, section gpu_utilization"
-- needs = ["attribution"]
-- depends = ["work_span"]
-- is_kept = true
-- parameters = "wanted_run"
-- columns = "run_id source_id start_ns end_ns"
-- start_ns = "first start; NULL without device work"
-- end_ns = "last end; NULL without device work"
select run_id, source_id, min(start_ns) as start_ns, max(end_ns) as end_ns
from
    (
        select run_id, source_id, start_ns, end_ns
        from work_span(wanted_run)
        union all
        select run_id, source_id, null as start_ns, null as end_ns
        from op_call
        where wanted_run is null or run_id = wanted_run
    )
group by run_id, source_id
