-- purpose = "The modelled work of one call in each calling context, and to which context the work of a kernel in it belongs."
-- source = "docs/metrics.md, section Modelled work; function op_model"
-- needs = ["calling_context"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- context_id = {type = "BIGINT", doc = "`calling_context`"}
-- name = {type = "VARCHAR", doc = "its last member: operator, module or annotation"}
-- family_name = {type = "VARCHAR", doc = "family of the operator: gemm, convolution, elementwise …; NULL where it has no model"}
-- is_heavy = {type = "BOOLEAN", doc = "gemm, convolution or attention; NULL of no operator"}
-- flop_count = {type = "BIGINT", doc = "operations of one call"}
-- read_bytes = {type = "BIGINT", doc = "least bytes that one call reads: each element of its inputs once"}
-- write_bytes = {type = "BIGINT", doc = "least bytes that one call writes: each element of its results once"}
-- accessed_bytes = {type = "BIGINT", doc = "read_bytes + write_bytes"}
-- precision_name = {type = "VARCHAR", doc = "type that it computes in: fp32 (TF32 as well), bf16, int64 …"}
-- comm_bytes = {type = "BIGINT", doc = "bytes that this rank hands to a collective"}
-- provenance_kind = {type = "VARCHAR", doc = "modelled: from shapes and types; NULL where no figure is known"}
-- reason = {type = "VARCHAR", doc = "why a figure is NULL"}
-- unit_context_id = {type = "BIGINT", doc = "context whose work a kernel launched in this one does: the nearest above it, itself first, with work of its own; without one the innermost operator, and of no operator itself"}
WITH RECURSIVE
modelled AS (
    SELECT
        run_id, source_id, context_id, parent_context_id, name, context_kind = 'op' AS is_op,
        CASE WHEN is_op THEN op_model(name, input_dims, input_types, input_strides, concrete_inputs) END AS work
    FROM calling_context
    WHERE wanted_run IS NULL OR run_id = wanted_run
),
context AS MATERIALIZED (
    SELECT
        *,
        coalesce(greatest(work.flop_count, work.read_bytes, work.write_bytes, work.comm_bytes) > 0, false) AS is_working,
        {'context_id': context_id, 'family_name': work.family_name, 'is_heavy': work.is_heavy} AS member
    FROM modelled
),
-- from the outermost in: the contexts with work on the way to each, itself the last
chain AS (
    SELECT
        run_id, source_id, context_id, is_working, member,
        CASE WHEN is_op THEN context_id END AS op_context_id,
        CASE WHEN is_working THEN [member] ELSE [member][2:] END AS workers
    FROM context
    WHERE parent_context_id IS NULL
    UNION ALL
    SELECT
        inner_one.run_id, inner_one.source_id, inner_one.context_id, inner_one.is_working, inner_one.member,
        CASE WHEN inner_one.is_op THEN inner_one.context_id ELSE chain.op_context_id END AS op_context_id,
        CASE WHEN inner_one.is_working THEN list_append(chain.workers, inner_one.member) ELSE chain.workers END
    FROM chain JOIN context AS inner_one
        ON inner_one.run_id = chain.run_id AND inner_one.source_id = chain.source_id AND inner_one.parent_context_id = chain.context_id
),
link AS MATERIALIZED (
    SELECT run_id, source_id, context_id, is_working, member, unnest(workers) AS worker, generate_subscripts(workers, 1) AS place
    FROM chain
),
-- a linear layer is the product that it calls, attention the products, a batch norm that of a library
wrapper AS MATERIALIZED (
    SELECT DISTINCT run_id, source_id, worker.context_id
    FROM link
    WHERE is_working AND worker.context_id <> context_id
        AND (worker.family_name = member.family_name OR worker.is_heavy AND member.is_heavy)
),
unit AS (
    SELECT run_id, source_id, link.context_id, arg_max(worker.context_id, place) AS unit_context_id
    FROM link ANTI JOIN wrapper
        ON wrapper.run_id = link.run_id AND wrapper.source_id = link.source_id AND wrapper.context_id = worker.context_id
    GROUP BY run_id, source_id, link.context_id
),
figures AS (
    SELECT
        context.*, coalesce(unit_context_id, op_context_id) AS unit_context_id,
        wrapper.context_id IS NOT NULL AS is_wrapper,
        CASE WHEN NOT is_wrapper THEN work END AS own
    FROM context
    LEFT JOIN wrapper USING (run_id, source_id, context_id)
    LEFT JOIN unit USING (run_id, source_id, context_id)
    LEFT JOIN chain USING (run_id, source_id, context_id)
)
SELECT
    run_id, source_id, context_id, name, work.family_name, work.is_heavy,
    own.flop_count, own.read_bytes, own.write_bytes, own.accessed_bytes, own.precision_name, own.comm_bytes,
    CASE WHEN coalesce(own.flop_count, own.read_bytes, own.write_bytes, own.comm_bytes) IS NOT NULL THEN 'modelled' END AS provenance_kind,
    CASE WHEN NOT is_op THEN 'no operator' WHEN is_wrapper THEN 'counted in what it calls' ELSE work.reason END AS reason,
    coalesce(unit_context_id, context_id) AS unit_context_id
FROM figures
