-- purpose = "Changes of an allocator's memory, with the kind of the block that starts or ends."
-- source = "docs/metrics.md, section Memory by kind"
-- needs = ["allocation", "memory_event"]
-- depends = ["memory_kind", "sampled_memory"]
-- parameters = "wanted_run"
-- columns = "run_id source_id process_id device_kind device_id-memory event_id time_ns step_index
-- kind context_id change_bytes total_allocated_bytes total_reserved_bytes"
-- event_id = "memory_event; NULL for a lost release, whose address is allocated again"
-- kind = "VARCHAR: memory_kind.kind; unknown if that is NULL; NULL if the allocation is not in
-- the file"
-- change_bytes = "BIGINT: bytes of the block, negative for its release; 0 if its allocation is
-- not in the file"
-- total_allocated_bytes = "BIGINT: allocated after it, as the profiler reports"
-- total_reserved_bytes = "BIGINT: reserved by the allocator after it, as the profiler reports"
with
    blocks as materialized(
        select * exclude (kind, kind_basis, kind_reason), coalesce(kind, 'unknown') as told_kind
        from memory_kind(wanted_run)
        anti join
            (from sampled_memory where wanted_run is null or run_id = wanted_run) as sampled using (
                run_id, source_id
            )
        where event_id is not null
    ),
    ends as not materialized(
        select
            run_id,
            source_id,
            event_id,
            step_index,
            told_kind,
            context_id,
            size_bytes as change_bytes
        from blocks
        union all
        select
            run_id,
            source_id,
            release_event_id,
            release_step_index,
            told_kind,
            context_id,
            - size_bytes
        from blocks
        where release_event_id is not null
    )
select
    run_id,
    source_id,
    seen.process_id,
    seen.device_kind,
    seen.device_id,
    event_id,
    seen.time_ns,
    ends.step_index,
    ends.told_kind as kind,
    ends.context_id,
    coalesce(ends.change_bytes, 0) as change_bytes,
    seen.total_allocated_bytes,
    seen.total_reserved_bytes
from (from memory_event where wanted_run is null or run_id = wanted_run) as seen
left join ends using (run_id, source_id, event_id)
union all
select
    run_id,
    source_id,
    process_id,
    device_kind,
    device_id,
    null,
    end_ns,
    null,
    told_kind,
    context_id,
    - size_bytes,
    null,
    null
from blocks
where release_event_id is null and end_ns is not null
