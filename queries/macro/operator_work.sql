-- purpose = "Operators of a timeline by calling context: their time on devices, calls and work (by counters that were joined, else modelled), held against the peaks of their devices."
-- source = "docs/metrics.md, section Operators of a timeline"
-- needs = ["attribution", "calling_context", "op_call"]
-- depends = ["step_window", "work_by_context", "device_ceiling", "device_known", "peak_of_work", "time_at_peak", "joined_bound"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- wanted_phase = {type = "VARCHAR", doc = "all, stable or N..M, as of step_window"}
-- wanted_provenance = {type = "VARCHAR", doc = "measured, modelled or best: measured where all kernels have counters, else modelled, else of those that have"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- context_id = {type = "BIGINT", doc = "`calling_context` whose work is done: unit_context_id of work_by_context; NULL: of no context"}
-- name = {type = "VARCHAR", doc = "its operator; NULL: the time is of none"}
-- family_name = {type = "VARCHAR", doc = "family of the operator; NULL where it has no model"}
-- input_dims = {type = "VARCHAR", doc = "shapes of its arguments, as recorded"}
-- input_types = {type = "VARCHAR", doc = "their types"}
-- module_path = {type = "VARCHAR", doc = "module it is called in"}
-- phase_kind = {type = "VARCHAR", doc = "forward, backward or other"}
-- basis = {type = "VARCHAR", doc = "whose time total_ns is: kernels (with copies and sets), or of a source without kernels host operators"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations of the kernels, copies and sets; of host operators host_ns"}
-- kernel_ns = {type = "BIGINT", doc = "that of the kernels; NULL of host operators"}
-- kernel_count = {type = "BIGINT", doc = "kernels"}
-- copy_count = {type = "BIGINT", doc = "copies and sets"}
-- call_count = {type = "BIGINT", doc = "calls of the operator that launched any; of host operators all. NULL where none of them is there"}
-- host_ns = {type = "BIGINT", doc = "time on the host, with that of the operators called in it that have no work of their own"}
-- total_flop = {type = "DOUBLE", doc = "operations of these calls"}
-- total_bytes = {type = "DOUBLE", doc = "measured: bytes of device memory; modelled: least bytes that they read and write"}
-- is_whole = {type = "BOOLEAN", doc = "operations and bytes are those of all of its kernels"}
-- work_ns = {type = "BIGINT", doc = "what of total_ns they are of: less where only some kernels have counters"}
-- is_known = {type = "BOOLEAN", doc = "both are known"}
-- provenance_kind = {type = "VARCHAR", doc = "measured or modelled; NULL where neither is known"}
-- reason = {type = "VARCHAR", doc = "why one of them is not known, or not of all kernels"}
-- device_name = {type = "VARCHAR", doc = "device it ran on; NULL if unknown, or of several names"}
-- ceiling_name = {type = "VARCHAR", doc = "compute peak, by what it computes in"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "the peak; NULL where it is not known, or not that of all devices it ran on"}
-- peak_bytes_per_s = {type = "DOUBLE", doc = "that of device memory"}
-- compute_ns = {type = "DOUBLE", doc = "the operations at peak"}
-- bandwidth_ns = {type = "DOUBLE", doc = "the bytes at peak"}
-- fp32_flop = {type = "DOUBLE", doc = "FP32 operations of the kernels that have counters and whose peak is known"}
-- fp32_roof = {type = "DOUBLE", doc = "the FP32 operations, times 1e9, that these could do in their time"}
-- peak_reason = {type = "VARCHAR", doc = "why one of these is NULL where the work is known"}
WITH
steps AS MATERIALIZED (
    FROM step_window(wanted_run, wanted_phase)
),
contexts AS MATERIALIZED (
    SELECT
        work.*, context.context_kind = 'op' AS is_op, context.input_dims, context.input_types, context.module_path, context.phase_kind,
        peak_of_work(precision_name, is_heavy) AS ceiling_name
    FROM work_by_context(wanted_run) AS work
    JOIN (FROM calling_context WHERE wanted_run IS NULL OR run_id = wanted_run) AS context
        ON context.run_id = work.run_id AND context.source_id = work.source_id AND context.context_id = work.context_id
),
-- by step first: to hold every row against the bounds of the steps takes ten times as long
ran AS (
    SELECT
        work.run_id, work.source_id, context_id, work.device_id, step_index,
        sum(work.dur_ns) AS device_ns,
        count(*) FILTER (WHERE work_kind = 'kernel') AS kernel_count,
        CASE WHEN kernel_count = 0 THEN 0 ELSE sum(work.dur_ns) FILTER (WHERE work_kind = 'kernel') END AS kernel_ns,
        count(*) FILTER (WHERE work_kind <> 'kernel') AS copy_count,
        arg_max(op_reason, coalesce(work.dur_ns, 0)) AS op_reason,
        bool_or(capture_event_id IS NOT NULL) AS is_replayed,
        count(counted.total_flop) AS with_flop_count, count(counted.dram_bytes) AS with_bytes_count,
        count(*) FILTER (WHERE is_counted) AS counted_count,
        sum(work.dur_ns) FILTER (WHERE is_counted) AS counted_ns,
        sum(counted.total_flop) AS all_flop, sum(counted.dram_bytes) AS all_bytes,
        sum(counted.total_flop) FILTER (WHERE is_counted) AS counted_flop,
        sum(counted.dram_bytes) FILTER (WHERE is_counted) AS counted_bytes,
        count(*) FILTER (WHERE is_counted AND (counted.compute_ns IS NULL OR counted.dram_ns IS NULL)) AS unheld_count,
        sum(counted.compute_ns) FILTER (WHERE is_counted) AS compute_ns,
        sum(counted.dram_ns) FILTER (WHERE is_counted) AS bandwidth_ns,
        arg_max(counted.ceiling_name, counted.total_flop) AS ceiling_name,
        any_value(counted.fp32_flop_per_s) AS fp32_flop_per_s,
        sum(counted.fp32_flop) FILTER (WHERE counted.fp32_flop_per_s IS NOT NULL AND counted.dur_ns > 0) AS fp32_flop,
        sum(counted.fp32_flop_per_s * counted.dur_ns) FILTER (WHERE counted.fp32_flop IS NOT NULL) AS fp32_roof
    FROM (FROM attribution WHERE wanted_run IS NULL OR run_id = wanted_run) AS work
    LEFT JOIN (
        SELECT *, total_flop IS NOT NULL AND dram_bytes IS NOT NULL AS is_counted
        FROM joined_bound
        WHERE (wanted_run IS NULL OR run_id = wanted_run) AND wanted_provenance <> 'modelled'
    ) AS counted
        ON counted.run_id = work.run_id AND counted.source_id = work.source_id AND counted.event_id = work.event_id
        AND work.work_kind = 'kernel'
    GROUP BY work.run_id, work.source_id, context_id, work.device_id, step_index
),
kernel_sources AS (
    SELECT DISTINCT run_id, source_id, true AS has_kernels FROM ran WHERE kernel_count > 0
),
called AS (
    SELECT
        run_id, source_id, context_id, step_index,
        count(*) AS call_count, count(*) FILTER (WHERE work_count > 0) AS launching_count, sum(self_ns) AS self_ns
    FROM op_call
    WHERE wanted_run IS NULL OR run_id = wanted_run
    GROUP BY run_id, source_id, context_id, step_index
),
on_devices AS (
    SELECT
        ran.run_id, ran.source_id, coalesce(contexts.unit_context_id, ran.context_id) AS context_id, ran.device_id,
        sum(device_ns) AS device_ns, sum(kernel_ns) AS kernel_ns, sum(kernel_count) AS kernel_count,
        sum(copy_count) AS copy_count, arg_max(op_reason, coalesce(device_ns, 0)) AS op_reason,
        bool_or(is_replayed) AS is_replayed,
        sum(with_flop_count) AS with_flop_count, sum(with_bytes_count) AS with_bytes_count, sum(counted_count) AS counted_count, sum(counted_ns) AS counted_ns,
        sum(all_flop) AS all_flop, sum(all_bytes) AS all_bytes, sum(counted_flop) AS counted_flop, sum(counted_bytes) AS counted_bytes,
        sum(unheld_count) AS unheld_count, sum(ran.compute_ns) AS compute_ns, sum(ran.bandwidth_ns) AS bandwidth_ns,
        arg_max(ran.ceiling_name, all_flop) AS counted_ceiling_name, max(fp32_flop_per_s) AS fp32_flop_per_s,
        sum(fp32_flop) AS fp32_flop, sum(fp32_roof) AS fp32_roof
    FROM ran
    JOIN steps ON steps.run_id = ran.run_id AND steps.source_id = ran.source_id
    LEFT JOIN contexts
        ON contexts.run_id = ran.run_id AND contexts.source_id = ran.source_id AND contexts.context_id = ran.context_id
    WHERE first_step_index IS NULL OR step_index BETWEEN first_step_index AND last_step_index
    GROUP BY ALL
),
host_parts AS (
    SELECT
        called.run_id, called.source_id, coalesce(contexts.unit_context_id, called.context_id) AS context_id,
        sum(call_count) FILTER (WHERE contexts.unit_context_id = called.context_id) AS call_count,
        sum(launching_count) FILTER (WHERE contexts.unit_context_id = called.context_id) AS launching_count,
        sum(self_ns) AS host_ns
    FROM called
    JOIN steps ON steps.run_id = called.run_id AND steps.source_id = called.source_id
    LEFT JOIN contexts
        ON contexts.run_id = called.run_id AND contexts.source_id = called.source_id AND contexts.context_id = called.context_id
    WHERE first_step_index IS NULL OR step_index BETWEEN first_step_index AND last_step_index
    GROUP BY ALL
),
ceilings AS MATERIALIZED (
    SELECT run_id, source_id, device_id, ceiling_kind, ceiling_name, value
    FROM device_ceiling
    WHERE wanted_run IS NULL OR run_id = wanted_run
),
device_parts AS (
    SELECT
        parts.run_id, parts.source_id, parts.context_id,
        sum(device_ns) AS device_ns, sum(kernel_ns) AS kernel_ns, sum(kernel_count) AS kernel_count,
        sum(copy_count) AS copy_count, arg_max(op_reason, coalesce(device_ns, 0)) AS op_reason,
        bool_or(is_replayed) AS is_replayed,
        sum(with_flop_count) AS with_flop_count, sum(with_bytes_count) AS with_bytes_count, sum(counted_count) AS counted_count, sum(counted_ns) AS counted_ns,
        sum(all_flop) AS all_flop, sum(all_bytes) AS all_bytes, sum(counted_flop) AS counted_flop, sum(counted_bytes) AS counted_bytes,
        sum(unheld_count) AS unheld_count, sum(parts.compute_ns) AS compute_ns, sum(parts.bandwidth_ns) AS bandwidth_ns,
        arg_max(counted_ceiling_name, all_flop) AS counted_ceiling_name, max(fp32_flop_per_s) AS fp32_flop_per_s,
        sum(fp32_flop) AS fp32_flop, sum(fp32_roof) AS fp32_roof,
        CASE WHEN count(known.device_name) = count(*) AND min(known.device_name) = max(known.device_name) THEN min(known.device_name) END AS device_name,
        -- calls are not told by device
        CASE WHEN count(*) > 1 THEN 'one for all of its devices' ELSE 'for this device' END AS device_words,
        CASE WHEN count(compute.value) = count(*) AND min(compute.value) = max(compute.value) THEN min(compute.value) END AS peak_flop_per_s,
        CASE WHEN count(memory.value) = count(*) AND min(memory.value) = max(memory.value) THEN min(memory.value) END AS peak_bytes_per_s
    FROM on_devices AS parts
    LEFT JOIN contexts
        ON contexts.run_id = parts.run_id AND contexts.source_id = parts.source_id AND contexts.context_id = parts.context_id
    LEFT JOIN (FROM device_known WHERE wanted_run IS NULL OR run_id = wanted_run) AS known
        ON known.run_id = parts.run_id AND known.source_id = parts.source_id AND known.device_id = parts.device_id
    LEFT JOIN ceilings AS compute
        ON compute.run_id = parts.run_id AND compute.source_id = parts.source_id AND compute.device_id = parts.device_id
        AND compute.ceiling_kind = 'compute' AND compute.ceiling_name = contexts.ceiling_name
    LEFT JOIN ceilings AS memory
        ON memory.run_id = parts.run_id AND memory.source_id = parts.source_id AND memory.device_id = parts.device_id
        AND memory.ceiling_kind = 'bandwidth' AND memory.ceiling_name = 'dram'
    GROUP BY parts.run_id, parts.source_id, parts.context_id
),
parts AS (
    SELECT * FROM device_parts
    UNION ALL BY NAME
    SELECT * FROM host_parts
),
units AS (
    SELECT
        run_id, source_id, context_id, coalesce(any_value(has_kernels), false) AS has_kernels,
        max(CASE WHEN has_kernels THEN device_ns ELSE host_ns END) AS total_ns,
        max(kernel_ns) AS kernel_ns, max(kernel_count) AS kernel_count, max(copy_count) AS copy_count, max(op_reason) AS op_reason,
        coalesce(bool_or(is_replayed), false) AS is_replayed,
        max(peak_flop_per_s) AS peak_flop_per_s, max(peak_bytes_per_s) AS peak_bytes_per_s,
        max(device_words) AS device_words, max(device_name) AS device_name,
        nullif(max(CASE WHEN has_kernels THEN launching_count ELSE call_count END), 0) AS call_count,
        max(host_ns) AS host_ns,
        max(with_flop_count) AS known_flop_count, max(with_bytes_count) AS known_bytes_count, coalesce(max(counted_count), 0) AS counted_count,
        max(counted_ns) AS counted_ns, max(all_flop) AS all_flop, max(all_bytes) AS all_bytes, max(counted_flop) AS counted_flop,
        max(counted_bytes) AS counted_bytes, max(unheld_count) AS unheld_count, max(compute_ns) AS compute_ns, max(bandwidth_ns) AS bandwidth_ns,
        max(counted_ceiling_name) AS counted_ceiling_name, max(fp32_flop_per_s) AS fp32_flop_per_s,
        max(fp32_flop) AS fp32_flop, max(fp32_roof) AS fp32_roof
    FROM parts LEFT JOIN kernel_sources USING (run_id, source_id)
    GROUP BY run_id, source_id, context_id
    HAVING any_value(has_kernels) IS NULL OR max(kernel_count) IS NOT NULL
),
worked AS (
    SELECT
        units.run_id, units.source_id, units.context_id,
        CASE WHEN is_op THEN name END AS name,
        family_name, input_dims, input_types, module_path, phase_kind,
        has_kernels,
        total_ns, kernel_ns, kernel_count, copy_count, units.call_count, host_ns,
        CAST(contexts.flop_count AS DOUBLE) * units.call_count AS modelled_flop,
        CAST(accessed_bytes AS DOUBLE) * units.call_count AS modelled_bytes,
        modelled_flop IS NOT NULL AND modelled_bytes IS NOT NULL AS is_modelled,
        kernel_count > 0 AND counted_count = kernel_count AS is_measured,
        CASE wanted_provenance
            WHEN 'modelled' THEN false
            WHEN 'measured' THEN true
            ELSE is_measured OR (NOT is_modelled AND (counted_count > 0 OR known_flop_count = kernel_count OR known_bytes_count = kernel_count) AND kernel_count > 0)
        END AS is_by_counters,
        CASE
            WHEN is_modelled THEN NULL
            WHEN is_op IS NOT TRUE THEN coalesce(op_reason, 'no operator')
            WHEN is_replayed THEN 'replayed by a graph: only the shapes of the capture are in the file'
            WHEN units.call_count IS NULL THEN 'calls not in the file, or not in these steps'
            ELSE reason
        END AS model_reason,
        CASE
            WHEN counted_count = kernel_count AND copy_count > 0 THEN 'copies and sets have no counters'
            WHEN counted_count = kernel_count THEN NULL
            WHEN counted_count > 0 THEN 'counters of ' || counted_count || ' of ' || kernel_count || ' kernels: operations and bytes are theirs'
            WHEN known_flop_count > 0 THEN 'bytes were not counted'
            WHEN known_bytes_count > 0 THEN 'operations were not counted'
            ELSE 'no counters'
        END AS counter_reason,
        precision_name, ceiling_name, peak_flop_per_s, peak_bytes_per_s, device_words, device_name,
        kernel_count > 0 AND CASE WHEN is_by_counters THEN is_measured ELSE is_modelled END AS is_whole,
        CASE WHEN counted_count > 0 THEN counted_flop WHEN known_flop_count = kernel_count THEN all_flop END AS measured_flop,
        CASE WHEN counted_count > 0 THEN counted_bytes WHEN known_bytes_count = kernel_count THEN all_bytes END AS measured_bytes,
        CASE WHEN counted_count > 0 THEN counted_ns ELSE kernel_ns END AS measured_ns,
        CASE WHEN unheld_count = 0 AND counted_count > 0 THEN compute_ns END AS measured_compute_ns,
        CASE WHEN unheld_count = 0 AND counted_count > 0 THEN bandwidth_ns END AS measured_bandwidth_ns,
        counted_ceiling_name, fp32_flop_per_s, fp32_flop, fp32_roof
    FROM units
    LEFT JOIN contexts
        ON contexts.run_id = units.run_id AND contexts.source_id = units.source_id AND contexts.context_id = units.context_id
),
-- one set of figures for each: by counters, or modelled
chosen AS (
    SELECT
        * REPLACE (
            CASE WHEN is_by_counters THEN counted_ceiling_name ELSE ceiling_name END AS ceiling_name,
            -- what all precisions together can do at most
            CASE
                WHEN NOT is_by_counters THEN peak_flop_per_s
                WHEN measured_flop > 0 THEN ratio(measured_flop * 1e9, measured_compute_ns)
                ELSE fp32_flop_per_s
            END AS peak_flop_per_s
        ),
        CASE WHEN is_by_counters THEN measured_flop ELSE modelled_flop END AS total_flop,
        CASE WHEN is_by_counters THEN measured_bytes ELSE modelled_bytes END AS total_bytes,
        CASE WHEN is_by_counters THEN measured_ns ELSE total_ns END AS work_ns,
        total_flop IS NOT NULL AND total_bytes IS NOT NULL AS is_known,
        CASE WHEN is_by_counters THEN counter_reason ELSE model_reason END AS reason,
        CASE WHEN is_by_counters THEN measured_compute_ns ELSE time_at_peak(modelled_flop, worked.peak_flop_per_s) END AS compute_ns,
        CASE WHEN is_by_counters THEN measured_bandwidth_ns ELSE time_at_peak(modelled_bytes, peak_bytes_per_s) END AS bandwidth_ns
    FROM worked
)
SELECT
    run_id, source_id, context_id, name, family_name, input_dims, input_types, module_path, phase_kind,
    CASE WHEN has_kernels THEN 'kernels' ELSE 'host operators' END AS basis,
    CAST(total_ns AS BIGINT) AS total_ns,
    CASE WHEN has_kernels THEN CAST(kernel_ns AS BIGINT) END AS kernel_ns,
    CASE WHEN has_kernels THEN CAST(kernel_count AS BIGINT) END AS kernel_count,
    CASE WHEN has_kernels THEN CAST(copy_count AS BIGINT) END AS copy_count,
    CAST(call_count AS BIGINT) AS call_count,
    CAST(host_ns AS BIGINT) AS host_ns,
    total_flop, total_bytes, is_whole, CAST(work_ns AS BIGINT) AS work_ns, is_known,
    CASE WHEN coalesce(total_flop, total_bytes) IS NOT NULL THEN CASE WHEN is_by_counters THEN 'measured' ELSE 'modelled' END END AS provenance_kind,
    reason, device_name, ceiling_name, peak_flop_per_s, peak_bytes_per_s, compute_ns, bandwidth_ns,
    CAST(fp32_flop AS DOUBLE) AS fp32_flop, fp32_roof,
    CASE
        WHEN NOT is_known THEN NULL
        WHEN NOT has_kernels THEN 'no peak of the processor is known'
        WHEN is_by_counters AND (compute_ns IS NULL OR bandwidth_ns IS NULL) THEN 'no peak ' || device_words
        WHEN is_by_counters THEN NULL
        WHEN total_flop > 0 AND ceiling_name IS NULL THEN 'no peak for ' || precision_name
        WHEN total_flop > 0 AND peak_flop_per_s IS NULL THEN 'no peak ' || ceiling_name || ' ' || device_words
        WHEN peak_bytes_per_s IS NULL THEN 'no bandwidth of memory ' || device_words
    END AS peak_reason
FROM chosen
