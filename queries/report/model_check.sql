-- purpose = "Modeled against measured work of each operator: operations and bytes from shapes and
-- from counters."
-- source = "docs/metrics.md, section Counters joined to a timeline: modeled / measured"
-- topic = "counters"
-- needs = ["kernel_match"]
-- depends = ["attributed_op_work", "whole_sum"]
-- parameters = "run_id phase"
-- columns = "name-operator input_dims flop_factor bytes_factor modelled_flop measured_flop
-- modelled_bytes measured_bytes total_ns call_count family_name input_types reason"
-- answer = "flop_factor bytes_factor"
-- flop_factor = "DOUBLE: modelled_flop / measured_flop"
-- bytes_factor = "DOUBLE: modelled_bytes / measured_bytes; below 1, more than the minimum was
-- moved;
-- above 1, caches hold data that the model reads from memory"
-- modelled_flop = "DOUBLE: operations by the model"
-- measured_flop = "DOUBLE: operations by counters, including tensor cores (not on integers)"
-- modelled_bytes = "DOUBLE: bytes with each input and result counted once"
-- measured_bytes = "DOUBLE: bytes of device memory"
-- total_ns = "time of its kernels, copies and memsets"
with
    modelled as (from attributed_op_work($run_id, $phase, 'modelled')),
    measured as (from attributed_op_work($run_id, $phase, 'measured')),
    pairs as (
        select
            modelled.name,
            modelled.input_dims,
            modelled.input_types,
            modelled.family_name,
            modelled.total_ns,
            modelled.call_count,
            modelled.total_flop as modelled_flop,
            modelled.total_bytes as modelled_bytes,
            modelled.reason as model_reason,
            -- of some of the kernels only there is nothing to compare
            case when measured.is_whole then measured.total_flop end as measured_flop,
            case when measured.is_whole then measured.total_bytes end as measured_bytes,
            case when not measured.is_whole then measured.reason end as counter_reason
        from modelled
        join measured using (run_id, source_id, context_id)
        where
            modelled.name is not null
            and modelled.kernel_count > 0
            and exists (from kernel_match where run_id = $run_id)
    ),
    summed as (
        select
            name,
            input_dims,
            input_types,
            min(family_name) as family_name,
            cast(sum(total_ns) as bigint) as total_ns,
            cast(sum(call_count) as bigint) as call_count,
            whole_sum(modelled_flop) as modelled_flop,
            whole_sum(measured_flop) as measured_flop,
            whole_sum(modelled_bytes) as modelled_bytes,
            whole_sum(measured_bytes) as measured_bytes,
            min(model_reason) as model_reason,
            min(counter_reason) as counter_reason
        from pairs
        group by name, input_dims, input_types
    )
select
    name,
    input_dims,
    ratio(modelled_flop, measured_flop) as flop_factor,
    ratio(modelled_bytes, measured_bytes) as bytes_factor,
    modelled_flop,
    measured_flop,
    modelled_bytes,
    measured_bytes,
    total_ns,
    call_count,
    family_name,
    input_types,
    nullif(
        concat_ws(
            '; ',
            case
                when modelled_flop is null or modelled_bytes is null then 'model: ' || model_reason
            end,
            case
                when measured_flop is null or measured_bytes is null
                then 'counters: ' || counter_reason
            end,
            case
                when measured_flop = 0 and modelled_flop > 0
                then 'no floating-point operation was counted'
            end,
            case when measured_flop = 0 and modelled_flop = 0 then 'none of either' end
        ),
        ''
    ) as reason
from summed
order by total_ns desc nulls last, name, input_dims, input_types
