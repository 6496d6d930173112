-- purpose = "Times of device work of sources in which some cannot be as written: until the next
-- work of the stream starts, and none for work at time 0 among Unix times."
-- source = "docs/metrics.md, section Impossible times"
-- needs = ["attribution"]
-- columns = "run_id source_id event_id start_ns dur_ns is_mended"
-- is_mended = "BOOLEAN: true"
select run_id, source_id, event_id, start_ns, dur_ns, true as is_mended
from attribution
semi join
    (from ingest_issue where code in ('impossible_duration', 'time_zero')) as issues using (
        run_id, source_id
    )
