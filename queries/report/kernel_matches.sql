-- purpose = "Kernels of a timeline that was joined to counters: how many launches of each have counters, what the matches rest on, and why others have none."
-- source = "docs/metrics.md, section Counters joined to a timeline"
-- needs = ["kernel_match"]
-- depends = ["joined_kernel"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- [columns]
-- name = {type = "VARCHAR", doc = "kernel name, in full"}
-- share_ratio = {type = "DOUBLE", doc = "total_ns / that of all kernels"}
-- matched_ratio = {type = "DOUBLE", doc = "share of its launches that have counters"}
-- total_ns = {type = "BIGINT", doc = "time in the timeline"}
-- launch_count = {type = "BIGINT", doc = "launches"}
-- sequence_count = {type = "BIGINT", doc = "those matched by function, grid, block and place in the order of launches"}
-- shape_count = {type = "BIGINT", doc = "those matched by function, grid and block"}
-- name_count = {type = "BIGINT", doc = "those matched by function alone, as one side has no grid"}
-- fit_count = {type = "BIGINT", doc = "most counter launches whose mean a launch has: 1 where order decides"}
-- flop_spread_ratio = {type = "DOUBLE", doc = "largest (most - least) / mean of the operations of those"}
-- dram_spread_ratio = {type = "DOUBLE", doc = "the same of the bytes of device memory"}
-- reason = {type = "VARCHAR", doc = "why launches have no counters"}
SELECT
    name,
    ratio(sum(dur_ns), sum(sum(dur_ns)) OVER ()) AS share_ratio,
    ratio(coalesce(sum(launch_count) FILTER (WHERE match_kind IS NOT NULL), 0), sum(launch_count)) AS matched_ratio,
    CAST(sum(dur_ns) AS BIGINT) AS total_ns,
    CAST(sum(launch_count) AS BIGINT) AS launch_count,
    CAST(coalesce(sum(launch_count) FILTER (WHERE match_kind = 'sequence'), 0) AS BIGINT) AS sequence_count,
    CAST(coalesce(sum(launch_count) FILTER (WHERE match_kind = 'shape'), 0) AS BIGINT) AS shape_count,
    CAST(coalesce(sum(launch_count) FILTER (WHERE match_kind = 'name'), 0) AS BIGINT) AS name_count,
    max(fit_count) AS fit_count, max(flop_spread_ratio) AS flop_spread_ratio, max(dram_spread_ratio) AS dram_spread_ratio,
    min(match_reason) AS reason
FROM joined_kernel
WHERE run_id = $run_id
GROUP BY name
ORDER BY matched_ratio, total_ns DESC NULLS LAST, name
