-- purpose = "Each event of a source has a row or is counted as skipped: rows + skips = events."
-- source = "docs/formats.md: the account"
-- needs = ["source_file"]
-- columns = "source_id event_count row_count skipped_count"
-- row_count = "BIGINT: events with a row"
-- skipped_count = "BIGINT: events counted as skipped"
with
    places as (
        select source_id, event_id
        from kernel
        union all
        select source_id, event_id
        from kernel_rule
        union all
        select source_id, event_id
        from transfer
        union all
        select source_id, event_id
        from slice
        union all
        select source_id, event_id
        from flow
        union all
        select source_id, event_id
        from memory_event
        union all
        select source_id, event_id
        from track_label
        union all
        select source_id, event_id
        from layer_stat
        union all
        select source_id, event_id
        from configuration
        -- those without a place were worked out from rows that are counted already
        union all
        select source_id, event_id
        from op_stat
        where event_id is not null
        union all
        select distinct source_id, event_id
        from step_part
        where event_id is not null
        -- a counter event gives a row for each of its series
        union all
        select distinct source_id, event_id
        from counter
    ),
    counted as (select source_id, count(*) as n from places group by source_id)
select
    source_file.source_id,
    source_file.event_count,
    coalesce(counted.n, 0) as row_count,
    source_file.skipped_event_count as skipped_count
from source_file
left join counted using (source_id)
where
    coalesce(counted.n, 0)
    + source_file.skipped_event_count
    is distinct from source_file.event_count
order by source_file.source_id
