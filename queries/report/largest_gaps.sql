-- purpose = "Longest idle times of a device: when, between which work, and the cause."
-- source = "docs/metrics.md, section gaps"
-- topic = "time"
-- needs = ["attribution"]
-- depends = ["gap_part", "device_work", "device_rank"]
-- parameters = "run_id phase top"
-- top = {default = 20}
-- columns = "gap_ns gap_kind kind_ns op_name next_name previous_name launch_name step_index
-- rank_index device_id offset_ns next_event_id launch_event_id start_ns reason-gap
-- source_id-rank"
-- answer = "gap_ns gap_kind next_name"
-- gap_ns = "BIGINT: duration of the gap"
-- gap_kind = "cause of most of the gap, as in gaps"
-- kind_ns = "BIGINT: how much of it did"
-- op_name = "operator that launched the next work"
-- next_name = "VARCHAR: next work; NULL if none"
-- previous_name = "VARCHAR: work that ended at the start of the gap; NULL if none"
-- step_index = "step that launched the next work"
-- offset_ns = "BIGINT: start of the gap after the start of the steps"
-- next_event_id = "next work: kernel.event_id or transfer.event_id"
-- start_ns = "start of the gap, on the clock of the source"
with
    longest as materialized(
        select
            source_id,
            device_id,
            gap_start_ns,
            window_start_ns,
            previous_event_id,
            next_event_id,
            any_value(gap_end_ns) - gap_start_ns as gap_ns,
            arg_min(gap_kind, (- part_ns, gap_kind)) as gap_kind,
            max(part_ns) as kind_ns,
            any_value(reason) as reason
        from gap_part($run_id, $phase)
        group by
            source_id, device_id, gap_start_ns, window_start_ns, previous_event_id, next_event_id
        order by gap_ns desc, source_id, device_id, gap_start_ns
        limit $top
    ),
    work as (select * from device_work where run_id = $run_id)
select
    longest.gap_ns,
    longest.gap_kind,
    longest.kind_ns,
    following.op_name,
    following.name as next_name,
    previous.name as previous_name,
    following.launch_name,
    following.step_index,
    device_rank.rank_index,
    longest.device_id,
    longest.gap_start_ns - longest.window_start_ns as offset_ns,
    longest.next_event_id,
    following.launch_event_id,
    longest.gap_start_ns as start_ns,
    longest.reason,
    longest.source_id
from longest
left join
    work as following
    on following.source_id = longest.source_id
    and following.event_id = longest.next_event_id
left join
    work as previous
    on previous.source_id = longest.source_id
    and previous.event_id = longest.previous_event_id
left join
    device_rank
    on device_rank.run_id = $run_id
    and device_rank.source_id = longest.source_id
    and device_rank.device_id is not distinct from longest.device_id
order by longest.gap_ns desc, longest.source_id, longest.device_id, longest.gap_start_ns
