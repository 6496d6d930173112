-- purpose = "Time of each device by class: compute, communication, copies, memsets and idle, and
-- how much other classes hide."
-- source = "HTA's temporal breakdown and overlap of communication and computation; TraceLens'
-- timeline; docs/metrics.md, section overlap"
-- topic = "time"
-- needs = ["attribution"]
-- depends = ["device_time", "device_rank"]
-- parameters = "run_id phase"
-- columns = "rank_index device_id work_class share_ratio exposed_ns union_ns hidden_ratio
-- alone_ns sum_ns work_count elapsed_ns source_id-rank"
-- work_class = "VARCHAR: compute (kernels except communication), communication, memcpy, memset or
-- idle"
-- share_ratio = "exposed_ns / elapsed_ns; the five classes of a device sum to 1"
-- exposed_ns = "BIGINT: time of the class while no class above it ran; the five classes of a
-- device sum to elapsed_ns"
-- union_ns = "BIGINT: time of the class, regardless of other classes; NULL for idle"
-- hidden_ratio = "DOUBLE: (union_ns - exposed_ns) / union_ns; for communication, the share hidden
-- by compute"
with
    times as materialized(select * from device_time($run_id, $phase)),
    rows_of as (
        from times
        union all by name
        select
            source_id,
            device_id,
            max(class_rank) + 1 as class_rank,
            'idle' as work_class,
            any_value(elapsed_ns) as elapsed_ns,
            cast(any_value(elapsed_ns) - sum(exposed_ns) as bigint) as exposed_ns
        from times
        group by source_id, device_id
    )
select
    device_rank.rank_index,
    rows_of.device_id,
    rows_of.work_class,
    ratio(rows_of.exposed_ns, rows_of.elapsed_ns) as share_ratio,
    rows_of.exposed_ns,
    rows_of.union_ns,
    ratio(rows_of.union_ns - rows_of.exposed_ns, rows_of.union_ns) as hidden_ratio,
    rows_of.alone_ns,
    rows_of.sum_ns,
    rows_of.work_count,
    rows_of.elapsed_ns,
    rows_of.source_id
from rows_of
left join
    device_rank
    on device_rank.run_id = $run_id
    and device_rank.source_id = rows_of.source_id
    and device_rank.device_id is not distinct from rows_of.device_id
order by
    device_rank.rank_index nulls last,
    rows_of.source_id,
    rows_of.device_id nulls last,
    rows_of.class_rank
