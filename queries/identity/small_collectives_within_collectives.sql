-- purpose = "A finding names no more collectives of a kind than collectives."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["collectives", "small_collectives"]
select
    found.collective_kind as subject,
    'small_collectives.total_ns, summed' as first_figure,
    sum(found.total_ns) as first_value,
    'collectives.total_ns, summed' as second_figure,
    any_value(told.total_ns) as second_value
from small_collectives as found
left join
    (select collective_kind, sum(total_ns) as total_ns from collectives group by all) as told
    on told.collective_kind = found.collective_kind
group by found.collective_kind
having is_above(sum(found.total_ns), coalesce(any_value(told.total_ns), 0))
