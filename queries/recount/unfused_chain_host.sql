-- purpose = "Elementwise operators of one size, one after the other on a thread, take longer than
-- one."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "unfused_chain"
-- keys = ["source_id", "name", "symptom_name"]
-- needs = ["op_call", "calling_context"]
-- upon = "host_op_call"
-- is_partial = true
with
    peak as (
        select source_id, max(value) as dram_peak
        from assumption
        where run_id = $run_id and assumption_kind = 'bandwidth' and name = 'dram'
        group by source_id
    ),
    shaped as (
        select
            host_op_call.*,
            name as op_name,
            list_filter(try_cast(input_dims as bigint[][]), lambda sizes:len(sizes) > 0) as tensors,
            if(
                regexp_full_match(name, 'aten::(mul|add|sub|div|tanh|sigmoid|relu)'),
                4 * list_product(tensors[1]),
                null
            ) as size_bytes
        from host_op_call
        where
            dur_ns > 0
            and not regexp_matches(name, '^aten::(empty|(select|slice|view|t|transpose)$)')
            -- operators on floats of one size or products, without others in them
            and source_id not in (
                select source_id
                from host_op_call
                where
                    not is_outermost
                    or not regexp_full_match(
                        name, 'aten::(mul|add|sub|div|tanh|sigmoid|relu|mm|addmm|(empty|zeros)\w*)'
                    )
                    or contains(input_types, 'c10')
                    or contains(input_types, 'double')
                    or contains(input_types, 'long')
            )
    ),
    numbered as (
        select
            *,
            row_number() over (partition by source_id, thread_id order by start_ns, event_id)
            - row_number() over (
                partition by source_id, thread_id, size_bytes order by start_ns, event_id
            ) as chain
        from shaped
    ),
    chains as (
        select
            source_id,
            thread_id,
            size_bytes,
            chain,
            first(op_name order by start_ns, event_id) as name,
            count(*) as calls,
            min(start_ns) - any_value(from_ns) as offset_ns,
            sum(dur_ns) as chain_ns,
            least(
                max(dur_ns),
                1e9
                * size_bytes
                * (first(len(tensors) order by start_ns, event_id) + 1)
                / any_value(dram_peak)
            ) as fused_ns,
            any_value(elapsed_ns) as elapsed_ns
        from numbered
        left join peak using (source_id)
        where size_bytes is not null
        group by source_id, thread_id, size_bytes, chain
        having calls >= 3
    )
select
    source_id,
    name,
    'host_memory_bound' as symptom_name,
    floor(round(sum(chain_ns - fused_ns), 3)) as win_ns,
    count(*) as chain_count,
    max_by(calls, (chain_ns, - offset_ns)) as call_count,
    max_by(offset_ns, (chain_ns, - offset_ns)) as example_offset_ns,
    any_value(elapsed_ns) as elapsed_ns
from chains
group by source_id, name
having win_ns > 0
