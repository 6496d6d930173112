-- purpose = "Products of two matrices have 2 m n k operations by the model, and those of their
-- counters."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "model_check"
-- keys = ["name", "input_dims", "input_types"]
-- needs = ["kernel_match", "calling_context", "op_call", "attribution"]
-- upon = "joined_launch"
-- is_partial = true
-- skips_unknown = true
with
    product as (
        select
            own.source_id,
            own.context_id,
            own.name,
            own.input_dims,
            own.input_types,
            (own.input_dims::json -> 0 ->> 0)::double as m,
            (own.input_dims::json -> 0 ->> 1)::double as k,
            (own.input_dims::json -> 1 ->> 1)::double as n,
            bool_and(
                parent.context_kind is distinct from 'op'
                and child.context_id is null
                and own.input_types = '["float", "float"]'
            ) over (partition by own.name, own.input_dims, own.input_types) as is_alone
        from (from calling_context where run_id = $run_id and name = 'aten::mm') as own
        left join
            (from calling_context where run_id = $run_id) as parent
            on parent.source_id = own.source_id
            and parent.context_id = own.parent_context_id
        left join
            (from calling_context where run_id = $run_id) as child
            on child.source_id = own.source_id
            and child.parent_context_id = own.context_id
    ),
    called as (
        select source_id, context_id, count(*) filter (where work_count > 0) as calls
        from op_call
        where run_id = $run_id
        group by source_id, context_id
    ),
    ran as (
        select
            work.source_id,
            context_id,
            sum(work.dur_ns) as ns,
            count(*) filter (where work_kind = 'kernel') as kernels,
            bool_or(capture_event_id is not null) as is_replayed,
            sum(bytes) as bytes,
            count(bytes) as counted
        from (from attribution where run_id = $run_id) as work
        left join
            joined_launch
            on joined_launch.source_id = work.source_id
            and joined_launch.event_id = work.event_id
            and work_kind = 'kernel'
        group by work.source_id, context_id
    )
select
    name,
    input_dims,
    input_types,
    sum(2 * m * n * k * calls) as modelled_flop,
    sum(4 * (m * k + k * n + m * n) * calls) as modelled_bytes,
    if(bool_and(counted = kernels), sum(bytes), null) as measured_bytes,
    modelled_bytes / nullif(measured_bytes, 0) as bytes_factor,
    sum(ns) as total_ns,
    sum(calls) as call_count,
    'matmul' as family_name
from product
join called using (source_id, context_id)
join ran using (source_id, context_id)
where is_alone and kernels > 0 and calls > 0
group by name, input_dims, input_types
having not bool_or(is_replayed)
