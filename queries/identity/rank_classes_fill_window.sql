-- purpose = "The exclusive classes of a rank sum to its window."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["ranks"]
select
    'rank '
    || coalesce(cast(ranks.rank_index as varchar), '?')
    || ' of source '
    || ranks.source_id as subject,
    'ranks: compute, exposed and idle time' as first_figure,
    compute_ns + exposed_communication_ns + exposed_copy_ns + idle_ns as first_value,
    'ranks.elapsed_ns' as second_figure,
    elapsed_ns as second_value
from ranks
where is_above(compute_ns + exposed_communication_ns + exposed_copy_ns + idle_ns, elapsed_ns)
