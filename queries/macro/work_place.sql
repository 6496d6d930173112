-- purpose = "Numbers of the devices of each source that have work: rows that are sorted must be
-- narrow."
-- source = "table attribution"
-- needs = ["attribution"]
-- depends = ["work_span"]
-- is_kept = true
-- parameters = "wanted_run"
-- columns = "run_id source_id device_id place_index"
select
    run_id,
    source_id,
    device_id,
    -- ordered: computed twice in one query, the numbers must be the same
    row_number() over (order by run_id, source_id, device_id) as place_index
from (select distinct run_id, source_id, device_id from work_span(wanted_run))
