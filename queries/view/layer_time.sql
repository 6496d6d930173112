-- purpose = "Times of layers, piece by piece: those of caffe time, and the kernels of a timeline by module; of one without kernels its operators."
-- source = "Awan 2017, sect. 4.3.3 (Fig. 6, 7): layers, split into forward and backward; docs/metrics.md, section Layers"
-- needs = ["layer_stat", "attribution", "calling_context", "op_call"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- basis = {type = "VARCHAR", doc = "whose time it is: caffe time, kernels or host operators"}
-- net_index = {type = "BIGINT", doc = "caffe time: which net of the source"}
-- net_name = {type = "VARCHAR", doc = "caffe time: its name"}
-- layer_index = {type = "BIGINT", doc = "caffe time: place of the layer in the net"}
-- layer_path = {type = "VARCHAR", doc = "layer, or modules joined by /; NULL: none is known, or a whole pass"}
-- layer_type = {type = "VARCHAR", doc = "type of the layer or of the innermost module"}
-- phase_kind = {type = "VARCHAR", doc = "forward, backward or other (optimizer, data, not known)"}
-- is_pass = {type = "BOOLEAN", doc = "caffe time: a whole pass over the net, its layers in it"}
-- statistic_kind = {type = "VARCHAR", doc = "caffe time: as it was printed; means and sums, of a layer without them what there is"}
-- step_index = {type = "BIGINT", doc = "step it is in; NULL of caffe time, and outside of steps"}
-- start_ns = {type = "BIGINT", doc = "its start; NULL of caffe time"}
-- dur_ns = {type = "BIGINT", doc = "its duration; caffe time: mean of an iteration. An operator's without those called in it"}
-- share_ns = {type = "BIGINT", doc = "what shares are of: as dur_ns, but as caffe time printed it"}
-- iteration_count = {type = "BIGINT", doc = "caffe time: iterations of the mean"}
-- kernel_count = {type = "BIGINT", doc = "1 of a kernel, else NULL"}
-- reason = {type = "VARCHAR", doc = "why dur_ns or layer_path is NULL"}
SELECT
    run_id, source_id, 'caffe time' AS basis, net_index, net_name, layer_index, name AS layer_path, type_name AS layer_type,
    coalesce(phase_kind, 'other') AS phase_kind, name IS NULL AS is_pass, statistic_kind,
    CAST(NULL AS BIGINT) AS step_index, CAST(NULL AS BIGINT) AS start_ns,
    CASE statistic_kind WHEN 'mean' THEN dur_ns WHEN 'sum' THEN CAST(round(ratio(dur_ns, iteration_count)) AS BIGINT) END AS dur_ns,
    CASE WHEN statistic_kind IN ('mean', 'sum') THEN dur_ns END AS share_ns, iteration_count, CAST(NULL AS BIGINT) AS kernel_count,
    CASE
        WHEN statistic_kind = 'min' THEN 'the log has the least of the iterations, not their mean'
        WHEN statistic_kind = 'max' THEN 'the log has the largest of the iterations, not their mean'
        WHEN statistic_kind = 'median' THEN 'the log has the median of the iterations, not their mean'
        WHEN statistic_kind = 'sum' AND coalesce(iteration_count, 0) = 0 THEN 'a sum, and the log does not say over how many iterations'
    END AS reason
FROM layer_stat
WHERE statistic_kind <> 'single'
-- a layer without a mean has one row all the same: NULL, with the reason
QUALIFY
    statistic_kind IN ('mean', 'sum')
    OR name IS NOT NULL AND 1 = row_number() OVER (
        PARTITION BY run_id, source_id, net_index, layer_index, name, phase_kind
        ORDER BY statistic_kind NOT IN ('mean', 'sum'), statistic_kind DESC
    )
UNION ALL BY NAME
SELECT
    work.run_id, work.source_id, 'kernels' AS basis, context.module_path AS layer_path, context.module_type_name AS layer_type,
    CASE WHEN context.phase_kind IN ('forward', 'backward') THEN context.phase_kind ELSE 'other' END AS phase_kind,
    false AS is_pass, work.step_index, work.start_ns, work.dur_ns, work.dur_ns AS share_ns, CAST(1 AS BIGINT) AS kernel_count,
    CASE WHEN context.module_path IS NULL THEN coalesce(work.module_reason, work.op_reason, 'no module') END AS reason
FROM attribution AS work
LEFT JOIN calling_context AS context
    ON context.run_id = work.run_id AND context.source_id = work.source_id AND context.context_id = work.context_id
WHERE work.work_kind = 'kernel'
UNION ALL BY NAME
SELECT
    call.run_id, call.source_id, 'host operators' AS basis, context.module_path AS layer_path, context.module_type_name AS layer_type,
    CASE WHEN context.phase_kind IN ('forward', 'backward') THEN context.phase_kind ELSE 'other' END AS phase_kind,
    false AS is_pass, call.step_index, call.start_ns, call.self_ns AS dur_ns, call.self_ns AS share_ns,
    CASE WHEN context.module_path IS NULL THEN 'no module around the operator' END AS reason
FROM op_call AS call
LEFT JOIN calling_context AS context
    ON context.run_id = call.run_id AND context.source_id = call.source_id AND context.context_id = call.context_id
ANTI JOIN stored_table AS stored
    ON stored.table_name = 'kernel' AND stored.run_id = call.run_id AND stored.source_id = call.source_id
