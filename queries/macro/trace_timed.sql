-- purpose = "Slices, kernels and transfers of a run, with their tracks and times."
-- source = "docs/export.md, section Perfetto"
-- parameters = "wanted_run"
-- columns = "source_id event_id-timed process_id-timed thread_id-timed track_name-timed
-- category_name device_id stream_id start_ns dur_ns"
-- category_name = "VARCHAR: of slices and kernels; NULL for transfers"
select
    source_id,
    event_id,
    process_id,
    thread_id,
    track_name,
    category_name,
    device_id,
    stream_id,
    start_ns,
    dur_ns
from
    (
        from slice
        union all by name
        from kernel
        union all by name
        from transfer
    )
where run_id = wanted_run
