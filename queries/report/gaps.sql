-- purpose = "Idle time of each device by cause: host, data, launch, communication, copy, other
-- stream."
-- source = "docs/metrics.md, section gaps; HTA's breakdown of idle time into host, kernel and
-- other waits"
-- topic = "time"
-- needs = ["attribution"]
-- depends = ["gap_part", "device_rank"]
-- parameters = "run_id phase"
-- columns = "rank_index device_id gap_kind share_ratio idle_share_ratio total_ns gap_count
-- mean_ns max_ns elapsed_ns reason-gap source_id-rank"
-- share_ratio = "total_ns / elapsed_ns"
-- idle_share_ratio = "DOUBLE: total_ns / idle time of the device"
-- total_ns = "idle time of this cause; sums to the idle time of the device"
-- gap_count = "BIGINT: gaps with this cause; a gap can have several"
-- mean_ns = "total_ns / gap_count"
-- max_ns = "most in one gap"
with
    kinds as (
        select
            source_id,
            device_id,
            gap_kind,
            reason,
            any_value(elapsed_ns) as elapsed_ns,
            cast(sum(part_ns) as bigint) as total_ns,
            count(*) as gap_count,
            max(part_ns) as max_ns
        from gap_part($run_id, $phase)
        group by source_id, device_id, gap_kind, reason
    )
select
    device_rank.rank_index,
    kinds.device_id,
    kinds.gap_kind,
    ratio(kinds.total_ns, kinds.elapsed_ns) as share_ratio,
    ratio(
        kinds.total_ns, sum(kinds.total_ns) over (partition by kinds.source_id, kinds.device_id)
    ) as idle_share_ratio,
    kinds.total_ns,
    kinds.gap_count,
    ratio(kinds.total_ns, kinds.gap_count) as mean_ns,
    kinds.max_ns,
    kinds.elapsed_ns,
    kinds.reason,
    kinds.source_id
from kinds
left join
    device_rank
    on device_rank.run_id = $run_id
    and device_rank.source_id = kinds.source_id
    and device_rank.device_id is not distinct from kinds.device_id
order by
    device_rank.rank_index nulls last,
    kinds.source_id,
    kinds.device_id nulls last,
    kinds.total_ns desc,
    kinds.gap_kind,
    kinds.reason
