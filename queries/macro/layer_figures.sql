-- purpose = "Layers added up: forward, backward and the rest, share, and the time of a step; what no layer has is a row too."
-- source = "Awan 2017, sect. 4.3 (Fig. 5 to 7); docs/metrics.md, section Layers"
-- needs = ["layer_stat", "attribution", "calling_context", "op_call"]
-- depends = ["layer_time", "step_window"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- wanted_phase = {type = "VARCHAR", doc = "all, stable or N..M, as of step_window"}
-- wanted_depth = {type = "BIGINT", doc = "parts of the path to keep; NULL for all of them"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- net_index = {type = "BIGINT", doc = "caffe time: which net of a source"}
-- net_name = {type = "VARCHAR", doc = "caffe time: its name"}
-- layer_rank = {type = "BIGINT", doc = "place in the net, or in the order of first forward work, from 1; what no layer has is last"}
-- layer_path = {type = "VARCHAR", doc = "layer, or modules joined by /; (no layer) or (no module): the rest"}
-- group_path = {type = "VARCHAR", doc = "layer_path; NULL of the rest"}
-- layer_type = {type = "VARCHAR", doc = "its type; NULL if unknown, or of several together"}
-- forward_ns = {type = "BIGINT", doc = "time of the forward pass; caffe time: of an iteration"}
-- backward_ns = {type = "BIGINT", doc = "time of the backward pass, likewise"}
-- other_ns = {type = "BIGINT", doc = "time of neither, likewise: optimizer, data, not known"}
-- total_ns = {type = "BIGINT", doc = "all three"}
-- share_ratio = {type = "DOUBLE", doc = "total_ns / that of all rows of the run, or of the net"}
-- forward_step_ns = {type = "DOUBLE", doc = "forward_ns of a step: of the work in steps / steps; caffe time: forward_ns"}
-- backward_step_ns = {type = "DOUBLE", doc = "backward_ns of a step"}
-- step_ns = {type = "DOUBLE", doc = "total_ns of a step"}
-- step_count = {type = "BIGINT", doc = "steps, of each source its own; caffe time: iterations of the mean"}
-- kernel_count = {type = "BIGINT", doc = "kernels; NULL unless basis is kernels"}
-- basis = {type = "VARCHAR", doc = "whose time it is: caffe time, kernels, host operators or mixed"}
-- reason = {type = "VARCHAR", doc = "why there is no layer, or a time is NULL"}
WITH
pieces AS MATERIALIZED (
    FROM layer_time WHERE wanted_run IS NULL OR run_id = wanted_run
),
inside AS (
    SELECT pieces.*
    FROM pieces
    LEFT JOIN step_window(wanted_run, wanted_phase) AS steps
        ON steps.run_id = pieces.run_id AND steps.source_id = pieces.source_id
    WHERE CASE
        -- means over all iterations, which caffe begins after a pass to warm up
        WHEN pieces.basis = 'caffe time' THEN wanted_phase IN ('all', 'stable')
        WHEN steps.run_id IS NULL THEN wanted_phase = 'all'
        ELSE steps.first_step_index IS NULL OR pieces.step_index BETWEEN steps.first_step_index AND steps.last_step_index
    END
),
-- what the passes of a net took, and its layers
nets AS (
    SELECT
        run_id, source_id, net_index, any_value(basis) AS basis, any_value(net_name) AS net_name, any_value(reason) AS reason,
        any_value(iteration_count) AS iteration_count,
        bool_or(statistic_kind = 'mean') AS has_means,
        max(share_ns) FILTER (WHERE is_pass AND phase_kind = 'forward') AS forward_pass_ns,
        max(share_ns) FILTER (WHERE is_pass AND phase_kind = 'backward') AS backward_pass_ns,
        coalesce(
            max(share_ns) FILTER (WHERE is_pass AND phase_kind = 'other' AND statistic_kind = 'mean'),
            CASE WHEN NOT bool_or(statistic_kind = 'mean') THEN max(share_ns) FILTER (WHERE is_pass AND phase_kind = 'other') END
        ) AS whole_ns,
        coalesce(sum(share_ns) FILTER (WHERE NOT is_pass AND phase_kind = 'forward'), 0) AS forward_ns,
        coalesce(sum(share_ns) FILTER (WHERE NOT is_pass AND phase_kind = 'backward'), 0) AS backward_ns
    FROM inside
    WHERE basis = 'caffe time'
    GROUP BY run_id, source_id, net_index
),
-- caffe prints six digits: layers may add up to more than their pass
rests AS (
    SELECT
        nets.* EXCLUDE (reason, forward_ns, backward_ns), parts.phase_kind,
        CAST(greatest(CASE parts.phase_kind
            WHEN 'forward' THEN forward_pass_ns - forward_ns
            WHEN 'backward' THEN backward_pass_ns - backward_ns
            ELSE whole_ns - greatest(forward_pass_ns, forward_ns) - greatest(backward_pass_ns, backward_ns)
        END, 0) AS BIGINT) AS share_ns,
        coalesce(reason, 'in the pass, but in no layer of the log') AS reason
    FROM nets CROSS JOIN (VALUES ('forward'), ('backward'), ('other')) AS parts(phase_kind)
),
every AS (
    SELECT * EXCLUDE (is_pass, statistic_kind) FROM inside WHERE NOT is_pass
    UNION ALL BY NAME
    SELECT
        run_id, source_id, basis, net_index, net_name, iteration_count, phase_kind, share_ns, reason,
        CASE WHEN has_means THEN share_ns ELSE CAST(round(ratio(share_ns, iteration_count)) AS BIGINT) END AS dur_ns
    FROM rests
    WHERE share_ns > 0
),
placed AS (
    SELECT
        *,
        CASE
            WHEN wanted_depth IS NULL THEN layer_path
            WHEN wanted_depth < 1 THEN error('depth must be 1 or more')
            ELSE array_to_string(string_split(layer_path, '/')[1:wanted_depth], '/')
        END AS group_path
    FROM every
),
types AS (
    SELECT run_id, module_path AS group_path, any_value(module_type_name) AS layer_type
    FROM calling_context
    WHERE (wanted_run IS NULL OR run_id = wanted_run) AND module_path IS NOT NULL
    GROUP BY run_id, module_path
),
counts AS (
    SELECT run_id, count(DISTINCT (source_id, step_index)) AS step_count
    FROM every
    WHERE step_index IS NOT NULL
    GROUP BY run_id
),
grouped AS (
    SELECT
        run_id, net_index, group_path,
        any_value(net_name) AS net_name,
        any_value(layer_type) FILTER (WHERE layer_path = group_path) AS layer_type,
        sum(dur_ns) FILTER (WHERE phase_kind = 'forward') AS forward_ns,
        sum(dur_ns) FILTER (WHERE phase_kind = 'backward') AS backward_ns,
        sum(dur_ns) FILTER (WHERE phase_kind = 'other') AS other_ns,
        sum(dur_ns) AS total_ns,
        sum(share_ns) AS share_ns,
        sum(dur_ns) FILTER (WHERE phase_kind = 'forward' AND step_index IS NOT NULL) AS forward_inside_ns,
        sum(dur_ns) FILTER (WHERE phase_kind = 'backward' AND step_index IS NOT NULL) AS backward_inside_ns,
        sum(dur_ns) FILTER (WHERE step_index IS NOT NULL) AS inside_ns,
        min(iteration_count) AS iteration_count,
        CAST(sum(kernel_count) AS BIGINT) AS kernel_count,
        count(DISTINCT source_id) AS source_count,
        CASE WHEN min(basis) = max(basis) THEN min(basis) ELSE 'mixed' END AS basis,
        list(DISTINCT phase_kind) AS phase_kinds,
        coalesce(arg_max(reason, coalesce(share_ns, 0)), CASE WHEN count(share_ns) = 0 THEN 'durations not in the file' END) AS reason,
        min(layer_index) AS layer_index,
        min(start_ns) FILTER (WHERE phase_kind = 'forward') AS forward_start_ns,
        min(start_ns) AS start_ns
    FROM placed
    GROUP BY run_id, net_index, group_path
),
-- caffe time leaves out what it does not measure; of kernels and operators none is none
figures AS (
    SELECT
        * REPLACE (
            CASE WHEN is_caffe THEN ratio(forward_ns, source_count) WHEN 'forward' IN phase_kinds THEN forward_ns ELSE 0 END AS forward_ns,
            CASE WHEN is_caffe THEN ratio(backward_ns, source_count) WHEN 'backward' IN phase_kinds THEN backward_ns ELSE 0 END AS backward_ns,
            CASE WHEN is_caffe THEN ratio(other_ns, source_count) WHEN 'other' IN phase_kinds THEN other_ns ELSE 0 END AS other_ns,
            CASE WHEN is_caffe THEN ratio(total_ns, source_count) ELSE total_ns END AS total_ns
        )
    FROM (SELECT *, basis = 'caffe time' AS is_caffe FROM grouped)
)
SELECT
    figures.run_id, net_index, net_name,
    row_number() OVER (
        PARTITION BY figures.run_id, net_index
        ORDER BY figures.group_path IS NULL, layer_index NULLS LAST, forward_start_ns NULLS LAST, start_ns NULLS LAST, figures.group_path
    ) AS layer_rank,
    coalesce(figures.group_path, CASE WHEN is_caffe THEN '(no layer)' ELSE '(no module)' END) AS layer_path,
    figures.group_path,
    coalesce(figures.layer_type, types.layer_type) AS layer_type,
    CAST(round(forward_ns) AS BIGINT) AS forward_ns,
    CAST(round(backward_ns) AS BIGINT) AS backward_ns,
    CAST(round(other_ns) AS BIGINT) AS other_ns,
    CAST(round(total_ns) AS BIGINT) AS total_ns,
    ratio(share_ns, sum(share_ns) OVER (PARTITION BY figures.run_id, net_index)) AS share_ratio,
    CASE WHEN is_caffe THEN CAST(forward_ns AS DOUBLE) WHEN forward_ns IS NOT NULL THEN ratio(coalesce(forward_inside_ns, 0), counts.step_count) END AS forward_step_ns,
    CASE WHEN is_caffe THEN CAST(backward_ns AS DOUBLE) WHEN backward_ns IS NOT NULL THEN ratio(coalesce(backward_inside_ns, 0), counts.step_count) END AS backward_step_ns,
    CASE WHEN is_caffe THEN CAST(total_ns AS DOUBLE) WHEN total_ns IS NOT NULL THEN ratio(coalesce(inside_ns, 0), counts.step_count) END AS step_ns,
    CASE WHEN is_caffe THEN iteration_count ELSE counts.step_count END AS step_count,
    kernel_count, basis,
    CASE WHEN figures.group_path IS NULL OR total_ns IS NULL THEN reason END AS reason
FROM figures
LEFT JOIN counts ON counts.run_id = figures.run_id
LEFT JOIN types ON types.run_id = figures.run_id AND types.group_path = figures.group_path
