-- purpose = "What the times of a comparison are from: of each of two runs the best basis it has, and the sources that hold it."
-- source = "docs/metrics.md, section Comparing runs"
-- needs = ["source_file"]
-- depends = ["launch_source", "op_source"]
-- [parameters]
-- a_run = {type = "VARCHAR", doc = "run A"}
-- b_run = {type = "VARCHAR", doc = "run B"}
-- grouping_kind = {type = "VARCHAR", doc = "kernel, op, layer, phase or category"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- basis_kind = {type = "VARCHAR", doc = "timeline (device work), kernels, counters or summary (kernels without what launched them), 'framework (device)' and the like (totals of op_stat: framework or hlo, device or host), layers (layer_stat) or host (time of operators on the host)"}
WITH
held AS (
    SELECT
        run_id, source_id,
        CASE table_name WHEN 'attribution' THEN 'timeline' WHEN 'layer_stat' THEN 'layers' ELSE 'host' END AS basis_kind,
        CASE table_name WHEN 'attribution' THEN 0 WHEN 'layer_stat' THEN 6 ELSE 7 END AS basis_rank
    FROM stored_table
    WHERE
        run_id IN (a_run, b_run)
        AND (
            table_name = 'attribution'
            OR (table_name = 'layer_stat' AND grouping_kind IN ('layer', 'phase'))
            OR (table_name = 'op_call' AND grouping_kind IN ('op', 'layer', 'phase'))
        )
    UNION ALL
    SELECT run_id, source_id, CASE recording_kind WHEN 'timeline' THEN 'kernels' ELSE recording_kind END, 1
    -- one by one: no other run's files are read
    FROM (FROM launch_source WHERE run_id = a_run UNION FROM launch_source WHERE run_id = b_run)
    WHERE grouping_kind IN ('kernel', 'category')
    UNION ALL
    SELECT
        run_id, source_id, op_kind || ' (' || side_kind || ')',
        CASE WHEN side_kind = 'device' THEN 2 ELSE 4 END + CASE WHEN op_kind = 'framework' THEN 0 ELSE 1 END
    -- one by one: no other run's files are read
    FROM (FROM op_source WHERE run_id = a_run UNION FROM op_source WHERE run_id = b_run)
    WHERE grouping_kind IN ('op', 'category')
)
SELECT run_id, source_id, basis_kind
FROM held
QUALIFY basis_rank = min(basis_rank) OVER (PARTITION BY run_id)
