-- purpose = "The longest times in which a device was idle: when, between what, and what was waited for."
-- source = "docs/metrics.md, section gaps"
-- needs = ["attribution"]
-- depends = ["gap_part", "device_work", "device_rank"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M", default = "all"}
-- top = {type = "BIGINT", doc = "how many", default = 20}
-- [columns]
-- gap_ns = {type = "BIGINT", doc = "how long the device was idle"}
-- gap_kind = {type = "VARCHAR", doc = "what most of it waited for, as in gaps"}
-- kind_ns = {type = "BIGINT", doc = "how much of it did"}
-- op_name = {type = "VARCHAR", doc = "operator that launched the next work"}
-- next_name = {type = "VARCHAR", doc = "next work; NULL where there is none"}
-- previous_name = {type = "VARCHAR", doc = "work that ended where the gap begins; NULL where nothing is before it"}
-- launch_name = {type = "VARCHAR", doc = "call that launched the next work"}
-- step_index = {type = "BIGINT", doc = "step that the next work was launched in"}
-- rank_index = {type = "BIGINT", doc = "rank; NULL where the file does not say"}
-- device_id = {type = "BIGINT", doc = "device; NULL where the file does not say"}
-- offset_ns = {type = "BIGINT", doc = "start of the gap, after that of the steps"}
-- next_event_id = {type = "BIGINT", doc = "next work: kernel.event_id or transfer.event_id"}
-- launch_event_id = {type = "BIGINT", doc = "call that launched it: slice.event_id"}
-- start_ns = {type = "BIGINT", doc = "start of the gap, on the clock of the source"}
-- reason = {type = "VARCHAR", doc = "of unknown: why"}
-- source_id = {type = "VARCHAR", doc = "source (one rank of a job)"}
WITH
longest AS MATERIALIZED (
    SELECT
        source_id, device_id, gap_start_ns, window_start_ns, previous_event_id, next_event_id,
        any_value(gap_end_ns) - gap_start_ns AS gap_ns,
        arg_max(gap_kind, (part_ns, gap_kind)) AS gap_kind,
        max(part_ns) AS kind_ns,
        any_value(reason) AS reason
    FROM gap_part($run_id, $phase)
    GROUP BY source_id, device_id, gap_start_ns, window_start_ns, previous_event_id, next_event_id
    ORDER BY gap_ns DESC, source_id, device_id, gap_start_ns
    LIMIT $top
),
work AS (
    SELECT * FROM device_work WHERE run_id = $run_id
)
SELECT
    longest.gap_ns, longest.gap_kind, longest.kind_ns,
    following.op_name, following.name AS next_name, previous.name AS previous_name, following.launch_name,
    following.step_index, device_rank.rank_index, longest.device_id,
    longest.gap_start_ns - longest.window_start_ns AS offset_ns,
    longest.next_event_id, following.launch_event_id, longest.gap_start_ns AS start_ns, longest.reason,
    longest.source_id
FROM longest
LEFT JOIN work AS following
    ON following.source_id = longest.source_id AND following.event_id = longest.next_event_id
LEFT JOIN work AS previous
    ON previous.source_id = longest.source_id AND previous.event_id = longest.previous_event_id
LEFT JOIN device_rank
    ON device_rank.run_id = $run_id AND device_rank.source_id = longest.source_id AND device_rank.device_id IS NOT DISTINCT FROM longest.device_id
ORDER BY longest.gap_ns DESC, longest.source_id, longest.device_id, longest.gap_start_ns
