-- purpose = "Operators of a timeline by calling context: their time on devices, calls and modelled work, held against the peaks of their devices."
-- source = "docs/metrics.md, section Operators of a timeline"
-- needs = ["attribution", "calling_context", "op_call"]
-- depends = ["step_window", "work_by_context", "device_ceiling", "device_known", "peak_of_work", "time_at_peak"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- wanted_phase = {type = "VARCHAR", doc = "all, stable or N..M, as of step_window"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- context_id = {type = "BIGINT", doc = "`calling_context` whose work is done: unit_context_id of work_by_context; NULL: of no context"}
-- name = {type = "VARCHAR", doc = "its operator; NULL: the time is of none"}
-- family_name = {type = "VARCHAR", doc = "family of the operator; NULL where it has no model"}
-- input_dims = {type = "VARCHAR", doc = "shapes of its arguments, as recorded"}
-- input_types = {type = "VARCHAR", doc = "their types"}
-- module_path = {type = "VARCHAR", doc = "module it is called in"}
-- basis = {type = "VARCHAR", doc = "whose time total_ns is: kernels (with copies and sets), or of a source without kernels host operators"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations of the kernels, copies and sets; of host operators host_ns"}
-- kernel_ns = {type = "BIGINT", doc = "that of the kernels; NULL of host operators"}
-- kernel_count = {type = "BIGINT", doc = "kernels"}
-- copy_count = {type = "BIGINT", doc = "copies and sets"}
-- call_count = {type = "BIGINT", doc = "calls of the operator that launched any; of host operators all. NULL where none of them is there"}
-- host_ns = {type = "BIGINT", doc = "time on the host, with that of the operators called in it that have no work of their own"}
-- total_flop = {type = "DOUBLE", doc = "operations of these calls"}
-- total_bytes = {type = "DOUBLE", doc = "least bytes that they read and write"}
-- is_known = {type = "BOOLEAN", doc = "both are known"}
-- reason = {type = "VARCHAR", doc = "why one of them is not"}
-- device_name = {type = "VARCHAR", doc = "device it ran on; NULL where nobody says, or of several names"}
-- ceiling_name = {type = "VARCHAR", doc = "compute peak, by what it computes in"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "the peak; NULL where it is not known, or not that of all devices it ran on"}
-- peak_bytes_per_s = {type = "DOUBLE", doc = "that of device memory"}
-- compute_ns = {type = "DOUBLE", doc = "the operations at peak"}
-- bandwidth_ns = {type = "DOUBLE", doc = "the bytes at peak"}
-- peak_reason = {type = "VARCHAR", doc = "why one of these is NULL where the work is known"}
WITH
steps AS MATERIALIZED (
    FROM step_window(wanted_run, wanted_phase)
),
contexts AS MATERIALIZED (
    SELECT
        work.*, context.context_kind = 'op' AS is_op, context.input_dims, context.input_types, context.module_path,
        peak_of_work(precision_name, is_heavy) AS ceiling_name
    FROM work_by_context(wanted_run) AS work
    JOIN (FROM calling_context WHERE wanted_run IS NULL OR run_id = wanted_run) AS context
        ON context.run_id = work.run_id AND context.source_id = work.source_id AND context.context_id = work.context_id
),
-- by step first: to hold every row against the bounds of the steps takes ten times as long
ran AS (
    SELECT
        run_id, source_id, context_id, device_id, step_index,
        sum(dur_ns) AS device_ns,
        count(*) FILTER (WHERE work_kind = 'kernel') AS kernel_count,
        CASE WHEN kernel_count = 0 THEN 0 ELSE sum(dur_ns) FILTER (WHERE work_kind = 'kernel') END AS kernel_ns,
        count(*) FILTER (WHERE work_kind <> 'kernel') AS copy_count,
        arg_max(op_reason, coalesce(dur_ns, 0)) AS op_reason,
        bool_or(capture_event_id IS NOT NULL) AS is_replayed
    FROM attribution
    WHERE wanted_run IS NULL OR run_id = wanted_run
    GROUP BY run_id, source_id, context_id, device_id, step_index
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
        bool_or(is_replayed) AS is_replayed
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
        max(host_ns) AS host_ns
    FROM parts LEFT JOIN kernel_sources USING (run_id, source_id)
    GROUP BY run_id, source_id, context_id
    HAVING any_value(has_kernels) IS NULL OR max(kernel_count) IS NOT NULL
),
worked AS (
    SELECT
        units.run_id, units.source_id, units.context_id,
        CASE WHEN is_op THEN name END AS name,
        family_name, input_dims, input_types, module_path,
        has_kernels,
        total_ns, kernel_ns, kernel_count, copy_count, units.call_count, host_ns,
        CAST(flop_count AS DOUBLE) * units.call_count AS total_flop,
        CAST(accessed_bytes AS DOUBLE) * units.call_count AS total_bytes,
        total_flop IS NOT NULL AND total_bytes IS NOT NULL AS is_known,
        CASE
            WHEN is_known THEN NULL
            WHEN is_op IS NOT TRUE THEN coalesce(op_reason, 'no operator')
            WHEN is_replayed THEN 'replayed by a graph: only the shapes of the capture are in the file'
            WHEN units.call_count IS NULL THEN 'calls not in the file, or not in these steps'
            ELSE reason
        END AS reason,
        precision_name, ceiling_name, peak_flop_per_s, peak_bytes_per_s, device_words, device_name
    FROM units
    LEFT JOIN contexts
        ON contexts.run_id = units.run_id AND contexts.source_id = units.source_id AND contexts.context_id = units.context_id
)
SELECT
    run_id, source_id, context_id, name, family_name, input_dims, input_types, module_path,
    CASE WHEN has_kernels THEN 'kernels' ELSE 'host operators' END AS basis,
    CAST(total_ns AS BIGINT) AS total_ns,
    CASE WHEN has_kernels THEN CAST(kernel_ns AS BIGINT) END AS kernel_ns,
    CASE WHEN has_kernels THEN CAST(kernel_count AS BIGINT) END AS kernel_count,
    CASE WHEN has_kernels THEN CAST(copy_count AS BIGINT) END AS copy_count,
    CAST(call_count AS BIGINT) AS call_count,
    CAST(host_ns AS BIGINT) AS host_ns,
    total_flop, total_bytes, is_known, reason, device_name, ceiling_name, peak_flop_per_s, peak_bytes_per_s,
    time_at_peak(total_flop, peak_flop_per_s) AS compute_ns,
    time_at_peak(total_bytes, peak_bytes_per_s) AS bandwidth_ns,
    CASE
        WHEN NOT is_known THEN NULL
        WHEN NOT has_kernels THEN 'no peak of the processor is known'
        WHEN total_flop > 0 AND ceiling_name IS NULL THEN 'no peak for ' || precision_name
        WHEN total_flop > 0 AND peak_flop_per_s IS NULL THEN 'no peak ' || ceiling_name || ' ' || device_words
        WHEN peak_bytes_per_s IS NULL THEN 'no bandwidth of memory ' || device_words
    END AS peak_reason
FROM worked
