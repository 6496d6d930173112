-- purpose = "Operators whose operations or bytes are not known, by time and with the reason: the next to write a model for."
-- source = "function op_model; docs/metrics.md, section Operators of a timeline"
-- needs = ["op_call"]
-- depends = ["operator_work"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M (numbers, both included)", default = "all"}
-- [columns]
-- name = {type = "VARCHAR", doc = "operator"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations of its kernels, copies and sets; of a file without kernels its time on the host"}
-- share_ratio = {type = "DOUBLE", doc = "total_ns / that of all operators, and of what is of none"}
-- call_count = {type = "BIGINT", doc = "calls"}
-- reason = {type = "VARCHAR", doc = "why its work is not known"}
-- family_name = {type = "VARCHAR", doc = "its family; NULL where there is no model"}
-- missing = {type = "VARCHAR", doc = "what is not known: operations, bytes or both"}
-- input_dims = {type = "VARCHAR", doc = "shapes of the arguments with the most time, as recorded"}
-- input_types = {type = "VARCHAR", doc = "their types"}
WITH
work AS (
    SELECT *, sum(total_ns) OVER () AS whole_ns FROM operator_work($run_id, $phase, 'modelled')
)
SELECT
    name,
    CAST(sum(total_ns) AS BIGINT) AS total_ns,
    ratio(sum(total_ns), any_value(whole_ns)) AS share_ratio,
    CAST(sum(call_count) AS BIGINT) AS call_count,
    reason, family_name,
    CASE WHEN total_flop IS NOT NULL THEN 'bytes' WHEN total_bytes IS NOT NULL THEN 'operations' ELSE 'both' END AS missing,
    arg_max(input_dims, coalesce(total_ns, 0)) AS input_dims,
    arg_max(input_types, coalesce(total_ns, 0)) AS input_types
FROM work
WHERE NOT is_known AND name IS NOT NULL
GROUP BY name, reason, family_name, missing
ORDER BY total_ns DESC NULLS LAST, name, reason
