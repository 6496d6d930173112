-- purpose = "Launches of a timeline with joined counters: operations, bytes, and their times at
-- the device peaks."
-- source = "docs/metrics.md, section Counters joined to a timeline"
-- needs = ["kernel_match"]
-- depends = ["work_under"]
-- empty_without = ["kernel_match"]
-- columns = "run_id source_id event_id-kernel is_matched dur_ns-timeline total_flop fp32_flop
-- dram_bytes compute_ns dram_ns ceiling_name fp32_flop_per_s reason"
-- is_matched = "BOOLEAN: it has counters, whatever they count"
-- total_flop = "BIGINT: all operations, FP16 only as work"
select
    run_id,
    source_id,
    event_id,
    provenance_kind is not null as is_matched,
    dur_ns,
    all_flop as total_flop,
    fp32_flop,
    dram_bytes,
    compute_ns,
    dram_ns,
    ceiling_name,
    fp32_flop_per_s,
    total_reason as reason
from work_under('own', 'arithmetic')
join
    (select distinct run_id, launch_source_id as source_id from kernel_match) as joined using (
        run_id, source_id
    )
