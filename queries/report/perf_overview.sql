-- purpose = "What perf stat tells of a program or machine: time, CPUs used, clock, instructions per cycle, miss rates, faults, top-down; by measurement, interval, scope or control group."
-- source = "tools/perf/util/stat-shadow.c: what perf prints behind #; docs/metrics.md, section Processor counters"
-- needs = ["measurement"]
-- depends = ["cpu_active", "cpu_figure", "run_title"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- by = {type = "VARCHAR", doc = "what a row stands for: measurement, interval, scope (socket, core, thread …), interval_scope (each scope in each interval) or cgroup", default = "measurement", choices = ["measurement", "interval", "scope", "interval_scope", "cgroup"]}
-- [columns]
-- name = {type = "VARCHAR", doc = "what was measured, or the file"}
-- part_name = {type = "VARCHAR", doc = "scope, control group, or kind of cores"}
-- interval_index = {type = "BIGINT", doc = "interval"}
-- dur_ns = {type = "BIGINT", doc = "elapsed time"}
-- used_cpu_count = {type = "DOUBLE", doc = "CPUs that were used on average: CPU time / elapsed time"}
-- clock_hz = {type = "DOUBLE", doc = "cycles / CPU time, as perf has it; of a whole machine the time that CPUs sleep counts too"}
-- ipc = {type = "DOUBLE", doc = "instructions per cycle"}
-- branch_miss_ratio = {type = "DOUBLE", doc = "branch-misses / branches"}
-- cache_miss_ratio = {type = "DOUBLE", doc = "cache-misses / cache-references"}
-- running_ratio = {type = "DOUBLE", doc = "least share of the time that a counter of these figures ran: perf takes turns and extrapolates"}
-- page_fault_count = {type = "BIGINT", doc = "page faults"}
-- context_switch_count = {type = "BIGINT", doc = "context switches"}
-- l1d_miss_ratio = {type = "DOUBLE", doc = "L1-dcache-load-misses / L1-dcache-loads"}
-- llc_miss_ratio = {type = "DOUBLE", doc = "LLC-load-misses / LLC-loads"}
-- dtlb_miss_ratio = {type = "DOUBLE", doc = "dTLB-load-misses / dTLB-loads"}
-- retiring_ratio = {type = "DOUBLE", doc = "top-down: share of the slots whose operations retire"}
-- bad_speculation_ratio = {type = "DOUBLE", doc = "… that are lost to wrong predictions"}
-- frontend_bound_ratio = {type = "DOUBLE", doc = "… that wait for instructions"}
-- backend_bound_ratio = {type = "DOUBLE", doc = "… that wait for data or units"}
-- reason = {type = "VARCHAR", doc = "why figures are NULL: events that were not collected, and other reasons with the figures they are of"}
-- perf_figures = {type = "VARCHAR", doc = "figures that are as perf worked them out, since the file has not the events they are made of"}
-- used_cpu_running_ratio = {type = "DOUBLE", doc = "share of the time that the clock ran"}
-- clock_running_ratio = {type = "DOUBLE", doc = "least share of the time that the events of clock_hz ran"}
-- ipc_running_ratio = {type = "DOUBLE", doc = "least share of the time that the events of ipc ran"}
-- branch_miss_running_ratio = {type = "DOUBLE", doc = "least share of the time that the events of branch_miss_ratio ran"}
-- cache_miss_running_ratio = {type = "DOUBLE", doc = "least share of the time that the events of cache_miss_ratio ran"}
-- l1d_miss_running_ratio = {type = "DOUBLE", doc = "least share of the time that the events of l1d_miss_ratio ran"}
-- llc_miss_running_ratio = {type = "DOUBLE", doc = "least share of the time that the events of llc_miss_ratio ran"}
-- dtlb_miss_running_ratio = {type = "DOUBLE", doc = "least share of the time that the events of dtlb_miss_ratio ran"}
-- topdown_running_ratio = {type = "DOUBLE", doc = "of the top-down shares"}
-- end_ns = {type = "BIGINT", doc = "of an interval: its end, after the start of the measurement"}
-- active_basis = {type = "VARCHAR", doc = "where the CPU time is from: task-clock, times (user and system) or mperf"}
-- measurement_index = {type = "BIGINT", doc = "measurement of the file"}
-- file_name = {type = "VARCHAR", doc = "file"}
-- run_id = {type = "VARCHAR", doc = "run"}
WITH
told AS MATERIALIZED (
    FROM cpu_figure($run_id, $by)
),
figures AS (
    SELECT
        run_id, source_id, measurement_index, slot_key, core_name, coalesce(core_name, '') AS core_key,
        map_from_entries(list((figure_name, {'value': value, 'running': running_ratio}))) AS value_of,
        min(running_ratio) AS running_ratio,
        string_agg(figure_name, ', ' ORDER BY figure_name) FILTER (WHERE is_by_perf AND figure_name <> 'used_cpu') AS perf_figures,
        'not collected: ' || string_agg(DISTINCT missing_name, ', ' ORDER BY missing_name) FILTER (WHERE figure_name <> 'used_cpu') AS missing_names
    FROM told
    GROUP BY ALL
),
reasons AS (
    SELECT run_id, source_id, measurement_index, slot_key, core_key, string_agg(names || ': ' || reason, '; ' ORDER BY names) AS reasons
    FROM (
        SELECT run_id, source_id, measurement_index, slot_key, coalesce(core_name, '') AS core_key, reason, string_agg(figure_name, ', ' ORDER BY figure_name) AS names
        FROM told
        WHERE reason IS NOT NULL
        GROUP BY ALL
    )
    GROUP BY ALL
),
active AS (
    SELECT
        *,
        -- a core of a known processor may be several CPUs, but not more than two
        ratio(active_ns, dur_ns) > cpus * CASE cpu_basis WHEN 'processor' THEN 2 ELSE 1 END * 1.05 AS is_beyond,
        CASE WHEN NOT coalesce(is_beyond, false) THEN ratio(active_ns, dur_ns) END AS own_count,
        coalesce(reason, CASE WHEN is_beyond THEN round(ratio(active_ns, dur_ns), 2) || ' CPUs by the clock, of ' || cpus || ' that are there' END) AS used_reason
    FROM cpu_active($run_id, $by, NULL)
),
used AS (
    SELECT
        active.*, figures.* EXCLUDE (run_id, source_id, measurement_index, slot_key, running_ratio), figures.running_ratio AS figure_ratio,
        -- without a time or a clock, as perf has it
        CASE WHEN own_count IS NULL AND NOT is_of_all AND (dur_ns IS NULL OR active_basis IS NULL) THEN value_of['used_cpu'].value END AS said_count,
        CASE WHEN core_name IS NULL THEN coalesce(own_count, said_count) END AS used_count
    FROM active
    LEFT JOIN figures USING (run_id, source_id, measurement_index, slot_key)
),
file AS (
    SELECT run_id, source_id, any_value(file_name) AS file_name FROM source_file WHERE $run_id IS NULL OR run_id = $run_id GROUP BY run_id, source_id
)
SELECT
    coalesce(used.target_name, file.file_name) AS name,
    coalesce(used.core_name, used.slot_name) AS part_name,
    used.slot_index AS interval_index,
    used.dur_ns,
    used_count AS used_cpu_count,
    value_of['clock'].value AS clock_hz,
    value_of['ipc'].value AS ipc,
    value_of['branch_miss'].value AS branch_miss_ratio,
    value_of['cache_miss'].value AS cache_miss_ratio,
    least(figure_ratio, CASE WHEN used_count IS NOT NULL THEN used.running_ratio END) AS running_ratio,
    CAST(round(value_of['page_fault'].value) AS BIGINT) AS page_fault_count,
    CAST(round(value_of['context_switch'].value) AS BIGINT) AS context_switch_count,
    value_of['l1d_miss'].value AS l1d_miss_ratio,
    value_of['llc_miss'].value AS llc_miss_ratio,
    value_of['dtlb_miss'].value AS dtlb_miss_ratio,
    value_of['retiring'].value AS retiring_ratio,
    value_of['bad_speculation'].value AS bad_speculation_ratio,
    value_of['frontend'].value AS frontend_bound_ratio,
    value_of['backend'].value AS backend_bound_ratio,
    nullif(concat_ws('; ', 'CPUs: ' || CASE WHEN used.core_name IS NOT NULL THEN 'counted on all cores together' WHEN used_count IS NULL THEN used_reason END, CASE WHEN used.dur_ns IS NULL AND used_count IS NOT NULL THEN 'the file has no elapsed time' END, reasons, missing_names), '') AS reason,
    nullif(concat_ws(', ', CASE WHEN used.core_name IS NULL AND said_count IS NOT NULL THEN 'used_cpu' END, perf_figures), '') AS perf_figures,
    CASE WHEN used_count IS NOT NULL AND said_count IS NULL THEN used.running_ratio END AS used_cpu_running_ratio,
    value_of['clock'].running AS clock_running_ratio,
    value_of['ipc'].running AS ipc_running_ratio,
    value_of['branch_miss'].running AS branch_miss_running_ratio,
    value_of['cache_miss'].running AS cache_miss_running_ratio,
    value_of['l1d_miss'].running AS l1d_miss_running_ratio,
    value_of['llc_miss'].running AS llc_miss_running_ratio,
    value_of['dtlb_miss'].running AS dtlb_miss_running_ratio,
    value_of['backend'].running AS topdown_running_ratio,
    used.end_ns,
    CASE WHEN used_count IS NOT NULL AND said_count IS NULL THEN used.active_basis END AS active_basis,
    used.measurement_index, file.file_name, used.run_id
FROM used
LEFT JOIN reasons USING (run_id, source_id, measurement_index, slot_key, core_key)
JOIN (FROM run_title WHERE $run_id IS NULL OR run_id = $run_id) AS run_title USING (run_id)
LEFT JOIN file USING (run_id, source_id)
ORDER BY run_title.title, used.run_id, file.file_name, used.source_id, used.measurement_index, used.slot_index, used.slot_name, used.core_name NULLS FIRST
