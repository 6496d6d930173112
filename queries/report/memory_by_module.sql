-- purpose = "Which modules hold the memory of one kind: that of the operators called in each, not of modules inside it."
-- source = "Zhu 2018 (TBD), sect. IV-D (feature maps); docs/metrics.md, section Memory by kind"
-- needs = ["allocation", "attribution", "calling_context", "memory_event"]
-- depends = ["memory_level"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M", default = "all"}
-- kind = {type = "VARCHAR", doc = "which kind", default = "feature_maps", choices = ["feature_maps", "weights", "weight_gradients", "optimizer_state", "workspace", "temporary", "input", "other", "unknown"]}
-- [columns]
-- rank_index = {type = "BIGINT", doc = "rank; NULL where the file does not say"}
-- device_kind = {type = "VARCHAR", doc = "cpu, cuda, hip, xpu …"}
-- device_id = {type = "BIGINT", doc = "device; NULL for the host's memory"}
-- module_path = {type = "VARCHAR", doc = "modules from the outermost in; NULL where none is known"}
-- at_peak_bytes = {type = "BIGINT", doc = "what it held when there was most of the kind for the first time"}
-- share_ratio = {type = "DOUBLE", doc = "at_peak_bytes / those of all modules"}
-- largest_bytes = {type = "BIGINT", doc = "its largest block"}
-- allocation_count = {type = "BIGINT", doc = "blocks allocated"}
-- allocated_bytes = {type = "BIGINT", doc = "their bytes"}
-- source_id = {type = "VARCHAR", doc = "source (one rank of a job)"}
-- process_id = {type = "BIGINT", doc = "process whose allocator it is"}
WITH
levels AS MATERIALIZED (SELECT * FROM memory_level($run_id, $phase) WHERE kind = $kind),
contexts AS MATERIALIZED (SELECT source_id, context_id, module_path FROM calling_context WHERE run_id = $run_id),
peaks AS (
    SELECT pool_index, arg_max(place, (kind_bytes, -place)) AS most_place
    FROM levels
    WHERE is_level_of_kind
    GROUP BY pool_index
),
modules AS (
    SELECT
        levels.pool_index, contexts.module_path,
        coalesce(CAST(sum(levels.change_bytes) FILTER (WHERE levels.place <= peaks.most_place) AS BIGINT), 0) AS at_peak_bytes,
        max(levels.change_bytes) FILTER (WHERE levels.is_wanted AND levels.change_bytes > 0) AS largest_bytes,
        count(*) FILTER (WHERE levels.is_wanted AND levels.change_bytes > 0) AS allocation_count,
        coalesce(CAST(sum(levels.change_bytes) FILTER (WHERE levels.is_wanted AND levels.change_bytes > 0) AS BIGINT), 0)
            AS allocated_bytes,
        any_value(levels.source_id) AS source_id, any_value(levels.process_id) AS process_id,
        any_value(levels.device_kind) AS device_kind, any_value(levels.device_id) AS device_id
    FROM levels
    JOIN peaks USING (pool_index)
    LEFT JOIN contexts ON contexts.source_id = levels.source_id AND contexts.context_id = levels.context_id
    GROUP BY levels.pool_index, contexts.module_path
)
SELECT
    source_file.rank_index, modules.device_kind, modules.device_id, modules.module_path, modules.at_peak_bytes,
    ratio(modules.at_peak_bytes, sum(modules.at_peak_bytes) OVER (PARTITION BY modules.pool_index)) AS share_ratio,
    modules.largest_bytes, modules.allocation_count, modules.allocated_bytes, modules.source_id, modules.process_id
FROM modules
LEFT JOIN source_file ON source_file.source_id = modules.source_id AND source_file.run_id = $run_id
WHERE modules.at_peak_bytes > 0 OR modules.allocation_count > 0
ORDER BY
    source_file.rank_index NULLS LAST, modules.pool_index, modules.at_peak_bytes DESC, modules.allocated_bytes DESC,
    modules.module_path NULLS LAST
