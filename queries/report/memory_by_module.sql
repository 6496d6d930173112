-- purpose = "Modules that hold the memory of one kind, by the operators called directly in each."
-- source = "Zhu 2018 (TBD), sect. IV-D (feature maps); docs/metrics.md, section Memory by kind"
-- topic = "memory"
-- needs = ["allocation", "calling_context", "memory_event"]
-- answered_if = "exists (from allocation where run_id = $run_id and phase_kind = 'forward')"
-- depends = ["memory_level", "sum_where"]
-- parameters = "run_id phase kind"
-- kind = {type = "VARCHAR", doc = "memory kind to show", default = "feature_maps", choices =
-- ["feature_maps", "weights", "weight_gradients", "optimizer_state", "workspace", "temporary",
-- "input", "other", "unknown"]}
-- columns = "rank_index device_kind device_id-memory module_path at_peak_bytes share_ratio
-- largest_bytes allocation_count allocated_bytes source_id-rank process_id"
-- answer = "at_peak_bytes share_ratio"
-- module_path = "VARCHAR: modules from the outermost in; NULL if unknown"
-- at_peak_bytes = "BIGINT: bytes held at the first peak of the kind"
-- share_ratio = "at_peak_bytes / at_peak_bytes of all modules"
-- largest_bytes = "BIGINT: its largest block"
with
    levels as materialized(select * from memory_level($run_id, $phase) where kind = $kind),
    contexts as materialized(
        select source_id, context_id, module_path from calling_context where run_id = $run_id
    ),
    peaks as (
        select pool_index, arg_max(place, (kind_bytes, - place)) as most_place
        from levels
        where is_level_of_kind
        group by pool_index
    ),
    modules as (
        select
            levels.pool_index,
            contexts.module_path,
            sum_where(levels.change_bytes, levels.place <= peaks.most_place) as at_peak_bytes,
            max(levels.change_bytes) filter (
                where levels.is_wanted and levels.change_bytes > 0
            ) as largest_bytes,
            count(*) filter (
                where levels.is_wanted and levels.change_bytes > 0
            ) as allocation_count,
            sum_where(
                levels.change_bytes, levels.is_wanted and levels.change_bytes > 0
            ) as allocated_bytes,
            any_value(levels.source_id) as source_id,
            any_value(levels.process_id) as process_id,
            any_value(levels.device_kind) as device_kind,
            any_value(levels.device_id) as device_id
        from levels
        join peaks using (pool_index)
        left join
            contexts
            on contexts.source_id = levels.source_id
            and contexts.context_id = levels.context_id
        group by levels.pool_index, contexts.module_path
    )
select
    source_file.rank_index,
    modules.device_kind,
    modules.device_id,
    modules.module_path,
    modules.at_peak_bytes,
    ratio(
        modules.at_peak_bytes, sum(modules.at_peak_bytes) over (partition by modules.pool_index)
    ) as share_ratio,
    modules.largest_bytes,
    modules.allocation_count,
    modules.allocated_bytes,
    modules.source_id,
    modules.process_id
from modules
left join source_file on source_file.source_id = modules.source_id and source_file.run_id = $run_id
where modules.at_peak_bytes > 0 or modules.allocation_count > 0
order by
    source_file.rank_index nulls last,
    modules.pool_index,
    modules.at_peak_bytes desc,
    modules.allocated_bytes desc,
    modules.module_path nulls last
