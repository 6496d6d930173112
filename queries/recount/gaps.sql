-- purpose = "Idle times have the causes that the rows tell."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "gaps"
-- keys = ["source_id", "device_id", "gap_kind", "reason"]
-- needs = ["attribution"]
-- upon = "gap_cause"
-- is_partial = true
select
    source_id,
    device_id,
    kind as gap_kind,
    why as reason,
    any_value(rank_index) as rank_index,
    any_value(elapsed_ns) as elapsed_ns,
    sum(ns) as total_ns,
    count(*) as gap_count,
    max(ns) as max_ns,
    avg(ns) as mean_ns,
    sum(ns) / any_value(elapsed_ns) as share_ratio,
    sum(ns) / sum(sum(ns)) over (partition by source_id, device_id) as idle_share_ratio
from gap_cause
where ns > 0
group by source_id, device_id, kind, why
