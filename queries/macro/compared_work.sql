-- purpose = "The time of two runs by what they are compared by: of each source and step, with what else tells where it belongs."
-- source = "docs/metrics.md, section Comparing runs"
-- needs = ["source_file"]
-- depends = ["compared_source", "kernel_launch", "work_class"]
-- [parameters]
-- a_run = {type = "VARCHAR", doc = "run A"}
-- b_run = {type = "VARCHAR", doc = "run B"}
-- grouping_kind = {type = "VARCHAR", doc = "kernel, op, layer, phase or category"}
-- [columns]
-- side = {type = "VARCHAR", doc = "a or b"}
-- basis_kind = {type = "VARCHAR", doc = "as of compared_source"}
-- amount_kind = {type = "VARCHAR", doc = "what the time is of: step (or outside of all steps), recording (the whole of it) or iteration (the mean)"}
-- source_id = {type = "VARCHAR", doc = "source; NULL where the launches of several are one recording"}
-- step_index = {type = "BIGINT", doc = "step; NULL outside of steps, and where the source does not tell"}
-- name = {type = "VARCHAR", doc = "kernel, operator, layer …; NULL where nothing says"}
-- module_path = {type = "VARCHAR", doc = "of what has another name in the other run: the module it is in"}
-- owner_name = {type = "VARCHAR", doc = "likewise: a kernel's operator, or what the operator was called by"}
-- owner_dims = {type = "VARCHAR", doc = "likewise: the shapes of the owner's inputs"}
-- dur_ns = {type = "BIGINT", doc = "time; NULL where none is known"}
-- work_count = {type = "BIGINT", doc = "launches, calls or occurrences"}
-- unknown_count = {type = "BIGINT", doc = "those of them whose time is not known"}
WITH
sources AS MATERIALIZED (FROM compared_source(a_run, b_run, grouping_kind)),
contexts AS MATERIALIZED (
    SELECT
        source_id, context_id, parent_context_id, context_kind, name, module_path, phase_kind,
        -- profilers write the same shapes with other spaces
        regexp_replace(input_dims, '\s', '', 'g') AS input_dims
    FROM calling_context
    WHERE run_id IN (a_run, b_run)
),
owned AS MATERIALIZED (
    SELECT
        own.source_id, own.context_id, own.module_path, own.phase_kind,
        CASE
            WHEN grouping_kind = 'kernel' AND own.context_kind = 'op' THEN own.name
            WHEN grouping_kind = 'op' AND parent.context_kind = 'op' THEN parent.name
        END AS owner_name,
        CASE grouping_kind WHEN 'kernel' THEN own.input_dims WHEN 'op' THEN parent.input_dims END AS owner_dims
    FROM contexts AS own
    LEFT JOIN contexts AS parent
        ON parent.source_id = own.source_id AND parent.context_id = own.parent_context_id
),
layers AS MATERIALIZED (FROM layer_stat WHERE run_id IN (a_run, b_run)),
said AS (
    SELECT source_id, event_id, collective_name, category_name
    FROM kernel
    WHERE run_id IN (a_run, b_run) AND grouping_kind = 'category' AND (collective_name IS NOT NULL OR category_name IS NOT NULL)
),
on_device AS (
    SELECT
        source_id, step_index, context_id, op_name,
        CASE
            WHEN grouping_kind = 'kernel' THEN name
            WHEN grouping_kind = 'category' THEN work_class(work_kind, name, collective_name, category_name)
        END AS own_name,
        sum(dur_ns) AS dur_ns, count(*) AS work_count, count(*) - count(dur_ns) AS unknown_count
    FROM (FROM attribution WHERE run_id IN (a_run, b_run)) LEFT JOIN said USING (source_id, event_id)
    GROUP BY ALL
),
on_host AS (
    SELECT
        source_id, step_index, context_id, name AS op_name, NULL AS own_name,
        sum(self_ns) AS dur_ns, count(*) AS work_count, count(*) - count(self_ns) AS unknown_count
    FROM op_call
    WHERE run_id IN (a_run, b_run) AND source_id IN (SELECT source_id FROM sources WHERE basis_kind = 'host')
    GROUP BY ALL
),
works AS (
    SELECT
        sources.run_id, sources.basis_kind, 'step' AS amount_kind, worked.source_id, worked.step_index,
        CASE grouping_kind
            WHEN 'op' THEN worked.op_name
            WHEN 'layer' THEN owned.module_path
            WHEN 'phase' THEN owned.phase_kind
            ELSE worked.own_name
        END AS name,
        owned.module_path, coalesce(owned.owner_name, CASE WHEN grouping_kind = 'kernel' THEN worked.op_name END) AS owner_name,
        owned.owner_dims, worked.dur_ns, worked.work_count, worked.unknown_count
    FROM (FROM on_device UNION ALL FROM on_host) AS worked
    JOIN sources ON sources.source_id = worked.source_id
    LEFT JOIN owned ON owned.source_id = worked.source_id AND owned.context_id = worked.context_id
    UNION ALL
    SELECT
        run_id, basis.basis_kind, 'recording', NULL, NULL,
        CASE WHEN grouping_kind = 'kernel' THEN name ELSE work_class('kernel', name, NULL, NULL) END,
        NULL, NULL, NULL,
        sum(dur_ns), sum(launch_count), coalesce(sum(launch_count) FILTER (WHERE dur_ns IS NULL), 0)
    FROM (FROM kernel_launch WHERE run_id = a_run UNION ALL FROM kernel_launch WHERE run_id = b_run AND b_run <> a_run)
    JOIN (
        SELECT DISTINCT run_id, basis_kind FROM sources WHERE basis_kind IN ('kernels', 'counters', 'summary')
    ) AS basis USING (run_id)
    GROUP BY ALL
    UNION ALL
    SELECT
        run_id, sources.basis_kind, 'recording', source_id, NULL,
        CASE
            WHEN grouping_kind = 'category' THEN coalesce(category_name, type_name)
            WHEN op_kind = 'hlo' THEN coalesce(op_name, name)
            ELSE name
        END,
        NULL, NULL, NULL,
        sum(self_ns), sum(occurrence_count), count(*) - count(self_ns)
    FROM (FROM op_stat WHERE run_id IN (a_run, b_run))
    JOIN sources USING (run_id, source_id)
    WHERE sources.basis_kind = op_kind || ' (' || side_kind || ')'
    GROUP BY ALL
    UNION ALL
    SELECT
        run_id, 'layers', 'iteration', source_id, NULL,
        CASE
            WHEN grouping_kind = 'phase' THEN phase_kind
            WHEN max(net_index) OVER (PARTITION BY source_id) > 0 THEN coalesce(net_name, 'net ' || net_index) || '/' || name
            ELSE name
        END,
        NULL, NULL, NULL,
        CASE statistic_kind WHEN 'sum' THEN round(ratio(dur_ns, iteration_count)) ELSE dur_ns END,
        1, CASE WHEN dur_ns IS NULL THEN 1 ELSE 0 END
    FROM layers
    WHERE
        name IS NOT NULL AND statistic_kind IN ('mean', 'sum')
        AND source_id IN (SELECT source_id FROM sources WHERE basis_kind = 'layers')
),
sides AS (SELECT 'a' AS side, a_run AS run_id UNION ALL SELECT 'b', b_run)
SELECT
    sides.side, works.basis_kind, works.amount_kind, works.source_id, works.step_index, works.name,
    works.module_path, works.owner_name, works.owner_dims,
    CAST(works.dur_ns AS BIGINT) AS dur_ns, CAST(works.work_count AS BIGINT) AS work_count,
    CAST(works.unknown_count AS BIGINT) AS unknown_count
FROM works JOIN sides ON sides.run_id = works.run_id
