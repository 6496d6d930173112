-- purpose = "Every launch of a timeline that was joined to counters: its operations and bytes,
-- and their times at the peaks of its device."
-- source = "docs/metrics.md, section Counters joined to a timeline"
-- needs = ["kernel_match"]
-- empty_without = ["kernel_match"]
-- depends = ["work_under"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- event_id = {type = "BIGINT", doc = "the launch: kernel.event_id"}
-- is_matched = {type = "BOOLEAN", doc = "it has counters, whatever they count"}
-- dur_ns = {type = "BIGINT", doc = "duration in the timeline"}
-- total_flop = {type = "BIGINT", doc = "all operations, FP16 as work alone"}
-- fp32_flop = {type = "BIGINT", doc = "FP32 operations, not those of tensor cores"}
-- dram_bytes = {type = "BIGINT", doc = "bytes to and from device memory"}
-- compute_ns = {type = "DOUBLE", doc = "time of the operations at peak"}
-- dram_ns = {type = "DOUBLE", doc = "time of these bytes at peak"}
-- ceiling_name = {type = "VARCHAR", doc = "the compute peak that most operations are under"}
-- fp32_flop_per_s = {type = "DOUBLE", doc = "peak of FP32"}
-- reason = {type = "VARCHAR", doc = "why operations are NULL"}
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
