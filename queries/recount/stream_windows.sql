-- purpose = "A stream is busy for a share of the window, alone or beside others."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "stream_utilization"
-- keys = ["source_id", "device_id", "stream_id"]
-- needs = ["attribution"]
-- upon = "plain_window"
-- is_partial = true
with
    -- the time between two moments at which something starts or ends
    moments as (
        select source_id, device_id, start_ns as time_ns
        from plain_window
        union
        select source_id, device_id, end_ns
        from plain_window
    ),
    pieces as (
        select
            *,
            lead(time_ns) over (partition by source_id, device_id order by time_ns)
            - time_ns as piece_ns
        from moments
        where (select count(*) from plain_window) <= 2000
    ),
    running as (
        select
            pieces.source_id,
            pieces.device_id,
            time_ns,
            any_value(piece_ns) as piece_ns,
            any_value(elapsed_ns) as elapsed_ns,
            list(distinct coalesce(stream_id, -1)) as streams
        from pieces
        join
            plain_window as work
            on work.source_id = pieces.source_id
            and work.device_id is not distinct from pieces.device_id
            and start_ns <= time_ns
            and end_ns > time_ns
        group by pieces.source_id, pieces.device_id, time_ns
    ),
    of_stream as (
        select source_id, device_id, unnest(streams) as stream, piece_ns, streams, elapsed_ns
        from running
    )
select
    source_id,
    device_id,
    if(stream = -1, null, stream) as stream_id,
    any_value(elapsed_ns) as elapsed_ns,
    coalesce(sum(piece_ns) filter (where len(streams) = 1), 0) as alone_ns,
    sum(piece_ns) / any_value(elapsed_ns) as busy_ratio,
    coalesce(sum(piece_ns) filter (where len(streams) > 1), 0) / sum(piece_ns) as overlapped_ratio
from of_stream
group by source_id, device_id, stream
