-- purpose = "Copies of the table of operators take the time of their rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "reported_copy"
-- keys = ["source_id", "device_id"]
-- needs = ["op_stat"]
-- is_partial = true
with
    told as (
        select *, regexp_matches(category_name, '^(copy-(start|done)|infeed|outfeed)$') as is_copy
        from op_stat
        where
            run_id = $run_id
            and side_kind = 'device'
            and not exists (from attribution where run_id = $run_id)
        -- operators of the framework are the same work again
        qualify op_kind = 'hlo' or not bool_or(op_kind = 'hlo') over (partition by source_id)
    )
select
    source_id,
    device_id,
    min_by(name, (- self_ns, name)) filter (where is_copy) as name,
    sum(self_ns) filter (where is_copy) as win_ns,
    sum(coalesce(occurrence_count, 1)) filter (where is_copy) as occurrence_count,
    sum(self_ns) as elapsed_ns
from told
group by source_id, device_id
having win_ns > 0
