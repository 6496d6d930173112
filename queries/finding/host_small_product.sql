-- purpose = "Time of products of a few rows, one after the other with the same shapes, that could
-- be one product of all rows, on a processor."
-- source = "Williams 2009 (Roofline): a product of one row does 2 operations for each number of
-- the matrix that it reads; docs/metrics.md, section Findings"
-- needs = ["op_call", "calling_context"]
-- depends = ["host_call"]
-- parameters = "run_id phase few_flop_per_byte"
-- few_flop_per_byte = {type = "DOUBLE", doc = "operations per byte below which a product has few
-- rows", default = 2}
-- columns = "name-operator win_ns chain_count call_count example_offset_ns
-- intensity_flop_per_byte-most symptom_name elapsed_ns-window source_id-rank device_id-none"
-- win_ns = "BIGINT: time of each series, less its longest product"
-- chain_count = "BIGINT: series of four products or more, with only views between them"
-- call_count = "BIGINT: products of the longest series"
-- intensity_flop_per_byte-most = "DOUBLE: operations per byte of the product that takes most time"
-- finding.title = "Products of a few rows run one by one"
-- finding.evidence = "{chain_count} series of {name} with the same shapes; the longest has
-- {call_count:call}, {example_offset_ns} after the start, of {intensity_flop_per_byte}: each reads
-- all of its matrix"
-- finding.action = "Put the rows into one batch, so that the matrix is read once."
-- finding.command = "query host_small_product"
-- finding.pool = "steps"
with
    ordered as (
        select *, context_id is distinct from lag(context_id) over lane as is_first
        from host_call($run_id, $phase)
        where
            is_outermost
            and family_name is distinct from 'view'
            and not starts_with(name, 'aten::empty')
        window lane as (partition by source_id, thread_id order by start_ns, event_id)
    ),
    numbered as (
        select
            *,
            sum(is_first::bigint) over (
                partition by source_id, thread_id order by start_ns, event_id
            ) as series_index
        from ordered
    ),
    series as (
        select
            source_id,
            name,
            count(*) as product_count,
            sum(dur_ns) as series_ns,
            max(dur_ns) as longest_ns,
            min(start_ns) as from_ns,
            any_value(ratio(flop_count, accessed_bytes)) as intensity_flop_per_byte,
            any_value(window_start_ns) as window_start_ns,
            any_value(elapsed_ns) as elapsed_ns
        from numbered
        where family_name = 'matmul'
        group by source_id, thread_id, name, series_index
        having product_count >= 4 and intensity_flop_per_byte < $few_flop_per_byte
    )
select
    name,
    least(cast(sum(series_ns - longest_ns) as bigint), any_value(elapsed_ns)) as win_ns,
    count(*) as chain_count,
    arg_max(product_count, (series_ns, - from_ns)) as call_count,
    arg_max(from_ns - window_start_ns, (series_ns, - from_ns)) as example_offset_ns,
    arg_max(intensity_flop_per_byte, (series_ns, - from_ns)) as intensity_flop_per_byte,
    'host_memory_bound' as symptom_name,
    any_value(elapsed_ns) as elapsed_ns,
    source_id,
    cast(null as bigint) as device_id
from series
group by source_id, name
having win_ns > 0
order by win_ns desc, source_id, name
