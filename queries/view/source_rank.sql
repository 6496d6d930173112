-- purpose = "Ranks of each source, and how many sources of the run have each."
-- source = "tables source_file and device; docs/metrics.md, section Many ranks"
-- needs = ["source_file"]
-- is_kept = true
-- columns = "run_id source_id rank_index-known source_count-rank"
-- source_count-rank = "BIGINT: sources of the run with this rank; more than 1: a fault"
select
    run_id, source_id, rank_index, count(*) over (partition by run_id, rank_index) as source_count
from
    (
        select run_id, source_id, rank_index
        from source_file
        where recording_kind is distinct from 'join'
        union
        -- of a file merged from several ranks, the events name them
        select run_id, source_id, device.rank_index
        from device
        join source_file using (run_id, source_id)
        where source_file.rank_index is null
    )
where rank_index is not null
