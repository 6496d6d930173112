-- purpose = "Operators are called as often as the rows say."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "reported_op_time"
-- keys = ["name"]
-- needs = ["slice"]
select
    name,
    count(*) as call_count,
    avg(dur_ns) as mean_ns,
    min(dur_ns) as min_ns,
    max(dur_ns) as max_ns
from slice
where run_id = $run_id and slice_kind = 'op'
group by name
