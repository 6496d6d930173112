-- purpose = "Launches without a record are those of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "unrecorded_launches"
-- keys = ["name"]
-- needs = ["unrecorded_launch"]
-- is_partial = true
select name, count(*) as unrecorded_count
from unrecorded_launch
where run_id = $run_id
group by name
