-- purpose = "A rank is idle as long as its device."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["ranks", "overlap"]
select
    'rank '
    || coalesce(cast(ranks.rank_index as varchar), '?')
    || ' of source '
    || ranks.source_id as subject,
    'ranks.idle_ns' as first_figure,
    ranks.idle_ns as first_value,
    'overlap.exposed_ns of idle' as second_figure,
    overlap.exposed_ns as second_value
from ranks
join
    overlap
    on overlap.source_id = ranks.source_id
    and overlap.device_id is not distinct from ranks.device_id
where work_class = 'idle' and differs(ranks.idle_ns, overlap.exposed_ns)
