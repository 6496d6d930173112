-- purpose = "Ranks of a run that several files claim or that are in no file, files without a rank
-- among others, and files that disagree on the number of ranks."
-- source = "tables source_file and device; docs/metrics.md, sections Many ranks and Findings"
-- needs = ["source_file"]
-- depends = ["source_rank", "some_names"]
-- parameters = "run_id"
-- columns = "win_ns-none message-rank more_count fault_kind rank_index-fault
-- source_ids elapsed_ns-none source_id-all device_id-none"
-- message-rank = "VARCHAR: the fault"
-- more_count = "BIGINT: other rows; NULL: none"
-- fault_kind = "VARCHAR: doubled (several files have the rank), sizes (files disagree on the
-- number of ranks), outside (the job has no such rank), unnamed (the file has no rank) or missing"
-- rank_index-fault = "BIGINT: the rank, for doubled and outside"
-- source_ids = "VARCHAR: sources of the files, for `tracekit remove RUN --source ID`; at most five"
-- source_id-all = "VARCHAR: NULL: a fault of the run"
-- finding.title = "Files and ranks do not match"
-- finding.evidence = "{message}[; {more_count:other fault}]"
-- finding.action = "Remove copies and files of other jobs (tracekit remove RUN --source ID), give
-- each job and each recording its own run, or add the files that are missing."
-- finding.command = "query data_ranks"
-- finding.pool = "none"
with
    files as (
        select source_id, file_name, format_name, recording_kind, rank_index, world_size_count
        from source_file
        where run_id = $run_id and recording_kind is distinct from 'join'
    ),
    members as (
        select files.*, ranks.rank_index as own_index, ranks.source_count
        from files
        join source_rank as ranks using (source_id)
        where ranks.run_id = $run_id
    ),
    unnamed as (
        select source_id, file_name
        from files
        anti join members using (source_id)
        semi join members using (format_name, recording_kind)
    ),
    -- one trace says nothing of those that are not in the run
    many as (
        select
            count(*) filter (
                where
                    world_size_count is not null
                    or source_id in (select source_id from members)
                    or source_id in (select source_id from unnamed)
            )
            > 1 as is_many
        from files
    ),
    sizes as (
        select
            world_size_count as size,
            some_names(list(file_name order by file_name, source_id)) as file_names
        from files
        where world_size_count is not null
        group by world_size_count
    ),
    -- wide enough for the largest number in a file, and one more
    job as (
        select
            coalesce(max(size), max(own_index) + 1) as size, any_value(size) is not null as is_said
        from (select max(cast(size as hugeint)) as size from sizes having count(*) < 2) as said
        cross join (select max(cast(own_index as hugeint)) as own_index from members) as found
    ),
    known as (
        select distinct cast(own_index as hugeint) as rank_index
        from members
        cross join job
        where own_index >= 0 and own_index < job.size
    ),
    holes as (
        select before + 1 as first_rank, rank_index - 1 as last_rank
        from
            (
                select
                    rank_index, coalesce(lag(rank_index) over (order by rank_index), -1) as before
                from
                    (
                        select rank_index
                        from known
                        union all
                        select size
                        from job
                    )
            )
        where rank_index - before > 1
    ),
    missing as (
        select
            sum(last_rank - first_rank + 1) as missing_count,
            some_names(
                list(
                    case
                        last_rank - first_rank
                        when 0
                        then cast(first_rank as varchar)
                        when 1
                        then first_rank || ', ' || last_rank
                        else first_rank || ' to ' || last_rank
                    end
                    order by first_rank
                )
            ) as ranks
        from holes
        having count(*) > 0
    ),
    faults as (
        select
            0 as place,
            'doubled' as fault_kind,
            own_index as rank_index,
            'rank '
            || own_index
            || ' is in '
            || count(*)
            || ' files: '
            || some_names(list(file_name order by file_name, source_id)) as message,
            list(source_id order by file_name, source_id) as sources
        from members
        where source_count > 1
        group by own_index
        union all
        select
            1,
            'sizes',
            null,
            'files disagree on the number of ranks: '
            || some_names(list(size || ' (' || file_names || ')' order by size)),
            null
        from sizes
        having count(*) > 1
        union all
        select
            2,
            'outside',
            own_index,
            'there is no rank '
            || own_index
            || ' in a job of '
            || world_size_count
            || ': '
            || some_names(list(file_name order by file_name, source_id)),
            list(source_id order by file_name, source_id)
        from members
        where own_index < 0 or own_index >= world_size_count
        group by own_index, world_size_count
        union all
        select
            3,
            'unnamed',
            null,
            count(*)
            || case when count(*) = 1 then ' file has' else ' files have' end
            || ' no rank, others do: '
            || some_names(list(file_name order by file_name, source_id)),
            list(source_id order by file_name, source_id)
        from unnamed
        having count(*) > 0
        union all
        select
            4,
            'missing',
            null,
            missing_count
            || ' of '
            || job.size
            || ' ranks'
            || case when is_said then '' else ', counted by the largest,' end
            || case when missing_count = 1 then ' is' else ' are' end
            || ' in no file: '
            || ranks,
            null
        from missing
        cross join job
        where exists (from known)
    )
select
    cast(null as bigint) as win_ns,
    message,
    nullif(count(*) over () - 1, 0) as more_count,
    fault_kind,
    rank_index,
    some_names(sources) as source_ids,
    cast(null as bigint) as elapsed_ns,
    cast(null as varchar) as source_id,
    cast(null as bigint) as device_id
from faults
cross join many
where is_many
order by place, rank_index, message
