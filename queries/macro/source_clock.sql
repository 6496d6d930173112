-- purpose = "Clock of each timeline of a run, and what to add to its times so that all timelines of
-- the run have one clock."
-- source = "docs/metrics.md, section Many ranks: clocks; docs/export.md, section Clocks"
-- needs = ["source_file"]
-- depends = ["collective_match"]
-- is_kept = true
-- parameters = "wanted_run-one wanted_phase"
-- columns = "source_id rank_index source_index timeline_count base_time_ns clock_basis
-- clock_offset_ns shared_count shift_ns zero_time_ns"
-- base_time_ns = "BIGINT: source_file.base_time_ns"
-- clock_offset_ns = "BIGINT: its clock less that of the first rank; NULL unless by collectives"
with
    starts as (
        select source_id, min(start_ns) as first_ns
        from
            (
                select source_id, min(start_ns) as start_ns
                from slice
                where run_id = wanted_run
                group by source_id
                union all
                select source_id, min(start_ns)
                from kernel
                where run_id = wanted_run
                group by source_id
                union all
                select source_id, min(start_ns)
                from transfer
                where run_id = wanted_run
                group by source_id
            )
        where start_ns is not null
        group by source_id
    ),
    timelines as materialized(
        select
            source_id,
            source_file.rank_index,
            row_number() over (order by source_file.rank_index nulls last, source_id)
            - 1 as source_index,
            count(*) over () as timeline_count,
            source_file.base_time_ns,
            starts.first_ns
        from starts
        join source_file using (source_id)
        where source_file.run_id = wanted_run
    ),
    -- of a file with several ranks, the clock is that of the file
    offsets as (
        select
            source_id,
            any_value(clock_offset_ns) as clock_offset_ns,
            count(distinct match_index) as shared_count
        from collective_match(wanted_run, wanted_phase)
        where match_reason is null and is_synchronizing and clock_offset_ns is not null
        group by source_id
        having count(distinct rank_index) = 1
    ),
    based as (
        select
            timelines.*,
            case when timeline_count > 1 then offsets.clock_offset_ns end as clock_offset_ns,
            case when timeline_count > 1 then offsets.shared_count end as shared_count,
            case
                when timeline_count = 1
                then 'own'
                when offsets.clock_offset_ns is not null
                then 'collectives'
                when base_time_ns is not null
                then 'unix'
                else 'start'
            end as clock_basis,
            case
                when clock_basis <> 'start'
                then coalesce(base_time_ns, 0) - coalesce(offsets.clock_offset_ns, 0)
            end as clock_ns
        from timelines
        left join offsets using (source_id)
    ),
    -- times since 1970 are too long for viewers, which read them as floats: they count from the
    -- second in which the first event starts
    zeros as (
        select
            case
                when min(timeline_count) = 1 and abs(min(first_ns)) < 1000000000000000
                then min(clock_ns)
                else min(clock_ns + first_ns) - min(clock_ns + first_ns) % 1000000000
            end as zero_ns,
            case
                when bool_or(base_time_ns is not null) or zero_ns > 100000000000000000 then zero_ns
            end as zero_time_ns
        from based
    )
select
    source_id,
    rank_index,
    source_index,
    timeline_count,
    base_time_ns,
    clock_basis,
    clock_offset_ns,
    shared_count,
    coalesce(clock_ns - zero_ns, - first_ns) as shift_ns,
    zero_time_ns
from based
cross join zeros
