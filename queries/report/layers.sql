-- purpose = "Layers of a network in their order: time forward, backward and else, share, and time of a step."
-- source = "Awan 2017, sect. 4.3.3 (Fig. 6, 7); docs/metrics.md, section Layers"
-- needs = ["calling_context"]
-- depends = ["layer_figures"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M (numbers, both included)", default = "all"}
-- depth = {type = "BIGINT", doc = "parts of the path to keep, modules below added up; if not given, all", optional = true}
-- [columns]
-- layer_path = {type = "VARCHAR", doc = "layer, or modules joined by /; (no layer) or (no module): the rest"}
-- layer_type = {type = "VARCHAR", doc = "its type; NULL where nobody says, or of several together"}
-- forward_ns = {type = "BIGINT", doc = "time of the forward pass: of all kernels; caffe time: of an iteration"}
-- backward_ns = {type = "BIGINT", doc = "time of the backward pass"}
-- other_ns = {type = "BIGINT", doc = "time of neither: optimizer, data, not known"}
-- share_ratio = {type = "DOUBLE", doc = "all three / that of all rows of the run, or of the net"}
-- step_ns = {type = "DOUBLE", doc = "all three of a step: of the work in steps / steps"}
-- step_count = {type = "BIGINT", doc = "steps, of each source its own; caffe time: iterations of the mean"}
-- kernel_count = {type = "BIGINT", doc = "kernels; NULL unless basis is kernels"}
-- reason = {type = "VARCHAR", doc = "why there is no layer, or a time is NULL"}
-- basis = {type = "VARCHAR", doc = "whose time it is: caffe time, kernels, host operators or mixed"}
-- forward_step_ns = {type = "DOUBLE", doc = "forward_ns of a step"}
-- backward_step_ns = {type = "DOUBLE", doc = "backward_ns of a step"}
-- net_name = {type = "VARCHAR", doc = "caffe time: the net"}
-- net_index = {type = "BIGINT", doc = "caffe time: which net of a log, from 0"}
SELECT
    layer_path, layer_type, forward_ns, backward_ns, other_ns, share_ratio, step_ns, step_count, kernel_count,
    reason, basis, forward_step_ns, backward_step_ns, net_name, net_index
FROM layer_figures($run_id, $phase, $depth)
ORDER BY net_index NULLS FIRST, layer_rank
