-- purpose = "Window of each source whose operators run on processors, without launches or device
-- work: of its marked steps, else of its operators; or of the steps asked about."
-- source = "Zhu 2018 (TBD), eq. 1: elapsed time; docs/metrics.md, section Findings"
-- needs = ["op_call"]
-- depends = ["step_span", "step_window"]
-- is_kept = true
-- parameters = "wanted_run wanted_phase"
-- columns = "run_id source_id first_step_index last_step_index start_ns end_ns"
-- first_step_index = "BIGINT: first step; NULL: all operators, in a step or not"
-- start_ns = "start of the window"
-- end_ns = "end of the window"
with
    hosts as (
        select run_id, source_id, min(start_ns) as start_ns, max(start_ns + dur_ns) as end_ns
        from op_call
        anti join attribution using (run_id, source_id)
        anti join launch_call using (run_id, source_id)
        where wanted_run is null or run_id = wanted_run
        group by run_id, source_id
    ),
    marked as (
        select run_id, source_id, min(start_ns) as start_ns, max(end_ns) as end_ns
        from step_span(wanted_run)
        where step_kind <> 'detected'
        group by run_id, source_id
    )
select
    hosts.run_id,
    hosts.source_id,
    steps.first_step_index,
    steps.last_step_index,
    coalesce(steps.start_ns, marked.start_ns, hosts.start_ns) as start_ns,
    coalesce(steps.end_ns, marked.end_ns, hosts.end_ns) as end_ns
from hosts
join step_window(wanted_run, wanted_phase) as steps using (run_id, source_id)
left join marked using (run_id, source_id)
