-- purpose = "Longest idle times of a device: when, between which work, and the cause."
-- source = "docs/metrics.md, section gaps"
-- needs = ["attribution"]
-- depends = ["gap_part", "device_work", "device_rank"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M", default = "all"}
-- top = {type = "BIGINT", doc = "how many", default = 20}
-- [columns]
-- gap_ns = {type = "BIGINT", doc = "duration of the gap"}
-- gap_kind = {type = "VARCHAR", doc = "cause of most of the gap, as in gaps"}
-- kind_ns = {type = "BIGINT", doc = "how much of it did"}
-- op_name = {type = "VARCHAR", doc = "operator that launched the next work"}
-- next_name = {type = "VARCHAR", doc = "next work; NULL if none"}
-- previous_name = {type = "VARCHAR", doc = "work that ended at the start of the gap; NULL if none"}
-- launch_name = {type = "VARCHAR", doc = "call that launched the next work"}
-- step_index = {type = "BIGINT", doc = "step that launched the next work"}
-- rank_index = {type = "BIGINT", doc = "rank; NULL if unknown"}
-- device_id = {type = "BIGINT", doc = "device; NULL if unknown"}
-- offset_ns = {type = "BIGINT", doc = "start of the gap after the start of the steps"}
-- next_event_id = {type = "BIGINT", doc = "next work: kernel.event_id or transfer.event_id"}
-- launch_event_id = {type = "BIGINT", doc = "call that launched it: slice.event_id"}
-- start_ns = {type = "BIGINT", doc = "start of the gap, on the clock of the source"}
-- reason = {type = "VARCHAR", doc = "of unknown: why"}
-- source_id = {type = "VARCHAR", doc = "source (one rank of a job)"}
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
            arg_max(gap_kind, (part_ns, gap_kind)) as gap_kind,
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
