-- purpose = "Window of each source: from its first mark of a step to the end of the last or of
-- its work; without marks from the first host event or work to the last."
-- source = "Zhu 2018 (TBD), eq. 1: elapsed time; docs/metrics.md, section Steps and the stable
-- phase"
-- needs = ["attribution", "slice", "step"]
-- depends = ["step_span", "work_span"]
-- is_kept = true
-- parameters = "wanted_run"
-- columns = "run_id source_id start_ns end_ns"
-- start_ns = "start of the window, not after the first work of a marked step; NULL without device
-- work"
-- end_ns = "end of the window; NULL without device work"
with
    worked as materialized(
        select run_id, source_id, min(start_ns) as start_ns, max(end_ns) as end_ns
        from work_span(wanted_run)
        group by run_id, source_id
    ),
    marked as materialized(
        select run_id, source_id, min(steps.start_ns) as start_ns, max(steps.end_ns) as end_ns
        from step_span(wanted_run) as steps
        join worked using (run_id, source_id)
        where step_kind <> 'detected'
        group by run_id, source_id
        -- clocks of host and device that are far apart tell nothing of each other
        having min(steps.start_ns) < max(worked.end_ns) and max(steps.end_ns) > min(worked.start_ns)
    ),
    hosts as (
        select run_id, source_id, min(start_ns) as start_ns, max(start_ns + dur_ns) as end_ns
        from slice
        semi join worked using (run_id, source_id)
        anti join marked using (run_id, source_id)
        where
            (wanted_run is null or run_id = wanted_run)
            and slice_kind in ('op', 'runtime', 'driver', 'annotation', 'python')
        group by run_id, source_id
    )
select
    run_id,
    source_id,
    coalesce(marked.start_ns, least(worked.start_ns, hosts.start_ns)) as start_ns,
    coalesce(marked.end_ns, greatest(worked.end_ns, hosts.end_ns)) as end_ns
from
    (
        select run_id, source_id
        from worked
        union
        select run_id, source_id
        from op_call
        where wanted_run is null or run_id = wanted_run
    )
left join worked using (run_id, source_id)
left join marked using (run_id, source_id)
left join hosts using (run_id, source_id)
