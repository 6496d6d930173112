-- purpose = "Numbers of the devices of each source that have work: rows that are sorted must be
-- narrow."
-- source = "table attribution"
-- needs = ["attribution"]
-- is_kept = true
-- parameters = "wanted_run"
-- columns = "run_id source_id device_id place_index"
-- place_index = "BIGINT: number of the device, of no other meaning"
select run_id, source_id, device_id, row_number() over () as place_index
from
    (
        select distinct run_id, source_id, device_id
        from attribution
        where wanted_run is null or run_id = wanted_run
    )
