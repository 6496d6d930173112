-- purpose = "Operators of a timeline grouped and added up: time, share, calls, work (measured or modelled), rates, what bounds them; what no operator has is a row too."
-- source = "docs/metrics.md, section Operators of a timeline"
-- needs = ["attribution", "calling_context", "op_call"]
-- depends = ["operator_work", "bound_of", "nearest_of", "one_provenance"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- wanted_phase = {type = "VARCHAR", doc = "all, stable or N..M, as of step_window"}
-- grouping_kind = {type = "VARCHAR", doc = "name, shape (name and types and shapes of the arguments), family or module (whose path is kept in full or cut)"}
-- wanted_depth = {type = "BIGINT", doc = "of module: parts of the path to keep; NULL for all of them"}
-- wanted_provenance = {type = "VARCHAR", doc = "measured, modelled or best, as of operator_work"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- group_name = {type = "VARCHAR", doc = "operator, family or module; NULL: of none"}
-- input_dims = {type = "VARCHAR", doc = "of a shape: shapes of the arguments, as recorded"}
-- input_types = {type = "VARCHAR", doc = "of a shape: their types"}
-- family_name = {type = "VARCHAR", doc = "family; of several that with the most time"}
-- is_operator = {type = "BOOLEAN", doc = "the time is of operators; false: of none"}
-- total_ns = {type = "BIGINT", doc = "time"}
-- share_ratio = {type = "DOUBLE", doc = "total_ns / that of all rows of the run"}
-- basis = {type = "VARCHAR", doc = "whose time it is: kernels, host operators or mixed"}
-- call_count = {type = "BIGINT", doc = "calls; NULL where none is known"}
-- mean_ns = {type = "DOUBLE", doc = "time of these calls / call_count"}
-- kernel_count = {type = "BIGINT", doc = "kernels"}
-- kernel_ns = {type = "BIGINT", doc = "their time"}
-- copy_count = {type = "BIGINT", doc = "copies and sets"}
-- host_ns = {type = "BIGINT", doc = "time on the host"}
-- total_flop = {type = "DOUBLE", doc = "operations that are known"}
-- total_bytes = {type = "DOUBLE", doc = "bytes that are known: measured ones of device memory, modelled ones the least"}
-- known_ratio = {type = "DOUBLE", doc = "share of total_ns whose operations and bytes are both known"}
-- intensity_flop_per_byte = {type = "DOUBLE", doc = "operations / bytes, of these; NULL without operations"}
-- achieved_flop_per_s = {type = "DOUBLE", doc = "operations / time, where they are known"}
-- achieved_bytes_per_s = {type = "DOUBLE", doc = "bytes / time, likewise"}
-- utilization_ratio = {type = "DOUBLE", doc = "operations / (peak x time), likewise"}
-- fp32_utilization_ratio = {type = "DOUBLE", doc = "FP32 operations / (FP32 peak x time), of the kernels that have counters; NULL without"}
-- bandwidth_ratio = {type = "DOUBLE", doc = "bytes / (peak x time), likewise"}
-- roof_ratio = {type = "DOUBLE", doc = "the longer of both times at peak / time, where both are known: 1 is on the roof"}
-- bound_kind = {type = "VARCHAR", doc = "latency (below 0.6 of both roofs), bandwidth (of memory) or compute; of the longer of both times; NULL without operations"}
-- nearest_name = {type = "VARCHAR", doc = "the resource whose time at peak is longer: compute or dram"}
-- ceiling_name = {type = "VARCHAR", doc = "compute peak; of several that with the most time"}
-- provenance_kind = {type = "VARCHAR", doc = "of operations and bytes: measured (by joined counters), modelled or mixed; NULL without any"}
-- work_reason = {type = "VARCHAR", doc = "why operations or bytes are NULL or not of all of the time (that of the most time left out)"}
-- reason = {type = "VARCHAR", doc = "why a figure is, or why it is above its peak"}
WITH
pieces AS (
    SELECT
        *,
        CASE grouping_kind
            WHEN 'family' THEN CASE WHEN name IS NOT NULL THEN coalesce(family_name, '(no model)') END
            WHEN 'module' THEN CASE
                WHEN wanted_depth IS NULL THEN module_path
                WHEN wanted_depth < 1 THEN error('depth must be 1 or more')
                ELSE array_to_string(string_split(module_path, '/')[1:wanted_depth], '/')
            END
            ELSE name
        END AS group_name,
        CASE WHEN grouping_kind = 'shape' THEN input_dims END AS group_dims,
        CASE WHEN grouping_kind = 'shape' THEN input_types END AS group_types,
        coalesce(total_ns, 0) AS weight_ns,
        is_known AND compute_ns IS NOT NULL AND bandwidth_ns IS NOT NULL AS is_held
    FROM operator_work(wanted_run, wanted_phase, wanted_provenance)
),
grouped AS (
    SELECT
        run_id, group_name, group_dims, group_types,
        arg_max(family_name, weight_ns) AS family_name,
        bool_or(name IS NOT NULL) AS is_operator,
        sum(total_ns) AS total_ns,
        CASE WHEN min(basis) = max(basis) THEN min(basis) ELSE 'mixed' END AS basis,
        sum(call_count) AS call_count,
        sum(total_ns) FILTER (WHERE call_count IS NOT NULL) AS called_ns,
        sum(kernel_count) AS kernel_count, sum(kernel_ns) AS kernel_ns, sum(copy_count) AS copy_count, sum(host_ns) AS host_ns,
        sum(total_flop) AS total_flop, sum(total_bytes) AS total_bytes,
        coalesce(sum(work_ns) FILTER (WHERE is_known), 0) AS known_ns,
        sum(total_flop) FILTER (WHERE is_known) AS known_flop,
        sum(total_bytes) FILTER (WHERE is_known) AS known_bytes,
        sum(total_flop) FILTER (WHERE work_ns > 0) AS timed_flop,
        sum(work_ns) FILTER (WHERE total_flop IS NOT NULL) AS flop_ns,
        sum(total_bytes) FILTER (WHERE work_ns > 0) AS timed_bytes,
        sum(work_ns) FILTER (WHERE total_bytes IS NOT NULL) AS bytes_ns,
        ratio(
            sum(total_flop) FILTER (WHERE work_ns > 0 AND peak_flop_per_s IS NOT NULL) * 1e9,
            sum(peak_flop_per_s * work_ns) FILTER (WHERE total_flop IS NOT NULL)
        ) AS utilization_ratio,
        ratio(
            sum(total_bytes) FILTER (WHERE work_ns > 0 AND peak_bytes_per_s IS NOT NULL) * 1e9,
            sum(peak_bytes_per_s * work_ns) FILTER (WHERE total_bytes IS NOT NULL)
        ) AS bandwidth_ratio,
        ratio(
            sum(greatest(compute_ns, bandwidth_ns)) FILTER (WHERE is_held AND work_ns > 0),
            sum(work_ns) FILTER (WHERE is_held)
        ) AS roof_ratio,
        sum(compute_ns) FILTER (WHERE is_held) AS compute_ns,
        sum(bandwidth_ns) FILTER (WHERE is_held) AS bandwidth_ns,
        arg_max(ceiling_name, weight_ns) AS ceiling_name,
        arg_max(reason, weight_ns - CASE WHEN is_known THEN coalesce(work_ns, 0) ELSE 0 END) AS work_reason,
        arg_max(peak_reason, weight_ns) AS peak_reason,
        ratio(sum(fp32_flop) * 1e9, sum(fp32_roof)) AS fp32_utilization_ratio,
        one_provenance(provenance_kind) AS provenance_kind
    FROM pieces
    GROUP BY run_id, group_name, group_dims, group_types
)
SELECT
    run_id, group_name, group_dims AS input_dims, group_types AS input_types, family_name, is_operator,
    CAST(total_ns AS BIGINT) AS total_ns,
    ratio(total_ns, sum(total_ns) OVER (PARTITION BY run_id)) AS share_ratio,
    basis,
    CAST(call_count AS BIGINT) AS call_count,
    ratio(called_ns, call_count) AS mean_ns,
    CAST(kernel_count AS BIGINT) AS kernel_count,
    CAST(kernel_ns AS BIGINT) AS kernel_ns,
    CAST(copy_count AS BIGINT) AS copy_count,
    CAST(host_ns AS BIGINT) AS host_ns,
    total_flop, total_bytes,
    ratio(known_ns, total_ns) AS known_ratio,
    CASE WHEN known_flop > 0 THEN ratio(known_flop, known_bytes) END AS intensity_flop_per_byte,
    ratio(timed_flop * 1e9, flop_ns) AS achieved_flop_per_s,
    ratio(timed_bytes * 1e9, bytes_ns) AS achieved_bytes_per_s,
    utilization_ratio, fp32_utilization_ratio, bandwidth_ratio, roof_ratio,
    CASE WHEN known_flop > 0 OR compute_ns > 0 THEN bound_of(compute_ns, bandwidth_ns, NULL, roof_ratio, NULL, 0.6) END AS bound_kind,
    CASE WHEN known_flop > 0 OR compute_ns > 0 THEN nearest_of(compute_ns, bandwidth_ns, NULL, NULL) END AS nearest_name,
    ceiling_name,
    provenance_kind,
    work_reason,
    nullif(concat_ws('; ',
        work_reason, peak_reason,
        CASE WHEN compute_ns + bandwidth_ns IS NOT NULL AND roof_ratio IS NULL THEN 'duration not known' END,
        CASE WHEN utilization_ratio > 1 THEN 'above the peak ' || ceiling_name || ': computed in matrix units or in a smaller type, or a figure is wrong' END,
        CASE WHEN bandwidth_ratio > 1 THEN 'above the bandwidth of memory: read from a cache, or a figure is wrong' END
    ), '') AS reason
FROM grouped
