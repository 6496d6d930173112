-- purpose = "Every change of an allocator's memory, with the kind of the block that it begins or ends."
-- source = "docs/metrics.md, section Memory by kind"
-- needs = ["allocation", "memory_event"]
-- depends = ["memory_kind", "sampled_memory"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- process_id = {type = "BIGINT", doc = "process whose allocator it is"}
-- device_kind = {type = "VARCHAR", doc = "cpu, cuda, hip, xpu …"}
-- device_id = {type = "BIGINT", doc = "device; NULL for the host's memory"}
-- event_id = {type = "BIGINT", doc = "the memory_event; NULL of a release that was lost, whose address is allocated again"}
-- time_ns = {type = "BIGINT", doc = "moment"}
-- step_index = {type = "BIGINT", doc = "step it is in"}
-- kind = {type = "VARCHAR", doc = "memory_kind.kind; unknown where that is NULL; NULL where the block's allocation is not in the file"}
-- context_id = {type = "BIGINT", doc = "calling_context that allocated the block"}
-- change_bytes = {type = "BIGINT", doc = "bytes of the block, negative where it ends; 0 where its allocation is not in the file"}
-- total_allocated_bytes = {type = "BIGINT", doc = "allocated after it, as the profiler has it"}
-- total_reserved_bytes = {type = "BIGINT", doc = "reserved by the allocator after it, as the profiler has it"}
WITH
blocks AS NOT MATERIALIZED (
    SELECT *, coalesce(kind, 'unknown') AS shown_kind
    FROM memory_kind(wanted_run) ANTI JOIN (FROM sampled_memory WHERE wanted_run IS NULL OR run_id = wanted_run) AS sampled USING (run_id, source_id)
    WHERE event_id IS NOT NULL
),
ends AS NOT MATERIALIZED (
    SELECT run_id, source_id, event_id, step_index, shown_kind, context_id, size_bytes AS change_bytes FROM blocks
    UNION ALL
    SELECT run_id, source_id, release_event_id, release_step_index, shown_kind, context_id, -size_bytes FROM blocks
    WHERE release_event_id IS NOT NULL
)
SELECT
    run_id, source_id, seen.process_id, seen.device_kind, seen.device_id, event_id, seen.time_ns, ends.step_index,
    ends.shown_kind AS kind, ends.context_id, coalesce(ends.change_bytes, 0) AS change_bytes,
    seen.total_allocated_bytes, seen.total_reserved_bytes
FROM (FROM memory_event WHERE wanted_run IS NULL OR run_id = wanted_run) AS seen LEFT JOIN ends USING (run_id, source_id, event_id)
UNION ALL
SELECT
    run_id, source_id, process_id, device_kind, device_id, NULL, end_ns, NULL, shown_kind, context_id, -size_bytes, NULL, NULL
FROM blocks
WHERE release_event_id IS NULL AND end_ns IS NOT NULL
