-- purpose = "Modelled against measured work of each operator: the operations and bytes that its shapes give, beside those that were counted."
-- source = "docs/metrics.md, section Counters joined to a timeline: model / measured"
-- needs = ["kernel_match"]
-- depends = ["operator_work", "whole_sum"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M (numbers, both included)", default = "all"}
-- [columns]
-- name = {type = "VARCHAR", doc = "operator"}
-- input_dims = {type = "VARCHAR", doc = "shapes of its arguments, as recorded"}
-- flop_factor = {type = "DOUBLE", doc = "modelled / measured operations"}
-- bytes_factor = {type = "DOUBLE", doc = "modelled / measured bytes: below 1 more was moved than the least, above 1 caches held what the model reads from memory"}
-- modelled_flop = {type = "DOUBLE", doc = "operations by the model"}
-- measured_flop = {type = "DOUBLE", doc = "operations by the counters, those of tensor cores too (not on integers)"}
-- modelled_bytes = {type = "DOUBLE", doc = "each input and each result once"}
-- measured_bytes = {type = "DOUBLE", doc = "bytes of device memory"}
-- total_ns = {type = "BIGINT", doc = "time of its kernels, copies and sets"}
-- call_count = {type = "BIGINT", doc = "calls"}
-- family_name = {type = "VARCHAR", doc = "family of the model; NULL where there is none"}
-- input_types = {type = "VARCHAR", doc = "types of its arguments"}
-- reason = {type = "VARCHAR", doc = "why a factor is NULL"}
WITH
modelled AS (FROM operator_work($run_id, $phase, 'modelled')),
measured AS (FROM operator_work($run_id, $phase, 'measured')),
pairs AS (
    SELECT
        modelled.name, modelled.input_dims, modelled.input_types, modelled.family_name, modelled.total_ns, modelled.call_count,
        modelled.total_flop AS modelled_flop, modelled.total_bytes AS modelled_bytes, modelled.reason AS model_reason,
        -- of some of the kernels only there is nothing to compare
        CASE WHEN measured.is_whole THEN measured.total_flop END AS measured_flop,
        CASE WHEN measured.is_whole THEN measured.total_bytes END AS measured_bytes,
        CASE WHEN NOT measured.is_whole THEN measured.reason END AS counter_reason
    FROM modelled JOIN measured USING (run_id, source_id, context_id)
    WHERE modelled.name IS NOT NULL AND modelled.kernel_count > 0
),
summed AS (
    SELECT
        name, input_dims, input_types, any_value(family_name) AS family_name,
        CAST(sum(total_ns) AS BIGINT) AS total_ns, CAST(sum(call_count) AS BIGINT) AS call_count,
        whole_sum(modelled_flop) AS modelled_flop, whole_sum(measured_flop) AS measured_flop,
        whole_sum(modelled_bytes) AS modelled_bytes, whole_sum(measured_bytes) AS measured_bytes,
        min(model_reason) AS model_reason, min(counter_reason) AS counter_reason
    FROM pairs
    GROUP BY name, input_dims, input_types
)
SELECT
    name, input_dims,
    ratio(modelled_flop, measured_flop) AS flop_factor, ratio(modelled_bytes, measured_bytes) AS bytes_factor,
    modelled_flop, measured_flop, modelled_bytes, measured_bytes, total_ns, call_count, family_name, input_types,
    nullif(concat_ws('; ',
        CASE WHEN modelled_flop IS NULL OR modelled_bytes IS NULL THEN 'model: ' || model_reason END,
        CASE WHEN measured_flop IS NULL OR measured_bytes IS NULL THEN 'counters: ' || counter_reason END,
        CASE WHEN measured_flop = 0 AND modelled_flop > 0 THEN 'no floating-point operation was counted' END,
        CASE WHEN measured_flop = 0 AND modelled_flop = 0 THEN 'none of either' END
    ), '') AS reason
FROM summed
ORDER BY total_ns DESC NULLS LAST, name, input_dims, input_types
