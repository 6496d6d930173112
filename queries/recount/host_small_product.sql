-- purpose = "Products of a few rows, one after the other, take longer than their longest."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "host_small_product"
-- keys = ["source_id", "name"]
-- needs = ["op_call", "calling_context"]
-- upon = "host_op_call"
-- is_partial = true
with
    told as (
        select
            *,
            try_cast(input_dims as bigint[][]) as dims,
            name = 'aten::mm' and input_types = '["float", "float"]' as is_product,
            lag(context_id) over one is distinct from context_id as is_other
        from host_op_call
        where
            is_outermost
            and not regexp_matches(
                name,
                '^aten::(empty|(select|slice|view|unsqueeze|squeeze|expand|t|transpose|permute)$)'
            )
        window one as (partition by source_id, thread_id order by start_ns, event_id)
        -- what is none of these may be a view or not
        qualify
            bool_and(
                regexp_full_match(
                    name, 'aten::(mul|add|sub|div|mm|addmm|linear|sum|relu|copy_|item)_?'
                )
            ) over (partition by source_id)
    ),
    numbered as (
        select
            *,
            dims[1][1] as rows,
            dims[1][2] as inner_size,
            dims[2][2] as columns,
            2
            * rows
            * inner_size
            * columns
            / (4 * (rows * inner_size + inner_size * columns + rows * columns)) as intensity,
            sum(is_other::int) over (
                partition by source_id, thread_id order by start_ns, event_id
            ) as series
        from told
    ),
    ended as (
        select
            source_id,
            name,
            count(*) as products,
            sum(dur_ns) as series_ns,
            max(dur_ns) as longest_ns,
            min(start_ns) as first_ns,
            any_value(intensity) as intensity,
            any_value(from_ns) as from_ns,
            any_value(elapsed_ns) as elapsed_ns
        from numbered
        where is_product
        group by source_id, thread_id, name, series
        having products >= 4 and any_value(intensity) < 2
    )
select
    source_id,
    name,
    least(sum(series_ns - longest_ns), any_value(elapsed_ns)) as win_ns,
    count(*) as chain_count,
    max_by(products, (series_ns, - first_ns)) as call_count,
    max_by(first_ns - from_ns, (series_ns, - first_ns)) as example_offset_ns,
    max_by(intensity, (series_ns, - first_ns)) as intensity_flop_per_byte,
    any_value(elapsed_ns) as elapsed_ns
from ended
group by source_id, name
having win_ns > 0
