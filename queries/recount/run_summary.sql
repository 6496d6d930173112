-- purpose = "Sources have the kernels, copies, operators, steps and troubles of their rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "run_summary"
-- keys = ["source_id"]
-- needs = ["source_file"]
with
    -- times that cannot be as written are those of the work that is attributed
    work as (
        select
            source_id,
            event_id,
            coalesce(launch_count, 1) as launches,
            null as transfers,
            start_ns,
            dur_ns
        from kernel
        where run_id = $run_id
        union all
        select source_id, event_id, null, coalesce(transfer_count, 1), start_ns, dur_ns
        from transfer
        where run_id = $run_id
    ),
    timed as (
        select
            work.source_id,
            launches,
            transfers,
            if(code is null, work.start_ns, given.start_ns) as start_ns,
            if(code is null, work.dur_ns, given.dur_ns) as dur_ns
        from work
        left join (from attribution where run_id = $run_id) as given using (source_id, event_id)
        left join
            (
                select source_id, min(code) as code
                from ingest_issue
                where run_id = $run_id and code in ('impossible_duration', 'time_zero')
                group by source_id
            ) as issue
            on issue.source_id = work.source_id
            and given.event_id is not null
    ),
    part as (
        select source_id, launches, transfers, null as ops, start_ns, dur_ns
        from timed
        union all
        select source_id, null, null, if(slice_kind = 'op', 1, 0), start_ns, dur_ns
        from slice
        where run_id = $run_id
    ),
    whole as (
        select
            source_id,
            sum(launches) as kernel_count,
            sum(dur_ns) filter (where launches is not null) as kernel_ns,
            sum(transfers) as transfer_count,
            sum(ops) as op_count,
            max(start_ns + dur_ns) - min(start_ns) filter (where dur_ns is not null) as elapsed_ns
        from part
        group by source_id
    ),
    marked as (
        select source_id, count(*) as steps
        from step
        where run_id = $run_id and step_kind = 'host'
        group by source_id
    ),
    trouble as (
        select source_id, count(*) as troubles
        from ingest_issue
        where run_id = $run_id and severity_kind in ('warning', 'error')
        group by source_id
    )
select
    source_id,
    rank_index,
    coalesce(kernel_count, 0) as kernel_count,
    kernel_ns,
    coalesce(transfer_count, 0) as transfer_count,
    coalesce(op_count, 0) as op_count,
    coalesce(steps, 0) as step_count,
    elapsed_ns,
    event_count,
    is_complete,
    coalesce(troubles, 0) as trouble_count
from source_file
left join whole using (source_id)
left join marked using (source_id)
left join trouble using (source_id)
where run_id = $run_id and recording_kind is distinct from 'join'
