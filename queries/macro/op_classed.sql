-- purpose = "Every row of op_stat with the class of its operator, told by what the profiler calls it."
-- source = "table op_class; Wang Y. E. 2020 (ParaDnn), Fig. 3: operations by class; docs/metrics.md, section Operators"
-- needs = ["op_stat"]
-- depends = ["is_communication", "is_async_copy"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- event_id = {type = "BIGINT", doc = "place of the record in the source; NULL where the row is worked out"}
-- op_kind = {type = "VARCHAR", doc = "hlo or framework"}
-- side_kind = {type = "VARCHAR", doc = "device or host"}
-- device_id = {type = "BIGINT", doc = "device; NULL where the dump adds devices up"}
-- name = {type = "VARCHAR", doc = "operator"}
-- type_name = {type = "VARCHAR", doc = "its type"}
-- category_name = {type = "VARCHAR", doc = "its category"}
-- op_name = {type = "VARCHAR", doc = "framework operator that an HLO instruction belongs to"}
-- program_name = {type = "VARCHAR", doc = "compiled program"}
-- occurrence_count = {type = "BIGINT", doc = "how often it ran"}
-- dur_ns = {type = "BIGINT", doc = "time"}
-- self_ns = {type = "BIGINT", doc = "time without the operators inside it; dur_ns where the dump does not tell"}
-- flop_count = {type = "BIGINT", doc = "operations"}
-- accessed_bytes = {type = "BIGINT", doc = "bytes of all memories"}
-- dram_bytes = {type = "BIGINT", doc = "bytes of device memory"}
-- reported_flop_per_s = {type = "DOUBLE", doc = "operations per second, where that is all there is"}
-- reported_bytes_per_s = {type = "DOUBLE", doc = "bytes per second, where that is all there is"}
-- bound_name = {type = "VARCHAR", doc = "what bounds it, in the profiler's word"}
-- work_source_name = {type = "VARCHAR", doc = "where operations and bytes are from"}
-- op_class = {type = "VARCHAR", doc = "class: matmul, convolution, fusion …; idle is no operator"}
-- class_rank = {type = "BIGINT", doc = "place of the class in a figure's colours"}
WITH
told AS (
    SELECT
        run_id, source_id, event_id, op_kind, side_kind, device_id, name, type_name, category_name, op_name,
        program_name, occurrence_count, dur_ns, coalesce(self_ns, dur_ns) AS self_ns, flop_count, accessed_bytes,
        dram_bytes, reported_flop_per_s, reported_bytes_per_s, bound_name, work_source_name,
        lower(regexp_extract(hlo_text, 'custom_call_target="([^"]*)"', 1)) AS target_key,
        lower(category_name) AS category_key,
        -- %all-reduce.3, all-reduce.3.remat and all-reduce are one
        lower(regexp_replace(CASE op_kind WHEN 'hlo' THEN coalesce(type_name, name) ELSE name END, '^%|(\.(\d+|clone|remat\d*))+$', '', 'g'))
            AS opcode_key,
        -- jit(f)/dot_general and model/dense/MatMul_1 say a type; behind a colon it is said outright
        lower(CASE
            WHEN op_kind = 'framework' THEN type_name
            ELSE coalesce(nullif(regexp_extract(op_name, ':([^:/]+)$', 1), ''), regexp_extract(op_name, '([^/:]*?)(_\d+)?:?$', 1))
        END) AS type_key
    FROM op_stat
    WHERE wanted_run IS NULL OR run_id = wanted_run
),
keys AS (
    SELECT 'target' AS key_kind, target_key AS key FROM told
    UNION SELECT 'category', category_key FROM told
    UNION SELECT 'opcode', opcode_key FROM told
    UNION SELECT 'type', type_key FROM told
),
fitting AS (
    SELECT
        keys.key_kind, keys.key,
        arg_min(
            {'class': op_class.class_name, 'place': op_class.class_rank, 'is_refined': op_class.is_refined},
            CASE WHEN contains(op_class.pattern, '*') THEN 1000 - length(op_class.pattern) ELSE 0 END
        ) AS found
    FROM keys JOIN op_class ON op_class.key_kind = keys.key_kind AND keys.key GLOB op_class.pattern
    GROUP BY keys.key_kind, keys.key
),
-- classes by which a timeline is told apart, and what is left
named AS (
    SELECT
        any_value(found) FILTER (WHERE class_name = 'collective') AS collective,
        any_value(found) FILTER (WHERE class_name = 'asynchronous copy') AS async_copy,
        any_value(found) FILTER (WHERE class_name = 'other') AS other
    FROM (SELECT class_name, {'class': class_name, 'place': class_rank, 'is_refined': false} AS found FROM op_class)
),
found AS (
    SELECT
        told.*,
        CASE
            -- all its instructions are of another kind: a sum over devices, of which there is one
            WHEN op_kind = 'framework' AND by_type.found['class'] = 'collective' AND NOT is_communication(opcode_key, NULL, coalesce(category_key, 'all-reduce'))
            THEN coalesce(by_category.found, named.other)
            WHEN op_kind = 'framework' AND by_type.found IS NOT NULL THEN by_type.found
            WHEN is_communication(opcode_key, NULL, category_key) THEN named.collective
            WHEN is_async_copy(name, category_key) THEN named.async_copy
            WHEN op_kind = 'framework' THEN coalesce(by_opcode.found, named.other)
            ELSE coalesce(
                by_target.found, by_category.found, by_opcode.found,
                CASE WHEN by_type.found['class'] <> 'collective' THEN by_type.found END, named.other
            )
        END AS first_found,
        CASE WHEN by_type.found['class'] IN ('matmul', 'convolution') THEN by_type.found WHEN by_opcode.found['class'] IN ('matmul', 'convolution') THEN by_opcode.found END
            AS product
    FROM told
    CROSS JOIN named
    LEFT JOIN fitting AS by_target ON by_target.key_kind = 'target' AND by_target.key = told.target_key
    LEFT JOIN fitting AS by_category ON by_category.key_kind = 'category' AND by_category.key = told.category_key
    LEFT JOIN fitting AS by_opcode ON by_opcode.key_kind = 'opcode' AND by_opcode.key = told.opcode_key
    LEFT JOIN fitting AS by_type ON by_type.key_kind = 'type' AND by_type.key = told.type_key
),
best AS (
    SELECT
        * EXCLUDE (target_key, category_key, opcode_key, type_key, first_found, product),
        CASE WHEN first_found['is_refined'] AND product IS NOT NULL THEN product ELSE first_found END
            AS said
    FROM found
)
SELECT * EXCLUDE (said), said['class'] AS op_class, said['place'] AS class_rank
FROM best
