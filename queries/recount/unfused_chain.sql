-- purpose = "Elementwise kernels of one size, one after the other on a stream, take longer than
-- one."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "unfused_chain"
-- keys = ["source_id", "device_id", "name", "symptom_name"]
-- needs = ["op_call", "calling_context", "attribution"]
-- upon = "modeled_op"
-- is_partial = true
with
    pieces as (
        select
            work.source_id,
            work.device_id,
            stream_id,
            work.event_id,
            start_ns,
            dur_ns,
            modeled_op.op_name,
            read_bytes,
            write_bytes,
            peaks['dram'] as dram_peak,
            if(kind = 'elementwise', write_bytes, null) as size_bytes
        from attribution as work
        left join modeled_op using (source_id, context_id)
        left join
            known_peak
            on known_peak.source_id = work.source_id
            and known_peak.device_id is not distinct from work.device_id
        where
            work.run_id = $run_id
            and dur_ns > 0
            -- each operator tells plainly what it does, and no step cuts the work
            and work.source_id not in (
                select source_id
                from calling_context
                where
                    run_id = $run_id
                    and context_kind = 'op'
                    and (source_id, context_id)
                    not in (select (source_id, context_id) from modeled_op where kind is not null)
            )
            and work.source_id not in (select source_id from step where run_id = $run_id)
    ),
    numbered as (
        select
            *,
            row_number() over lane - row_number() over (
                partition by source_id, device_id, stream_id, size_bytes order by start_ns, event_id
            ) as chain
        from pieces
        window lane as (partition by source_id, device_id, stream_id order by start_ns, event_id)
    ),
    chains as (
        select
            source_id,
            device_id,
            stream_id,
            size_bytes,
            chain,
            first(op_name order by start_ns, event_id) as name,
            count(*) as kernels,
            min(start_ns) as first_ns,
            sum(dur_ns) as chain_ns,
            least(
                max(dur_ns),
                1e9
                * (first(read_bytes order by start_ns, event_id) + size_bytes)
                / any_value(dram_peak)
            ) as fused_ns
        from numbered
        where size_bytes is not null
        group by source_id, device_id, stream_id, size_bytes, chain
        having kernels >= 3
    )
select
    source_id,
    device_id,
    name,
    null as symptom_name,
    floor(round(sum(chain_ns - fused_ns), 3)) as win_ns,
    count(*) as chain_count,
    max_by(kernels, (chain_ns, - first_ns)) as call_count
from chains
group by source_id, device_id, name
having win_ns > 0
