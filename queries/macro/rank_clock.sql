-- purpose = "Clock of each rank of a run, and what is wrong with it."
-- source = "docs/metrics.md, section Many ranks: clocks"
-- needs = ["source_file"]
-- depends = ["collective_match", "whole_window", "only_one"]
-- is_kept = true
-- parameters = "wanted_run-one"
-- columns = "source_id rank_index clock_offset_ns clock_apart_ns clock_spread_ns fault_kind-clock
-- message-clock"
with
    windows as (
        select source_id, start_ns, end_ns from whole_window(wanted_run) where start_ns is not null
    ),
    files as (
        select
            source_id,
            source_file.rank_index,
            try(source_file.base_time_ns + windows.start_ns) as start_ns,
            try(source_file.base_time_ns + windows.end_ns) as end_ns
        from source_file
        left join windows using (source_id)
        where source_file.run_id = wanted_run and source_file.recording_kind is distinct from 'join'
    ),
    clocks as (
        select
            source_id,
            rank_index,
            only_one(clock_offset_ns) as clock_offset_ns,
            only_one(clock_spread_ns) as clock_spread_ns
        from collective_match(wanted_run, 'all')
        group by source_id, rank_index
    ),
    members as (
        select
            files.source_id,
            coalesce(clocks.rank_index, files.rank_index) as rank_index,
            clocks.clock_offset_ns,
            clocks.clock_spread_ns,
            files.start_ns,
            files.end_ns
        from files
        left join clocks using (source_id)
    ),
    usual as (select quantile_disc(clock_offset_ns, 0.5) as offset_ns from members),
    -- of the recordings, the one in the middle
    middle as (
        select start_ns, end_ns
        from
            (
                select
                    start_ns,
                    end_ns,
                    row_number() over (order by start_ns, source_id, rank_index) as place,
                    count(*) over () as file_count
                from (select distinct source_id, rank_index, start_ns, end_ns from members)
                where rank_index is not null and start_ns is not null
            )
        where 2 * place between file_count and file_count + 1
    ),
    placed as (
        select
            members.source_id,
            members.rank_index,
            members.clock_offset_ns,
            case
                when clock_offset_ns is not null
                then try(clock_offset_ns - usual.offset_ns)
                -- files without a rank need not be of one job
                when members.rank_index is null
                then null
                when members.start_ns > middle.end_ns
                then try(members.start_ns - middle.end_ns)
                when members.end_ns < middle.start_ns
                then try(members.end_ns - middle.start_ns)
                when members.start_ns is not null
                then 0
            end as clock_apart_ns,
            members.clock_spread_ns,
            case
                when abs(cast(clock_apart_ns as double)) >= 1000000000
                then case when clock_offset_ns is null then 'apart' else 'offset' end
                when clock_spread_ns >= 1000000
                then 'spread'
            end as fault_kind,
            coalesce('rank ' || members.rank_index, 'source ' || members.source_id) as place_name,
            case
                when abs(cast(clock_apart_ns as double)) >= 3600000000000
                then printf('%.4g h', ratio(abs(cast(clock_apart_ns as double)), 3600000000000))
                when abs(cast(clock_apart_ns as double)) >= 60000000000
                then printf('%.4g min', ratio(abs(cast(clock_apart_ns as double)), 60000000000))
                else printf('%.4g s', ratio(abs(cast(clock_apart_ns as double)), 1000000000))
            end as apart_text
        from members
        cross join usual
        left join middle on true
    )
select
    source_id,
    rank_index,
    clock_offset_ns,
    clock_apart_ns,
    clock_spread_ns,
    fault_kind,
    case
        fault_kind
        when 'offset'
        then
            'the clock of '
            || place_name
            || ' is '
            || apart_text
            || case when clock_apart_ns > 0 then ' ahead of' else ' behind' end
            || ' the others: another time zone, a clock that is not set, or another job'
        when 'apart'
        then
            place_name
            || ' was recorded '
            || apart_text
            || case when clock_apart_ns > 0 then ' after' else ' before' end
            || ' the others and shares no collective with them: another time zone, or another job'
        when 'spread'
        then
            'ends of collectives on '
            || place_name
            || ' are '
            || printf('%.4g ms', ratio(clock_spread_ns, 1000000))
            || ' apart after its clock is set: it drifts, or is of another job'
    end as message
from placed
