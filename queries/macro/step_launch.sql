-- purpose = "Launches in the steps of a phase other than all, for reports about joined counters:
-- of a timeline, as counters by themselves belong to no step."
-- source = "docs/metrics.md, section Steps and the stable phase"
-- needs = ["attribution"]
-- depends = ["chosen_step"]
-- is_empty_for_all = true
-- parameters = "wanted_run wanted_phase"
-- columns = "run_id source_id event_id-kernel"
select steps.run_id, steps.source_id, work.event_id
from chosen_step(wanted_run, wanted_phase) as steps
-- a left join: a run without kernels on a timeline is refused as well, as it has no steps
left join
    attribution as work
    on work.run_id = steps.run_id
    and work.source_id = steps.source_id
    and work.work_kind = 'kernel'
    and work.step_index between steps.first_step_index and steps.last_step_index
where
    case
        when exists (from kernel_match where wanted_run is null or run_id = wanted_run)
        then true
        else
            error(
                'the counters are joined to no timeline, so that their launches are in no step: '
                || 'join them with `tracekit join`. Ask for phase all'
            )
    end
