-- purpose = "The work of every operator that counts, held against one compute peak of its device and its memory: intensity, rates, what bounds it."
-- source = "Wang Y. E. 2020 (ParaDnn), sect. 4.2: roofline of operations; docs/metrics.md, section Operators"
-- needs = ["op_stat"]
-- depends = ["op_classed", "op_source", "op_machine", "bound_of", "longest_of", "nearest_of", "time_at_peak"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- wanted_ceiling = {type = "VARCHAR", doc = "compute peak: tensor_bf16 …; NULL: tensor_bf16, else tensor_fp16, else what the profiler says, else fp32"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source: a host"}
-- event_id = {type = "BIGINT", doc = "place of the record in the source; NULL where the row is worked out"}
-- op_kind = {type = "VARCHAR", doc = "hlo or framework: the same time under both"}
-- side_kind = {type = "VARCHAR", doc = "device or host"}
-- device_id = {type = "BIGINT", doc = "device; NULL where the dump adds devices up"}
-- device_name = {type = "VARCHAR", doc = "its name; NULL if unknown"}
-- name = {type = "VARCHAR", doc = "operator"}
-- type_name = {type = "VARCHAR", doc = "its type"}
-- category_name = {type = "VARCHAR", doc = "its category, as the profiler has it"}
-- op_name = {type = "VARCHAR", doc = "framework operator that an HLO instruction belongs to"}
-- program_name = {type = "VARCHAR", doc = "compiled program"}
-- op_class = {type = "VARCHAR", doc = "class: matmul, convolution, fusion …; idle is no operator"}
-- class_rank = {type = "BIGINT", doc = "place of the class in a figure's colours"}
-- occurrence_count = {type = "BIGINT", doc = "how often it ran"}
-- dur_ns = {type = "BIGINT", doc = "time of all occurrences"}
-- self_ns = {type = "BIGINT", doc = "time without the operators inside it"}
-- total_flop = {type = "DOUBLE", doc = "operations of all occurrences; 0: it does none"}
-- flop_basis = {type = "VARCHAR", doc = "count, or rate (x dur_ns)"}
-- flop_reason = {type = "VARCHAR", doc = "why they are NULL"}
-- total_bytes = {type = "DOUBLE", doc = "bytes of all occurrences, of device memory where they are told apart"}
-- bytes_basis = {type = "VARCHAR", doc = "dram (device memory), accessed (all memories) or rate (x dur_ns)"}
-- bytes_reason = {type = "VARCHAR", doc = "why they are NULL"}
-- provenance_kind = {type = "VARCHAR", doc = "reported: by the cost model of the profiler or its compiler"}
-- work_source_name = {type = "VARCHAR", doc = "where operations and bytes are from"}
-- intensity_flop_per_byte = {type = "DOUBLE", doc = "operations / bytes; NULL of an operator without any of either"}
-- achieved_flop_per_s = {type = "DOUBLE", doc = "operations / dur_ns"}
-- achieved_bytes_per_s = {type = "DOUBLE", doc = "bytes / dur_ns"}
-- ceiling_name = {type = "VARCHAR", doc = "which compute peak"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "the peak"}
-- peak_bytes_per_s = {type = "DOUBLE", doc = "that of device memory"}
-- ridge_flop_per_byte = {type = "DOUBLE", doc = "peak_flop_per_s / peak_bytes_per_s"}
-- peak_basis = {type = "VARCHAR", doc = "user, datasheet, computed, measured, or reported by the profiler: of compute, and after a comma of memory where that is another"}
-- compute_ns = {type = "DOUBLE", doc = "operations at peak"}
-- bandwidth_ns = {type = "DOUBLE", doc = "bytes at peak"}
-- utilization_ratio = {type = "DOUBLE", doc = "achieved_flop_per_s / peak_flop_per_s"}
-- bound_kind = {type = "VARCHAR", doc = "latency (below 0.6 of both roofs), bandwidth (of memory) or compute; NULL without operations"}
-- nearest_name = {type = "VARCHAR", doc = "the resource whose time at peak is longer: compute (the intensity is above the ridge) or dram"}
-- roof_ratio = {type = "DOUBLE", doc = "that time / time: how near to the roof"}
-- bound_reason = {type = "VARCHAR", doc = "why it is NULL"}
-- reported_bound_name = {type = "VARCHAR", doc = "what bounds it, in the profiler's word"}
WITH
worked AS (
    SELECT
        ops.*,
        -- what it contains is counted with the operators inside it
        op_class = 'control flow' AND self_ns < dur_ns AS is_container,
        -- the parser adds the instructions of a framework's operator up, and keeps no sum of some
        ops.op_kind = 'framework' AND event_id IS NULL AND work_source_name IS NOT NULL AS is_partly_known,
        CASE
            WHEN is_container THEN NULL
            WHEN flop_count IS NOT NULL THEN 'count'
            WHEN reported_flop_per_s * dur_ns IS NOT NULL THEN 'rate'
        END AS flop_basis,
        CASE flop_basis WHEN 'count' THEN CAST(flop_count AS DOUBLE) WHEN 'rate' THEN reported_flop_per_s * dur_ns * 1e-9 END AS total_flop,
        CASE
            WHEN flop_basis IS NOT NULL THEN NULL
            WHEN is_container THEN 'counted with the operators inside it'
            WHEN op_class = 'idle' THEN 'no operator'
            WHEN reported_flop_per_s IS NOT NULL THEN 'duration not known'
            WHEN is_partly_known THEN 'not known of every instruction'
            ELSE 'not_collected'
        END AS flop_reason,
        -- what begins and what ends a copy are both said to move its bytes
        ops.op_kind = 'hlo' AND name LIKE '%-start%' AND bool_or(name LIKE '%-done%') OVER (
            PARTITION BY ops.run_id, ops.source_id, ops.op_kind, ops.side_kind, device_id, program_name, regexp_replace(name, '-(start|done)', '')
        ) AS is_begin,
        CASE
            WHEN is_container OR is_begin THEN NULL
            WHEN dram_bytes IS NOT NULL THEN 'dram'
            WHEN accessed_bytes IS NOT NULL THEN 'accessed'
            WHEN reported_bytes_per_s * dur_ns IS NOT NULL THEN 'rate'
        END AS bytes_basis,
        CASE bytes_basis
            WHEN 'dram' THEN CAST(dram_bytes AS DOUBLE)
            WHEN 'accessed' THEN CAST(accessed_bytes AS DOUBLE)
            WHEN 'rate' THEN reported_bytes_per_s * dur_ns * 1e-9
        END AS total_bytes,
        CASE
            WHEN bytes_basis IS NOT NULL THEN NULL
            WHEN is_container THEN 'counted with the operators inside it'
            WHEN is_begin THEN 'counted with its -done'
            WHEN op_class = 'idle' THEN 'no operator'
            WHEN reported_bytes_per_s IS NOT NULL THEN 'duration not known'
            WHEN is_partly_known THEN 'not known of every instruction'
            ELSE 'not_collected'
        END AS bytes_reason
    FROM op_classed(wanted_run) AS ops
    JOIN (FROM op_source WHERE wanted_run IS NULL OR run_id = wanted_run) AS op_source
        ON op_source.run_id = ops.run_id AND op_source.source_id = ops.source_id
        AND op_source.op_kind IS NOT DISTINCT FROM ops.op_kind AND op_source.side_kind IS NOT DISTINCT FROM ops.side_kind
),
held AS (
    SELECT
        worked.*,
        machine.device_name, machine.ceiling_name, machine.peak_flop_per_s AS peak, machine.peak_bytes_per_s AS bandwidth,
        machine.peak_basis,
        time_at_peak(total_flop, peak) AS compute_ns,
        time_at_peak(total_bytes, bandwidth) AS bandwidth_ns,
        ratio(longest_of(compute_ns, bandwidth_ns, NULL, NULL), dur_ns) AS nearness_ratio,
        CASE
            WHEN total_flop IS NULL THEN 'operations: ' || flop_reason
            WHEN total_flop = 0 THEN 'no operations'
            WHEN total_bytes IS NULL THEN 'bytes: ' || bytes_reason
            WHEN side_kind <> 'device' THEN 'no device'
            WHEN (peak IS NULL OR bandwidth IS NULL) AND device_name IS NULL THEN 'device not known'
            WHEN peak IS NULL AND wanted_ceiling IS NOT NULL THEN 'no peak ' || wanted_ceiling || ' for this device'
            WHEN peak IS NULL THEN 'no peak for this device'
            WHEN bandwidth IS NULL THEN 'no bandwidth for this device'
            WHEN dur_ns IS NULL THEN 'duration not known'
            WHEN dur_ns = 0 THEN 'duration of zero'
        END AS bound_reason
    FROM worked
    LEFT JOIN op_machine(wanted_run, wanted_ceiling) AS machine
        ON machine.run_id = worked.run_id AND machine.source_id = worked.source_id
        AND machine.device_id IS NOT DISTINCT FROM worked.device_id AND worked.side_kind = 'device'
)
SELECT
    run_id, source_id, event_id, op_kind, side_kind, device_id, device_name, name, type_name, category_name, op_name,
    program_name, op_class, class_rank, occurrence_count, dur_ns, self_ns, total_flop, flop_basis, flop_reason,
    total_bytes, bytes_basis, bytes_reason, 'reported' AS provenance_kind, work_source_name,
    CASE WHEN total_flop > 0 THEN ratio(total_flop, total_bytes) END AS intensity_flop_per_byte,
    ratio(total_flop * 1e9, dur_ns) AS achieved_flop_per_s,
    ratio(total_bytes * 1e9, dur_ns) AS achieved_bytes_per_s,
    ceiling_name, peak AS peak_flop_per_s, bandwidth AS peak_bytes_per_s,
    ratio(peak, bandwidth) AS ridge_flop_per_byte, peak_basis, compute_ns, bandwidth_ns,
    ratio(total_flop * 1e9, peak * dur_ns) AS utilization_ratio,
    CASE WHEN bound_reason IS NULL THEN bound_of(compute_ns, bandwidth_ns, NULL, nearness_ratio, NULL, 0.6) END AS bound_kind,
    CASE WHEN bound_reason IS NULL THEN nearest_of(compute_ns, bandwidth_ns, NULL, NULL) END AS nearest_name,
    CASE WHEN bound_reason IS NULL THEN nearness_ratio END AS roof_ratio,
    bound_reason, bound_name AS reported_bound_name
FROM held
