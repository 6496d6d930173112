-- purpose = "A rank has a reason for what it lacks: work, steps, or a collective."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "ranks"
-- keys = ["source_id"]
-- needs = ["source_file"]
-- is_partial = true
with
    worked as (
        select source_id, bool_and(dur_ns is not null) as is_timed
        from attribution
        where run_id = $run_id
        group by source_id
    )
select
    source_id,
    concat_ws(
        '; ',
        if(worked.source_id is null, 'no device work in the file', null),
        if(source_id in (select source_id from step where run_id = $run_id), null, 'no steps'),
        'no collective to tell its clock by'
    ) as reason
from source_file
left join worked using (source_id)
where
    run_id = $run_id
    and recording_kind is distinct from 'join'
    and (select count(rank_index) = 0 from source_file where run_id = $run_id)
    and (select count(rank_index) = 0 from device where run_id = $run_id)
    and is_timed is distinct from false
    -- steps of a profiler's own tables have no marks
    and not exists (from step where run_id = $run_id and step_kind = 'reported')
    and (
        worked.source_id is not null
        or source_id not in (select source_id from kernel where run_id = $run_id)
    )
    and (
        select count(*)
        from source_file
        where run_id = $run_id and recording_kind is distinct from 'join'
    )
    = 1
    and (select count(distinct device_id) from attribution where run_id = $run_id) <= 1
    and not exists (
        from kernel
        where
            run_id = $run_id
            and (
                collective_name is not null
                or regexp_matches(
                    kernel.name,
                    '(?i)ccl|all.?reduce|reduce.?scatter|gather|to.?all|send|recv|broadcast|permute'
                )
            )
    )
