-- purpose = "Ranks are in several files, outside of the job or in no file, as the files say."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "data_ranks"
-- keys = ["fault_kind", "rank_index"]
-- needs = ["source_file"]
with
    files as (
        select source_file.*, coalesce(source_file.rank_index, of_device.rank_index) as own_index
        from source_file
        left join
            (
                select source_id, rank_index
                from device
                where run_id = $run_id and rank_index is not null
            ) as of_device
            on of_device.source_id = source_file.source_id
            and source_file.rank_index is null
        where run_id = $run_id and coalesce(recording_kind, '') <> 'join'
    ),
    ranked as (select * from files where own_index is not null),
    nameless as (
        select distinct source_id, file_name
        from files
        where
            own_index is null
            and coalesce(format_name, '') || '/' || coalesce(recording_kind, '')
            in (select coalesce(format_name, '') || '/' || coalesce(recording_kind, '') from ranked)
    ),
    job as (
        select
            count(distinct world_size_count) as sizes,
            if(sizes = 0, max(own_index)::hugeint + 1, max(world_size_count)) as size
        from files
        where world_size_count is not null or own_index is not null
    ),
    absent as (
        select size - count(distinct own_index) as missing, size
        from ranked
        cross join job
        where sizes < 2 and own_index >= 0 and own_index < size
        group by size
    ),
    faults as (
        select 'doubled' as fault_kind, own_index as rank_index
        from ranked
        group by own_index
        having count(distinct source_id) > 1
        union all
        select 'sizes', null
        from job
        where sizes > 1
        union all
        select distinct 'outside', own_index
        from ranked
        where own_index < 0 or own_index >= world_size_count
        union all
        select distinct 'unnamed', null
        from nameless
        union all
        select 'missing', null
        from absent
        where missing > 0
    )
select fault_kind, rank_index, nullif(count(*) over () - 1, 0) as more_count
from faults
where
    (
        select count(distinct source_id) > 1
        from files
        where
            world_size_count is not null
            or own_index is not null
            or source_id in (select source_id from nameless)
    )
