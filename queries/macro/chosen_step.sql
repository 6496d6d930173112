-- purpose = "Steps of a phase other than all: for reports that need no steps for all."
-- source = "docs/metrics.md, section Steps and the stable phase"
-- needs = ["attribution"]
-- depends = ["step_window"]
-- is_empty_for_all = true
-- parameters = "wanted_run wanted_phase"
-- columns = "run_id source_id first_step_index last_step_index"
select run_id, source_id, first_step_index, last_step_index
from step_window(wanted_run, wanted_phase)
where wanted_phase <> 'all'
