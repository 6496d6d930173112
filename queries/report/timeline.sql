-- purpose = "Work of each stream and idle time of each device by cause, in pieces to draw: the
-- longest as they are, the others merged by time."
-- source = "docs/metrics.md, sections overlap and gaps"
-- topic = "time"
-- needs = ["attribution"]
-- depends = ["work_in_window", "gap_part", "work_place", "step_window", "device_rank"]
-- parameters = "run_id phase top_tracks top_pieces"
-- top_tracks = {type = "BIGINT", doc = "number of tracks: of each device, idle and its 8 busiest
-- streams", default = 48}
-- top_pieces = {type = "BIGINT", doc = "pieces of all tracks; half of those of a track, at most
-- 1,000, are its longest, the others merged into as many equal times", default = 48000}
-- columns = "rank_index device_id stream_id track_kind piece_kind offset_ns piece_ns sum_ns
-- work_count name elapsed_ns-steps start_ns source_id-rank"
-- answer = "piece_kind offset_ns piece_ns name"
-- track_kind = "VARCHAR: stream (work) or idle (of the device)"
-- piece_kind = "VARCHAR: class of the work, as in overlap, or cause of the idle time, as in gaps"
-- offset_ns = "BIGINT: start of the piece after the start of the steps"
-- piece_ns = "BIGINT: from the first start to the last end in the piece"
-- sum_ns = "sum of the durations in the piece; piece_ns if it is one"
-- work_count = "works or idle times in the piece"
-- name = "longest work; for idle time, the work that ended it"
-- start_ns = "start of the piece, on the clock of the source"
with
    places as materialized(
        select
            places.place_index,
            places.source_id,
            places.device_id,
            windows.start_ns as window_start_ns,
            windows.end_ns - windows.start_ns as elapsed_ns
        from work_place($run_id) as places
        join step_window($run_id, $phase) as windows using (run_id, source_id)
    ),
    work as materialized(
        select place_index, stream_id, work_class, event_id, name, start_ns, end_ns
        from work_in_window($run_id, $phase)
    ),
    idle as (
        select places.place_index, gap_kind, next_event_id, part_ns, part_start_ns
        from gap_part($run_id, $phase) as parts
        join
            places
            on places.source_id = parts.source_id
            and places.device_id is not distinct from parts.device_id
    ),
    spans as materialized(
        select
            place_index,
            'stream' as track_kind,
            stream_id,
            work_class as piece_kind,
            event_id,
            start_ns,
            end_ns
        from work
        union all
        select
            place_index,
            'idle',
            null,
            gap_kind,
            next_event_id,
            cast(part_start_ns as bigint),
            cast(part_start_ns + part_ns as bigint)
        from idle
    ),
    sums as (
        select place_index, track_kind, stream_id, sum(end_ns - start_ns) as total_ns
        from spans
        group by place_index, track_kind, stream_id
    ),
    ranked as (
        select
            *,
            row_number() over (
                partition by place_index order by track_kind, total_ns desc, stream_id
            ) as track_rank
        from sums
    ),
    tracks as materialized(
        select *, count(*) over () as all_count
        from
            (
                select *, row_number() over (order by place_index, track_rank) as track_index
                from ranked
                where track_rank <= 9
            )
        where track_index <= $top_tracks
    ),
    told as (
        select
            tracks.track_index,
            spans.piece_kind,
            spans.event_id,
            spans.start_ns,
            spans.end_ns,
            row_number() over (
                partition by tracks.track_index
                order by
                    spans.end_ns - spans.start_ns desc,
                    spans.start_ns,
                    spans.event_id,
                    spans.piece_kind
            ) as long_rank,
            least(1000, floor(ratio($top_pieces, 2 * tracks.all_count))) as most,
            floor(
                ratio((spans.start_ns - places.window_start_ns) * most, places.elapsed_ns)
            ) as time_index
        from spans
        join
            tracks
            on tracks.place_index = spans.place_index
            and tracks.track_kind = spans.track_kind
            and tracks.stream_id is not distinct from spans.stream_id
        join places on places.place_index = spans.place_index
    ),
    pieces as (
        select
            track_index,
            piece_kind,
            min(start_ns) as start_ns,
            max(end_ns) as end_ns,
            cast(sum(end_ns - start_ns) as bigint) as sum_ns,
            count(*) as work_count,
            arg_max(event_id, (end_ns - start_ns, - event_id)) as event_id
        from told
        group by
            track_index,
            piece_kind,
            case when long_rank <= most then long_rank else -1 - time_index end
    )
select
    device_rank.rank_index,
    places.device_id,
    tracks.stream_id,
    tracks.track_kind,
    pieces.piece_kind,
    pieces.start_ns - places.window_start_ns as offset_ns,
    pieces.end_ns - pieces.start_ns as piece_ns,
    pieces.sum_ns,
    pieces.work_count,
    work.name,
    places.elapsed_ns,
    pieces.start_ns,
    places.source_id
from pieces
join tracks on tracks.track_index = pieces.track_index
join places on places.place_index = tracks.place_index
left join work on work.place_index = places.place_index and work.event_id = pieces.event_id
left join
    device_rank
    on device_rank.run_id = $run_id
    and device_rank.source_id = places.source_id
    and device_rank.device_id is not distinct from places.device_id
order by
    device_rank.rank_index nulls last,
    places.source_id,
    places.device_id nulls last,
    tracks.track_index,
    pieces.start_ns,
    pieces.end_ns,
    pieces.piece_kind,
    pieces.event_id
