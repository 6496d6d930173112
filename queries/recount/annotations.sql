-- purpose = "Annotations are entered as often as the rows say."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "annotations"
-- keys = ["name"]
-- needs = ["calling_context", "slice"]
-- is_partial = true
select name, count(*) as call_count, sum(dur_ns) as host_ns
from slice
where
    run_id = $run_id
    and slice_kind = 'annotation'
    and name in (select name from calling_context where run_id = $run_id)
group by name
