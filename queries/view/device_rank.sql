-- purpose = "Rank of each device of each source: from the file, else from its events in a file
-- merged from several ranks."
-- source = "tables source_file and device; docs/metrics.md, section Many ranks"
-- needs = ["source_file"]
-- depends = ["summed_source", "work_span"]
-- is_kept = true
-- columns = "run_id source_id device_id rank_index"
-- device_id = "device; NULL: work without a device in the file"
-- rank_index = "rank; NULL if unknown, or if the device has several ranks"
select
    run_id,
    source_id,
    seen.device_id,
    coalesce(source_file.rank_index, told.rank_index) as rank_index
from
    (
        select run_id, source_id, device_id
        from work_span(null)
        union
        select run_id, source_id, device_id
        from kernel
        semi join (from summed_source where not has_steps) using (run_id, source_id)
        union
        select run_id, source_id, device_id
        from device
        union
        select run_id, source_id, null
        from source_file
    ) as seen
join source_file using (run_id, source_id)
left join
    (
        select run_id, source_id, device_id, any_value(rank_index) as rank_index
        from device
        group by run_id, source_id, device_id
    ) as told using (run_id, source_id, device_id)
