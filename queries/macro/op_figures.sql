-- purpose = "Operators grouped and added up: time, work, intensity, what bounds them, and how the time of the whole parts by that."
-- source = "Wang Y. E. 2020 (ParaDnn), sect. 4.2 and the tables of Fig. 3; docs/metrics.md, section Operators"
-- needs = ["op_stat"]
-- depends = ["op_under", "bound_of", "longest_of", "nearest_of", "first_reason"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- wanted_kind = {type = "VARCHAR", doc = "hlo or framework, never both; NULL: hlo where the run has it on that side"}
-- wanted_side = {type = "VARCHAR", doc = "device or host; NULL: device where the run has operators of one"}
-- grouping_kind = {type = "VARCHAR", doc = "op (of a program), type, class, category, or run (all together)"}
-- scope_kind = {type = "VARCHAR", doc = "device, source (its devices added up) or run (everything added up)"}
-- wanted_ceiling = {type = "VARCHAR", doc = "compute peak, as of op_under"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source; NULL where they are added up"}
-- device_id = {type = "BIGINT", doc = "device; NULL where they are added up"}
-- device_name = {type = "VARCHAR", doc = "its name; NULL if unknown, or for several"}
-- op_kind = {type = "VARCHAR", doc = "hlo or framework"}
-- group_name = {type = "VARCHAR", doc = "operator, type, class or category; NULL of a run"}
-- program_name = {type = "VARCHAR", doc = "of an operator: compiled program"}
-- op_class = {type = "VARCHAR", doc = "class; of several that with the most time"}
-- class_rank = {type = "BIGINT", doc = "place of the class in a figure's colours"}
-- category_name = {type = "VARCHAR", doc = "of an operator: its category"}
-- op_count = {type = "BIGINT", doc = "rows: operators, of each device its own"}
-- occurrence_count = {type = "BIGINT", doc = "how often they ran"}
-- total_ns = {type = "BIGINT", doc = "time"}
-- self_ns = {type = "BIGINT", doc = "time without the operators inside them"}
-- share_ratio = {type = "DOUBLE", doc = "self_ns / that of all operators of the device, source or run"}
-- known_count = {type = "BIGINT", doc = "occurrence_count of the operators whose operations and bytes are known"}
-- known_ns = {type = "BIGINT", doc = "total_ns of those"}
-- known_flop = {type = "DOUBLE", doc = "their operations"}
-- known_bytes = {type = "DOUBLE", doc = "their bytes"}
-- compute_ns = {type = "DOUBLE", doc = "their operations at peak; NULL where a peak is not known"}
-- bandwidth_ns = {type = "DOUBLE", doc = "their bytes at peak; NULL where it is not known"}
-- zero_count = {type = "BIGINT", doc = "occurrence_count of those of them that do no operation"}
-- zero_ns = {type = "BIGINT", doc = "total_ns of those"}
-- total_flop = {type = "DOUBLE", doc = "operations that are known"}
-- total_bytes = {type = "DOUBLE", doc = "bytes that are known"}
-- bytes_basis = {type = "VARCHAR", doc = "dram, accessed, rate or mixed"}
-- intensity_flop_per_byte = {type = "DOUBLE", doc = "known_flop / known_bytes; NULL without operations"}
-- achieved_flop_per_s = {type = "DOUBLE", doc = "operations / time, of the operators of which they are known"}
-- achieved_bytes_per_s = {type = "DOUBLE", doc = "bytes / time, likewise"}
-- utilization_ratio = {type = "DOUBLE", doc = "operations / (peak x time), of the operators of which all are known"}
-- bound_kind = {type = "VARCHAR", doc = "latency (below 0.6 of both roofs), bandwidth (of memory) or compute; NULL without operations"}
-- nearest_name = {type = "VARCHAR", doc = "the resource whose time at peak is longer: compute (the intensity is above the ridge) or dram"}
-- roof_ratio = {type = "DOUBLE", doc = "that time / time: how near to the roof"}
-- reason = {type = "VARCHAR", doc = "why bound_kind is NULL, or not of all of them; of the operators that do something"}
-- reported_bound_name = {type = "VARCHAR", doc = "what bounds them, in the profiler's word; of several that with the most time"}
-- ceiling_name = {type = "VARCHAR", doc = "which compute peak"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "the peak; of several devices the largest"}
-- peak_bytes_per_s = {type = "DOUBLE", doc = "that of device memory"}
-- peak_basis = {type = "VARCHAR", doc = "user, datasheet, computed, measured or reported"}
-- memory_bound_ratio = {type = "DOUBLE", doc = "of the whole: share of self_ns in operators that memory bounds"}
-- compute_bound_ratio = {type = "DOUBLE", doc = "of the whole: share in those that compute bounds"}
-- zero_flop_ratio = {type = "DOUBLE", doc = "of the whole: share in those that do no operation"}
-- unknown_ratio = {type = "DOUBLE", doc = "of the whole: share in those of which nobody knows; the four add up to 1"}
WITH
both_sides AS (
    FROM op_under(wanted_run, wanted_ceiling)
    WHERE (wanted_side IS NULL OR side_kind = wanted_side) AND op_class <> 'idle'
),
sides AS (
    SELECT run_id, CASE WHEN bool_or(side_kind = 'device') THEN 'device' ELSE 'host' END AS side_kind
    FROM both_sides
    GROUP BY run_id
),
ops AS (
    FROM both_sides SEMI JOIN sides USING (run_id, side_kind)
),
kinds AS (
    SELECT run_id, coalesce(wanted_kind, CASE WHEN bool_or(op_kind = 'hlo') THEN 'hlo' ELSE 'framework' END) AS op_kind
    FROM ops
    GROUP BY run_id
),
placed AS (
    SELECT
        ops.* EXCLUDE (program_name, category_name),
        CASE WHEN scope_kind <> 'run' THEN ops.source_id END AS scope_source,
        CASE WHEN scope_kind = 'device' THEN ops.device_id END AS scope_device,
        CASE grouping_kind
            WHEN 'op' THEN name
            WHEN 'type' THEN coalesce(type_name, category_name)
            WHEN 'class' THEN op_class
            WHEN 'run' THEN NULL
            ELSE coalesce(category_name, type_name)
        END AS group_name,
        CASE WHEN grouping_kind = 'op' THEN program_name END AS program_name,
        CASE WHEN grouping_kind = 'op' THEN category_name END AS category_name,
        total_flop IS NOT NULL AND total_bytes IS NOT NULL AS is_known,
        CASE WHEN bound_reason NOT IN ('no operations', 'duration of zero') THEN bound_reason END AS lacking
    FROM ops JOIN kinds ON kinds.run_id = ops.run_id AND kinds.op_kind = ops.op_kind
),
grouped AS (
    SELECT
        run_id, scope_source, scope_device, group_name, program_name,
        CASE WHEN count(DISTINCT device_name) = 1 THEN any_value(device_name) END AS device_name,
        any_value(op_kind) AS op_kind,
        arg_max(op_class, coalesce(self_ns, 0)) AS op_class,
        arg_max(class_rank, coalesce(self_ns, 0)) AS class_rank,
        any_value(category_name) AS category_name,
        count(*) AS op_count,
        CAST(sum(coalesce(occurrence_count, 1)) AS BIGINT) AS occurrence_count,
        CAST(sum(dur_ns) AS BIGINT) AS total_ns,
        CAST(sum(self_ns) AS BIGINT) AS self_ns,
        CAST(coalesce(sum(coalesce(occurrence_count, 1)) FILTER (WHERE is_known), 0) AS BIGINT) AS known_count,
        CAST(sum(dur_ns) FILTER (WHERE is_known) AS BIGINT) AS known_ns,
        sum(total_flop) FILTER (WHERE is_known) AS known_flop,
        sum(total_bytes) FILTER (WHERE is_known) AS known_bytes,
        CASE WHEN bool_and(compute_ns IS NOT NULL) FILTER (WHERE is_known) THEN sum(compute_ns) FILTER (WHERE is_known) END AS compute_ns,
        CASE WHEN bool_and(bandwidth_ns IS NOT NULL) FILTER (WHERE is_known) THEN sum(bandwidth_ns) FILTER (WHERE is_known) END AS bandwidth_ns,
        CAST(coalesce(sum(coalesce(occurrence_count, 1)) FILTER (WHERE is_known AND total_flop = 0), 0) AS BIGINT) AS zero_count,
        CAST(coalesce(sum(dur_ns) FILTER (WHERE is_known AND total_flop = 0), 0) AS BIGINT) AS zero_ns,
        sum(total_flop) AS total_flop,
        sum(total_bytes) AS total_bytes,
        CASE WHEN min(bytes_basis) = max(bytes_basis) THEN min(bytes_basis) WHEN min(bytes_basis) IS NOT NULL THEN 'mixed' END AS bytes_basis,
        ratio(sum(total_flop) FILTER (WHERE dur_ns > 0) * 1e9, sum(dur_ns) FILTER (WHERE total_flop IS NOT NULL)) AS achieved_flop_per_s,
        ratio(sum(total_bytes) FILTER (WHERE dur_ns > 0) * 1e9, sum(dur_ns) FILTER (WHERE total_bytes IS NOT NULL)) AS achieved_bytes_per_s,
        ratio(
            sum(total_flop) FILTER (WHERE dur_ns > 0 AND peak_flop_per_s IS NOT NULL) * 1e9,
            sum(peak_flop_per_s * dur_ns) FILTER (WHERE total_flop IS NOT NULL)
        ) AS utilization_ratio,
        first_reason(lacking, 'operators') AS lacking,
        arg_max(reported_bound_name, coalesce(self_ns, 0)) AS reported_bound_name,
        arg_max(ceiling_name, coalesce(self_ns, 0)) AS ceiling_name,
        max(peak_flop_per_s) AS peak_flop_per_s,
        max(peak_bytes_per_s) AS peak_bytes_per_s,
        arg_max(peak_basis, coalesce(self_ns, 0)) AS peak_basis,
        sum(self_ns) FILTER (WHERE nearest_name = 'dram') AS memory_bound_ns,
        sum(self_ns) FILTER (WHERE nearest_name = 'compute') AS compute_bound_ns,
        sum(self_ns) FILTER (WHERE total_flop = 0) AS zero_flop_ns
    FROM placed
    GROUP BY run_id, scope_source, scope_device, group_name, program_name
),
wholes AS (
    SELECT
        *,
        ratio(longest_of(compute_ns, bandwidth_ns, NULL, NULL), known_ns) AS nearness_ratio,
        sum(self_ns) OVER whole AS whole_ns,
        coalesce(sum(memory_bound_ns) OVER whole, 0) AS all_memory_ns,
        coalesce(sum(compute_bound_ns) OVER whole, 0) AS all_compute_ns,
        coalesce(sum(zero_flop_ns) OVER whole, 0) AS all_zero_ns
    FROM grouped
    WINDOW whole AS (PARTITION BY run_id, scope_source, scope_device)
)
SELECT
    run_id, scope_source AS source_id, scope_device AS device_id, device_name, op_kind, group_name, program_name,
    op_class, class_rank, category_name, op_count, occurrence_count, total_ns, self_ns,
    ratio(self_ns, whole_ns) AS share_ratio,
    known_count, known_ns, known_flop, known_bytes, compute_ns, bandwidth_ns, zero_count, zero_ns,
    total_flop, total_bytes, bytes_basis,
    CASE WHEN known_flop > 0 THEN ratio(known_flop, known_bytes) END AS intensity_flop_per_byte,
    achieved_flop_per_s, achieved_bytes_per_s, utilization_ratio,
    CASE WHEN known_flop > 0 THEN bound_of(compute_ns, bandwidth_ns, NULL, nearness_ratio, NULL, 0.6) END AS bound_kind,
    CASE WHEN known_flop > 0 THEN nearest_of(compute_ns, bandwidth_ns, NULL, NULL) END AS nearest_name,
    CASE WHEN known_flop > 0 THEN nearness_ratio END AS roof_ratio,
    CASE
        WHEN lacking IS NULL AND known_flop = 0 THEN 'no operations'
        WHEN lacking IS NULL AND known_ns = 0 THEN 'duration of zero'
        ELSE lacking
    END AS reason,
    reported_bound_name, ceiling_name, peak_flop_per_s, peak_bytes_per_s, peak_basis,
    ratio(all_memory_ns, whole_ns) AS memory_bound_ratio,
    ratio(all_compute_ns, whole_ns) AS compute_bound_ratio,
    ratio(all_zero_ns, whole_ns) AS zero_flop_ratio,
    ratio(whole_ns - all_memory_ns - all_compute_ns - all_zero_ns, whole_ns) AS unknown_ratio
FROM wholes
