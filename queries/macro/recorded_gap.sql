-- purpose = "Idle times of each device as in device_gap, cut where work without a record can have
-- run: those pieces wait for nothing that is known."
-- source = "docs/metrics.md, sections gaps and unrecorded_launches"
-- needs = ["attribution"]
-- depends = ["device_gap", "unrecorded_time"]
-- parameters = "wanted_run wanted_phase"
-- columns = "run_id source_id-rank device_id gap_start_ns gap_end_ns host_end_ns call_ns
-- rest_kind reason-gap previous_event_id next_event_id launch_thread_id window_start_ns
-- elapsed_ns-steps"
-- host_end_ns = "BIGINT: as in device_gap, within the piece"
-- call_ns = "BIGINT: part of the piece during that launch call"
-- rest_kind = "VARCHAR: as in device_gap; not_recorded: the piece can be work without a record"
with
    gaps as materialized(
        select *, row_number() over () as gap_index from device_gap(wanted_run, wanted_phase)
    ),
    hidden as materialized(
        select
            gaps.gap_index,
            greatest(here.start_ns, gaps.gap_start_ns) as from_ns,
            least(coalesce(here.end_ns, gaps.gap_end_ns), gaps.gap_end_ns) as till_ns
        from gaps
        join
            unrecorded_time as here
            on here.run_id = gaps.run_id
            and here.source_id = gaps.source_id
            and here.device_id is not distinct from gaps.device_id
            and here.start_ns < gaps.gap_end_ns
            and coalesce(here.end_ns, gaps.gap_end_ns) > gaps.gap_start_ns
    ),
    -- what is before, between and after these
    edges as (
        select gap_index, from_ns, till_ns
        from hidden
        union all
        select gap_index, gap_end_ns, gap_end_ns
        from gaps
        where gap_index in (select gap_index from hidden)
    ),
    pieces as (
        select
            gap_index,
            lag(till_ns) over (partition by gap_index order by from_ns, till_ns) as from_ns,
            from_ns as till_ns,
            false as is_hidden
        from edges
        union all
        select gap_index, from_ns, till_ns, true as is_hidden
        from hidden
    ),
    cut as (
        select
            gaps.run_id,
            gaps.source_id,
            gaps.device_id,
            coalesce(pieces.from_ns, gaps.gap_start_ns) as piece_start_ns,
            coalesce(pieces.till_ns, gaps.gap_end_ns) as piece_end_ns,
            least(greatest(gaps.host_end_ns, piece_start_ns), piece_end_ns) as late_until_ns,
            least(gaps.host_end_ns + gaps.call_ns, piece_end_ns) as returned_ns,
            coalesce(pieces.is_hidden, false) as is_hidden,
            gaps.rest_kind,
            gaps.reason,
            gaps.previous_event_id,
            gaps.next_event_id,
            gaps.launch_thread_id,
            gaps.window_start_ns,
            gaps.elapsed_ns
        from gaps
        left join pieces on pieces.gap_index = gaps.gap_index
        where piece_start_ns < piece_end_ns
    )
select
    run_id,
    source_id,
    device_id,
    piece_start_ns as gap_start_ns,
    piece_end_ns as gap_end_ns,
    case when is_hidden then piece_start_ns else late_until_ns end as host_end_ns,
    case when is_hidden then 0 else greatest(returned_ns - late_until_ns, 0) end as call_ns,
    case when is_hidden then 'not_recorded' else rest_kind end as rest_kind,
    case when not is_hidden then reason end as reason,
    previous_event_id,
    next_event_id,
    launch_thread_id,
    window_start_ns,
    elapsed_ns
from cut
