-- purpose = "Gaps have the cause of their longest part, and the work before and after it."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "largest_gaps"
-- keys = ["source_id", "device_id", "start_ns"]
-- needs = ["attribution"]
-- upon = "gap_cause"
-- is_partial = true
select
    gap_cause.source_id,
    gap_cause.device_id,
    gap_start_ns as start_ns,
    any_value(gap_cause.rank_index) as rank_index,
    any_value(gap_end_ns) - gap_start_ns as gap_ns,
    max(ns) as kind_ns,
    min_by(kind, (- ns, kind)) as gap_kind,
    any_value(why) filter (where ns > 0) as reason,
    gap_start_ns - any_value(window_start_ns) as offset_ns,
    any_value(previous_name) as previous_name,
    any_value(attribution.name) as next_name,
    any_value(attribution.op_name) as op_name,
    any_value(attribution.launch_name) as launch_name,
    any_value(attribution.launch_event_id) as launch_event_id
from gap_cause
left join
    (from attribution where run_id = $run_id) as attribution
    on attribution.source_id = gap_cause.source_id
    and event_id = next_event_id
group by gap_cause.source_id, gap_cause.device_id, gap_index, gap_start_ns
order by gap_ns desc, 1, 2, 3
limit 5
