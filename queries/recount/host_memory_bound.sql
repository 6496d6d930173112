-- purpose = "Products of elements on a processor take longer than their bytes."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "host_memory_bound"
-- keys = ["source_id", "name"]
-- needs = ["op_call", "calling_context", "assumption"]
-- upon = "host_op_call"
-- is_partial = true
with
    peak as (
        select
            source_id,
            max(value) filter (where name = 'dram') as dram_peak,
            max(value) filter (where name = 'fp32') as fp32_peak
        from assumption
        where run_id = $run_id
        group by source_id
    ),
    summed as (
        select
            host_op_call.source_id,
            context_id,
            host_op_call.name,
            4 * list_product(try_cast(any_value(input_dims) as bigint[][])[1]) as tensor_bytes,
            count(*) as calls,
            sum(self_ns) as total_ns,
            calls * 3 * tensor_bytes * 1e9 / any_value(dram_peak) as dram_ns,
            calls * tensor_bytes / 4 * 1e9 / any_value(fp32_peak) as compute_ns,
            any_value(fp32_peak / dram_peak) as ridge,
            any_value(elapsed_ns) as elapsed_ns
        from host_op_call
        join peak using (source_id)
        where
            input_types = '["float", "float"]'
            and regexp_full_match(input_dims, '\[(\[[^]]+\]), \[[^]]+\]\]')
            and name = 'aten::mul'
            -- what an operator calls for its own work counts as its own
            and source_id not in (select source_id from host_op_call where not is_outermost)
            and try_cast(input_dims as bigint[][])[1] = try_cast(input_dims as bigint[][])[2]
        group by host_op_call.source_id, context_id, host_op_call.name
    )
select
    source_id,
    name,
    least(floor(round(sum(total_ns) - sum(dram_ns), 3)), any_value(elapsed_ns)) as win_ns,
    sum(calls) as call_count,
    sum(total_ns) as total_ns,
    1 / 12 as intensity_flop_per_byte,
    any_value(ridge) as ridge_flop_per_byte,
    any_value(elapsed_ns) as elapsed_ns
from summed
where compute_ns < dram_ns and dram_ns < total_ns
group by source_id, name
-- each call of the name
having
    count(*) = (
        select count(distinct context_id)
        from host_op_call
        where host_op_call.source_id = summed.source_id and host_op_call.name = summed.name
    )
