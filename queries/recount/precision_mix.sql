-- purpose = "Operations by precision are those of the launches."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "precision_mix"
-- keys = ["name", "precision_name"]
-- options.by = ["run", "name"]
-- options.fp16_convention = ["arithmetic", "packed"]
-- upon = "chosen_work"
-- is_partial = true
with
    summed as (
        select
            name,
            columns(['fp64', 'fp32', 'fp16_work', 'tensor']),
            greatest(fp64, fp32, fp16_work, tensor) as most,
            fp64 + fp32 + fp16_work + tensor as flop,
            launches,
            ns
        from chosen_work
    ),
    mixed as (
        unpivot summed on fp64, fp32, fp16_work as fp16, tensor into name precision_name value part
    )
select
    mixed.name,
    precision_name,
    sum(part) as total_flop,
    sum(part) / sum(flop) as flop_share_ratio,
    sum(if(part = most and most > 0, launches, 0)) as launch_count,
    sum(if(part = most and most > 0, ns, 0)) as total_ns,
    sum(if(part = most and most > 0, ns, 0)) / sum(ns) as time_share_ratio
from mixed
group by mixed.name, precision_name
having sum(part) > 0 and (select bool_and(flop is not null and coalesce(ns, 0) > 0) from summed)
