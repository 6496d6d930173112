-- purpose = "Modeled work of one call in each calling context, and the context that owns the work
-- of its kernels."
-- source = "docs/metrics.md, section Modelled work; function op_model"
-- needs = ["calling_context"]
-- parameters = "wanted_run"
-- columns = "run_id source_id context_id-work name-member family_name is_heavy flop_count
-- read_bytes write_bytes accessed_bytes precision_name-computed comm_bytes
-- provenance_kind-modelled reason unit_context_id"
with recursive
    here as not materialized(
        select *, context_kind = 'op' as is_op
        from calling_context
        where wanted_run is null or run_id = wanted_run
    ),
    -- each only once: a call of Python takes longer than a join
    calls as materialized(
        select
            name,
            input_dims,
            input_types,
            input_strides,
            concrete_inputs,
            op_model(name, input_dims, input_types, input_strides, concrete_inputs) as work
        from
            (
                select distinct name, input_dims, input_types, input_strides, concrete_inputs
                from here
                where is_op
            )
    ),
    modelled as (
        select
            here.run_id,
            here.source_id,
            here.context_id,
            here.parent_context_id,
            here.name,
            here.is_op,
            calls.work
        from here
        left join
            calls
            on here.is_op
            and calls.name is not distinct from here.name
            and calls.input_dims is not distinct from here.input_dims
            and calls.input_types is not distinct from here.input_types
            and calls.input_strides is not distinct from here.input_strides
            and calls.concrete_inputs is not distinct from here.concrete_inputs
    ),
    context as materialized(
        select
            *,
            coalesce(
                greatest(work.flop_count, work.read_bytes, work.write_bytes, work.comm_bytes) > 0,
                false
            ) as is_working,
            {
                'context_id':context_id, 'family_name':work.family_name, 'is_heavy':work.is_heavy
            } as member
        from modelled
    ),
    -- from the outermost in: the contexts with work on the way to each, itself the last
    chain as (
        select
            run_id,
            source_id,
            context_id,
            is_working,
            member,
            case when is_op then context_id end as op_context_id,
            case when is_working then [member] else [member][2:] end as workers
        from context
        where parent_context_id is null
        union all
        select
            inner_one.run_id,
            inner_one.source_id,
            inner_one.context_id,
            inner_one.is_working,
            inner_one.member,
            case
                when inner_one.is_op then inner_one.context_id else chain.op_context_id
            end as op_context_id,
            case
                when inner_one.is_working
                then list_append(chain.workers, inner_one.member)
                else chain.workers
            end
        from chain
        join
            context as inner_one
            on inner_one.run_id = chain.run_id
            and inner_one.source_id = chain.source_id
            and inner_one.parent_context_id = chain.context_id
    ),
    link as materialized(
        select
            run_id,
            source_id,
            context_id,
            is_working,
            member,
            unnest(workers) as worker,
            generate_subscripts(workers, 1) as place
        from chain
    ),
    -- a linear layer is the product that it calls, attention the products, a batch norm that of a
    -- library
    wrapper as materialized(
        select distinct run_id, source_id, worker.context_id
        from link
        where
            is_working
            and worker.context_id <> context_id
            and (worker.family_name = member.family_name or worker.is_heavy and member.is_heavy)
    ),
    unit as (
        select
            run_id, source_id, link.context_id, arg_max(worker.context_id, place) as unit_context_id
        from link
        anti join
            wrapper
            on wrapper.run_id = link.run_id
            and wrapper.source_id = link.source_id
            and wrapper.context_id = worker.context_id
        group by run_id, source_id, link.context_id
    ),
    figures as (
        select
            context.*,
            coalesce(unit_context_id, op_context_id) as unit_context_id,
            wrapper.context_id is not null as is_wrapper,
            case when not is_wrapper then work end as own
        from context
        left join wrapper using (run_id, source_id, context_id)
        left join unit using (run_id, source_id, context_id)
        left join chain using (run_id, source_id, context_id)
    )
select
    run_id,
    source_id,
    context_id,
    name,
    work.family_name,
    work.is_heavy,
    own.flop_count,
    own.read_bytes,
    own.write_bytes,
    own.accessed_bytes,
    own.precision_name,
    own.comm_bytes,
    case
        when coalesce(own.flop_count, own.read_bytes, own.write_bytes, own.comm_bytes) is not null
        then 'modelled'
    end as provenance_kind,
    case
        when not is_op
        then 'no operator'
        when is_wrapper
        then 'counted in the operators it calls'
        else work.reason
    end as reason,
    coalesce(unit_context_id, context_id) as unit_context_id
from figures
