-- purpose = "Tensors of a size that was filled before are filled again as often as called."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "host_fill"
-- keys = ["source_id", "name"]
-- needs = ["op_call", "calling_context"]
-- upon = "host_op_call"
-- is_partial = true
with
    filled as (
        select
            *,
            row_number() over (
                partition by source_id, name, coalesce(concrete_inputs, '')
                order by start_ns, event_id
            ) as place
        from host_op_call
        where
            dur_ns > 0
            and regexp_matches(name, '^aten::(new_)?(zeros|ones|full|randn?|randint)(_like)?$')
            and context_id is not null
    )
select
    source_id,
    name,
    least(sum(dur_ns), any_value(elapsed_ns)) as win_ns,
    count(*) as call_count,
    max(dur_ns) as longest_ns,
    max_by(start_ns - from_ns, (dur_ns, - start_ns)) as example_offset_ns,
    any_value(elapsed_ns) as elapsed_ns
from filled
where place > 1
group by source_id, name
