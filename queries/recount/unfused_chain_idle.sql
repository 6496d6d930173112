-- purpose = "Between elementwise kernels of one size, one after the other on the only stream, the
-- device is idle."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "unfused_chain"
-- keys = ["source_id", "device_id", "name", "symptom_name"]
-- needs = ["op_call", "calling_context", "attribution"]
-- upon = "idle_piece"
-- is_partial = true
with
    shaped as (
        select
            work.source_id,
            work.device_id,
            event_id,
            start_ns,
            dur_ns,
            context.name as op_name,
            list_filter(try_cast(input_dims as bigint[][]), lambda sizes:len(sizes) > 0) as tensors,
            if(
                regexp_full_match(op_name, 'aten::(mul|add|sub|div|tanh|sigmoid|relu)'),
                list_product(tensors[1]),
                null
            ) as item_count
        from attribution as work
        left join
            (from calling_context where run_id = $run_id) as context using (source_id, context_id)
        where work.run_id = $run_id
        window one as (partition by work.source_id, work.device_id)
        qualify
            min(coalesce(stream_id, -1)) over one = max(coalesce(stream_id, -1)) over one
            and bool_and(
                work_kind = 'kernel'
                and dur_ns > 0
                and coalesce(input_types, '') not similar to '.*(c10|double|long).*'
                and len(list_distinct(tensors)) = 1
                and item_count is not null
            ) over one
    ),
    numbered as (
        select
            *,
            row_number() over (partition by source_id, device_id order by start_ns, event_id)
            - row_number() over (
                partition by source_id, device_id, item_count order by start_ns, event_id
            ) as chain
        from shaped
    ),
    members as (
        select
            *,
            count(*) over one as kernels,
            sum(dur_ns) over one as chain_ns,
            min(start_ns) over one as first_ns,
            first(op_name) over (one order by start_ns, event_id) as name
        from numbered
        window one as (partition by source_id, device_id, item_count, chain)
    )
select
    members.source_id,
    members.device_id,
    name,
    'idle_' || idle_kind as symptom_name,
    sum(piece_ns) as win_ns,
    count(distinct first_ns) as chain_count,
    max_by(kernels, (chain_ns, - first_ns)) as call_count,
    max_by(first_ns - from_ns, (chain_ns, - first_ns)) as example_offset_ns,
    any_value(elapsed_ns) as elapsed_ns
from members
join
    idle_piece
    on idle_piece.source_id = members.source_id
    and idle_piece.event_id = members.event_id
where
    kernels >= 3
    and start_ns > first_ns
    and idle_kind in ('host', 'launch', 'between')
    and piece_ns < 1000000
group by members.source_id, members.device_id, name, idle_kind
