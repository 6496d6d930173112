-- purpose = "Contexts with the operator whose time theirs is: the innermost around them, or they,
-- that the model knows work of; none whose work is that of another inside it. Else the innermost
-- operator."
with recursive
    context as (
        select calling_context.*, context_kind = 'op' as is_op, work
        from calling_context
        left join
            (
                select
                    *,
                    op_model(name, input_dims, input_types, input_strides, concrete_inputs) as work
                from
                    (
                        select distinct
                            name, input_dims, input_types, input_strides, concrete_inputs
                        from calling_context
                        where run_id = $run_id and context_kind = 'op'
                    )
            ) as model
            on context_kind = 'op'
            and model.name is not distinct from calling_context.name
            and model.input_dims is not distinct from calling_context.input_dims
            and model.input_types is not distinct from calling_context.input_types
            and model.input_strides is not distinct from calling_context.input_strides
            and model.concrete_inputs is not distinct from calling_context.concrete_inputs
        where run_id = $run_id
    ),
    around as (
        select source_id, context_id, context_id as outer_id, 0 as distance
        from context
        union all
        select around.source_id, around.context_id, parent_context_id, distance + 1
        from around
        join
            context on context.source_id = around.source_id and context.context_id = around.outer_id
        where parent_context_id is not null
    ),
    worker as (
        select source_id, context_id, work.family_name as family, work.is_heavy as is_heavy
        from context
        where
            work.flop_count > 0
            or work.read_bytes > 0
            or work.write_bytes > 0
            or work.comm_bytes > 0
    ),
    wrapper as (
        select distinct around.source_id, outer_id as context_id
        from around
        join worker as inside using (source_id, context_id)
        join
            worker as outside
            on outside.source_id = around.source_id
            and outside.context_id = outer_id
        where
            distance > 0
            and (inside.family = outside.family or (inside.is_heavy and outside.is_heavy))
    ),
    nearest as (
        select
            around.source_id,
            around.context_id,
            min_by(outer_id, distance) filter (
                where
                    (around.source_id, outer_id) in (select (source_id, context_id) from worker)
                    and (around.source_id, outer_id)
                    not in (select (source_id, context_id) from wrapper)
            ) as worker_id,
            min_by(outer_id, distance) filter (where is_op) as op_id
        from around
        join context on context.source_id = around.source_id and context.context_id = outer_id
        group by around.source_id, around.context_id
    )
select
    nearest.source_id,
    nearest.context_id,
    coalesce(worker_id, op_id, nearest.context_id) as unit_id,
    if(context.is_op, context.name, null) as name,
    context.module_path,
    if(wrapper.context_id is null, work.flop_count, null) as flop,
    if(wrapper.context_id is null, work.accessed_bytes, null) as bytes,
    if(wrapper.context_id is null, work.precision_name, null) as precision_name,
    work.is_heavy as is_heavy
from nearest
join
    context
    on context.source_id = nearest.source_id
    and context.context_id = coalesce(worker_id, op_id, nearest.context_id)
left join
    wrapper
    on wrapper.source_id = nearest.source_id
    and wrapper.context_id = coalesce(worker_id, op_id, nearest.context_id)
