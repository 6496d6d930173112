-- purpose = "Utilization of each stream of a device, and its time without other streams."
-- source = "Zhu 2018 (TBD), eq. 1, stream by stream; docs/metrics.md, section stream_utilization"
-- topic = "time"
-- needs = ["attribution"]
-- depends = ["work_in_window", "device_rank", "sum_where"]
-- parameters = "run_id phase"
-- columns = "rank_index device_id stream_id work_class busy_ratio busy_ns alone_ns
-- overlapped_ratio sum_ns kernel_count transfer_count elapsed_ns source_id-rank"
-- work_class = "VARCHAR: class with most of its time: compute, communication, memcpy or memset"
-- busy_ns = "time with work on the stream (union)"
-- alone_ns = "part of busy_ns with no other stream of the device busy"
-- overlapped_ratio = "DOUBLE: (busy_ns - alone_ns) / busy_ns"
-- sum_ns = "sum of the durations; more than busy_ns if work overlaps on the stream"
with
    work as materialized(
        select
            source_id,
            device_id,
            stream_id,
            work_class,
            start_ns,
            end_ns,
            elapsed_ns,
            dense_rank() over (partition by source_id, device_id order by stream_id) as stream_rank,
            max(end_ns) over (
                partition by source_id, device_id, stream_id
                order by start_ns, end_ns
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from work_in_window($run_id, $phase)
    ),
    -- what each adds to the union of its stream
    added as materialized(
        select
            source_id,
            device_id,
            stream_rank,
            greatest(start_ns, coalesce(reach_ns, start_ns)) as start_ns,
            end_ns
        from work
        where reach_ns is null or end_ns > reach_ns
    ),
    edges as (
        select source_id, device_id, start_ns as time_ns, 1 as change, stream_rank
        from added
        union all
        select source_id, device_id, end_ns, -1, - stream_rank
        from added
    ),
    -- where one stream is busy, the sum of the busy streams' ranks is its own
    pieces as (
        select
            source_id,
            device_id,
            lead(time_ns) over ordered - time_ns as piece_ns,
            sum(change) over ordered as stream_count,
            sum(stream_rank) over ordered as stream_rank
        from edges
        window
            ordered as (
                partition by source_id, device_id
                order by time_ns
                rows between unbounded preceding and current row
            )
    ),
    alone as (
        select source_id, device_id, stream_rank, sum(piece_ns) as alone_ns
        from pieces
        where stream_count = 1
        group by source_id, device_id, stream_rank
    ),
    busy as (
        select source_id, device_id, stream_rank, sum(end_ns - start_ns) as busy_ns
        from added
        group by source_id, device_id, stream_rank
    ),
    classes as (
        select
            source_id,
            device_id,
            stream_id,
            stream_rank,
            work_class,
            any_value(elapsed_ns) as elapsed_ns,
            sum(end_ns - start_ns) as sum_ns,
            count(*) as work_count
        from work
        group by source_id, device_id, stream_id, stream_rank, work_class
    ),
    streams as (
        select
            source_id,
            device_id,
            stream_id,
            stream_rank,
            any_value(elapsed_ns) as elapsed_ns,
            arg_min(work_class, (- sum_ns, work_class)) as work_class,
            cast(sum(sum_ns) as bigint) as sum_ns,
            sum_where(work_count, work_class in ('compute', 'communication')) as kernel_count,
            sum_where(work_count, work_class in ('memcpy', 'memset')) as transfer_count
        from classes
        group by source_id, device_id, stream_id, stream_rank
    )
select
    device_rank.rank_index,
    streams.device_id,
    streams.stream_id,
    streams.work_class,
    ratio(busy.busy_ns, streams.elapsed_ns) as busy_ratio,
    cast(busy.busy_ns as bigint) as busy_ns,
    cast(coalesce(alone.alone_ns, 0) as bigint) as alone_ns,
    ratio(busy.busy_ns - coalesce(alone.alone_ns, 0), busy.busy_ns) as overlapped_ratio,
    streams.sum_ns,
    streams.kernel_count,
    streams.transfer_count,
    streams.elapsed_ns,
    streams.source_id
from streams
join
    busy
    on busy.source_id = streams.source_id
    and busy.device_id is not distinct from streams.device_id
    and busy.stream_rank = streams.stream_rank
left join
    alone
    on alone.source_id = streams.source_id
    and alone.device_id is not distinct from streams.device_id
    and alone.stream_rank = streams.stream_rank
left join
    device_rank
    on device_rank.run_id = $run_id
    and device_rank.source_id = streams.source_id
    and device_rank.device_id is not distinct from streams.device_id
order by
    device_rank.rank_index nulls last,
    streams.source_id,
    streams.device_id nulls last,
    busy.busy_ns desc,
    streams.stream_id
