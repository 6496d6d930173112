-- purpose = "Window of each source whose operators run on processors, without launches or device
-- work: of its marked steps, else of its operators; or of the steps asked about."
-- source = "Zhu 2018 (TBD), eq. 1: elapsed time; docs/metrics.md, section Findings"
-- needs = ["op_call"]
-- depends = ["host_span"]
-- parameters = "wanted_run wanted_phase"
-- columns = "run_id source_id first_step_index-host last_step_index start_ns-host end_ns-host"
select run_id, source_id, first_step_index, last_step_index, start_ns, end_ns
from host_span(wanted_run, wanted_phase)
where not has_launches
