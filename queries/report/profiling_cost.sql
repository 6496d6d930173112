-- purpose = "How much slower each kernel of a timeline was under the counters that were joined to it."
-- source = "docs/metrics.md, section Counters joined to a timeline"
-- needs = ["kernel_match"]
-- depends = ["joined_kernel"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run of the timeline"}
-- [columns]
-- name = {type = "VARCHAR", doc = "kernel name, in full"}
-- cost_factor = {type = "DOUBLE", doc = "counted_ns / timeline_ns, of the launches that have both"}
-- mean_ns = {type = "DOUBLE", doc = "mean time of a launch in the timeline"}
-- counted_mean_ns = {type = "DOUBLE", doc = "mean time of a launch under the counters"}
-- timeline_ns = {type = "BIGINT", doc = "time in the timeline"}
-- counted_ns = {type = "BIGINT", doc = "time of the same launches under the counters"}
-- added_ns = {type = "BIGINT", doc = "counted_ns - timeline_ns: what a kernel table made of counters alone adds"}
-- launch_count = {type = "BIGINT", doc = "launches that have both times"}
-- reason = {type = "VARCHAR", doc = "why cost_factor is NULL"}
WITH
launches AS (
    SELECT *, dur_ns IS NOT NULL AND counted_ns IS NOT NULL AS has_both
    FROM joined_kernel
    WHERE run_id = $run_id
),
kernels AS (
    SELECT
        name, grouping(name) AS is_all,
        CAST(sum(launch_count) FILTER (WHERE has_both) AS BIGINT) AS launch_count,
        CAST(sum(dur_ns) FILTER (WHERE has_both) AS BIGINT) AS timeline_ns,
        CAST(sum(counted_ns) FILTER (WHERE has_both) AS BIGINT) AS counted_ns,
        any_value(CASE WHEN has_both THEN NULL WHEN match_reason IS NOT NULL THEN match_reason WHEN dur_ns IS NULL THEN dur_reason ELSE 'no duration under the counters' END) AS reason
    FROM launches
    GROUP BY GROUPING SETS ((name), ())
    HAVING count(*) > 0
)
SELECT
    CASE WHEN is_all = 1 THEN '(all)' ELSE name END AS name,
    ratio(counted_ns, timeline_ns) AS cost_factor, ratio(timeline_ns, launch_count) AS mean_ns, ratio(counted_ns, launch_count) AS counted_mean_ns,
    timeline_ns, counted_ns, counted_ns - timeline_ns AS added_ns, coalesce(launch_count, 0) AS launch_count,
    CASE WHEN launch_count IS NULL THEN reason END AS reason
FROM kernels
ORDER BY is_all DESC, counted_ns DESC NULLS LAST, name
