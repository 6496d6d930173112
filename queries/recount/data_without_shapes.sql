-- purpose = "Kernels of products without shapes take their share of the time of operators."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "data_without_shapes"
-- keys = ["source_id"]
-- needs = ["calling_context", "attribution"]
-- is_partial = true
with
    ran as (
        select
            work.source_id,
            dur_ns,
            context.name,
            input_dims is null as is_lacking,
            regexp_full_match(context.name, 'aten::(mm|bmm|addmm|mul|add|relu|tanh)') as has_model,
            context.name like 'aten::%' as is_aten
        from attribution as work
        join (from calling_context where run_id = $run_id) as context using (source_id, context_id)
        where work.run_id = $run_id and work_kind = 'kernel' and context_kind = 'op'
    )
select
    source_id,
    sum(if(is_lacking and has_model, dur_ns, 0)) / sum(dur_ns) as unknown_ratio,
    sum(dur_ns) as total_ns
from ran
-- what has a model is told for sure, and no operator calls another
where
    source_id not in (
        select source_id
        from calling_context
        where
            run_id = $run_id
            and context_kind = 'op'
            and parent_context_id in (
                select context_id
                from calling_context as outer_one
                where
                    outer_one.run_id = $run_id
                    and outer_one.source_id = calling_context.source_id
                    and outer_one.context_kind = 'op'
            )
    )
group by source_id
having unknown_ratio >= 0.1 and bool_and(has_model or not is_aten or not is_lacking)
