-- purpose = "Ranges of CUPTI's range profiler in the timeline of a run, each with its counters."
-- source = "events of category cuda_profiler_range; docs/metrics.md, section range_counters"
-- needs = ["slice"]
-- parameters = "wanted_run"
-- columns = "source_id event_id name-range args_json start_ns"
-- name-range = "VARCHAR: range: a kernel, or a part of the program"
-- args_json = "VARCHAR: its counters, as in the file: an object in JSON"
select source_id, event_id, name, args_json, start_ns
from slice
where
    (wanted_run is null or run_id = wanted_run)
    and slice_kind = 'device'
    and category_name = 'cuda_profiler_range'
    and args_json is not null
