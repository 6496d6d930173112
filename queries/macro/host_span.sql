-- purpose = "Window of each source whose operators run without device work on record: of its marked
-- steps, else of its operators; or of the steps asked about."
-- source = "Zhu 2018 (TBD), eq. 1: elapsed time; docs/metrics.md, section Findings"
-- needs = ["op_call"]
-- depends = ["step_span", "step_window"]
-- is_kept = true
-- parameters = "wanted_run wanted_phase"
-- columns = "run_id source_id first_step_index-host last_step_index start_ns-host end_ns-host
-- has_launches"
-- has_launches = "BOOLEAN: it launches work for a device, of which the file has no record"
with
    hosts as (
        select run_id, source_id, min(start_ns) as start_ns, max(start_ns + dur_ns) as end_ns
        from op_call
        anti join attribution using (run_id, source_id)
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
    coalesce(steps.end_ns, marked.end_ns, hosts.end_ns) as end_ns,
    exists (
        from launch_call
        where launch_call.run_id = hosts.run_id and launch_call.source_id = hosts.source_id
    ) as has_launches
from hosts
join step_window(wanted_run, wanted_phase) as steps using (run_id, source_id)
left join marked using (run_id, source_id)
