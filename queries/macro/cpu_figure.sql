-- purpose = "What perf stat tells of each measurement, interval, scope or control group: clock, instructions per cycle, miss rates, faults, top-down; a figure a row."
-- source = "tools/perf/util/stat-shadow.c: the same quotients; docs/metrics.md, section Processor counters"
-- needs = ["measurement"]
-- depends = ["counter_slot", "event_quantity"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- slot_kind = {type = "VARCHAR", doc = "measurement, interval, scope, interval_scope or cgroup"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- measurement_index = {type = "BIGINT", doc = "measurement"}
-- slot_key = {type = "VARCHAR", doc = "interval, scope or control group as text; blank where there is none"}
-- core_name = {type = "VARCHAR", doc = "kind of the cores, where those of two kinds counted; NULL: all of them"}
-- figure_name = {type = "VARCHAR", doc = "clock, ipc, branch_miss …"}
-- value = {type = "DOUBLE", doc = "the figure in base units"}
-- running_ratio = {type = "DOUBLE", doc = "least share of the time that an event of it was counted; NULL where perf worked it out"}
-- is_by_perf = {type = "BOOLEAN", doc = "perf worked it out, and its events are not in the file"}
-- missing_name = {type = "VARCHAR", doc = "an event that was not collected, which the value is NULL for"}
-- reason = {type = "VARCHAR", doc = "why the value is NULL, where its events were collected"}
WITH
-- a figure is `over`, or `over` / `under` x factor; or a metric of perf's
figures AS (
    SELECT * FROM (VALUES
        ('clock', 'cycle', 'clock', 1e9, ['Hz', '/sec', 'cycles_frequency']),
        -- of a program whose elapsed time the file does not say; the time itself is no count
        ('used_cpu', 'elapsed', NULL, 1, ['CPUs utilized', 'CPUs_utilized']),
        ('ipc', 'instruction', 'cycle', 1, ['insn per cycle', 'insns per cycle', 'insn_per_cycle', 'IPC', 'ipc', 'tma_info_thread_ipc']),
        ('branch_miss', 'branch_miss', 'branch', 1, ['of all branches', 'branch-misses of all branches', 'branch_miss_rate']),
        ('cache_miss', 'cache_miss', 'cache_access', 1, ['of all cache refs', 'cache-misses of all cache refs']),
        ('l1d_miss', 'l1d_miss', 'l1d_access', 1, ['of all L1-dcache accesses', 'of all L1-dcache hits', 'l1d_miss_rate']),
        ('llc_miss', 'llc_miss', 'llc_access', 1, ['of all LL-cache accesses', 'of all LL-cache hits', 'llc_miss_rate']),
        ('dtlb_miss', 'dtlb_miss', 'dtlb_access', 1, ['of all dTLB cache accesses', 'of all dTLB cache hits', 'dtlb_miss_rate']),
        ('page_fault', 'page_fault', NULL, 1, []),
        ('context_switch', 'context_switch', NULL, 1, []),
        ('retiring', 'topdown_retiring', 'topdown', 1, ['Retiring', 'retiring', 'tma_retiring']),
        ('bad_speculation', 'topdown_bad_speculation', 'topdown', 1, ['Bad Speculation', 'bad speculation', 'tma_bad_speculation']),
        ('frontend', 'topdown_frontend', 'topdown', 1, ['Frontend Bound', 'frontend bound', 'tma_frontend_bound']),
        ('backend', 'topdown_backend', 'topdown', 1, ['Backend Bound', 'backend bound', 'tma_backend_bound'])
    ) AS figure (figure_name, over_kind, under_kind, factor, metric_names)
),
counted AS (
    SELECT
        run_id, source_id, measurement_index, slot_key, core_name, event_name, quantity, running_ratio, mode_name, status_kind,
        CASE WHEN quantity IS NULL THEN event_name || ': ' || reason END AS reason,
        CASE WHEN quantity_kind IN ('task_clock', 'cpu_clock') THEN 'clock' ELSE quantity_kind END AS quantity_kind
    FROM event_quantity(wanted_run, slot_kind, true)
    QUALIFY row_number() OVER (PARTITION BY run_id, source_id, measurement_index, slot_key, core_name, CASE WHEN quantity_kind IN ('task_clock', 'cpu_clock') THEN 'clock' ELSE quantity_kind END ORDER BY quantity_kind = 'cpu_clock') = 1
),
amounts AS (
    SELECT * EXCLUDE (status_kind) FROM counted
    UNION ALL BY NAME
    -- all slots of the processor: a part of the four is not the whole
    SELECT
        run_id, source_id, measurement_index, slot_key, core_name, 'topdown' AS quantity_kind, 'topdown-*' AS event_name,
        CASE WHEN count(quantity) = 4 THEN sum(quantity) END AS quantity,
        min(running_ratio) AS running_ratio,
        CASE WHEN count(quantity) < 4 THEN 'not all four top-down events were counted' END AS reason,
        CASE WHEN count(DISTINCT coalesce(mode_name, '')) = 1 THEN any_value(mode_name) ELSE 'mixed' END AS mode_name
    FROM counted
    WHERE starts_with(quantity_kind, 'topdown_')
    GROUP BY run_id, source_id, measurement_index, slot_key, core_name
),
cores AS (
    SELECT
        run_id, source_id, measurement_index, slot_key,
        list(DISTINCT core_name) FILTER (WHERE core_name IS NOT NULL) AS kinds,
        list(DISTINCT core_name) FILTER (WHERE core_name IS NOT NULL AND quantity IS NOT NULL) AS working
    FROM counted
    GROUP BY ALL
),
-- a row of all cores, and one of each kind where two kinds counted
owners AS (
    SELECT
        slot.run_id, slot.source_id, slot.measurement_index, slot.slot_key, CAST(NULL AS VARCHAR) AS core_name,
        CASE WHEN len(cores.working) = 1 THEN cores.working[1] WHEN len(cores.working) = 0 THEN cores.kinds[1] END AS counting_name,
        coalesce(len(cores.working) > 1, false) AS is_apart
    FROM counter_slot(wanted_run, slot_kind) AS slot
    LEFT JOIN cores USING (run_id, source_id, measurement_index, slot_key)
    UNION ALL
    SELECT run_id, source_id, measurement_index, slot_key, core_name, core_name AS counting_name, false AS is_apart
    FROM (SELECT * EXCLUDE (kinds, working), unnest(working) AS core_name FROM cores WHERE len(working) > 1)
),
worked_out AS (
    SELECT
        run_id, source_id, measurement_index,
        concat_ws(
            ' ', CASE WHEN starts_with(slot_kind, 'interval') THEN interval_index END,
            CASE WHEN ends_with(slot_kind, 'scope') THEN scope_name WHEN slot_kind = 'cgroup' THEN cgroup_name END
        ) AS slot_key,
        CASE WHEN pmu_name IN ('cpu_core', 'cpu_atom', 'cpu_lowpower') THEN pmu_name END AS core_name,
        event_name AS metric_name,
        any_value(value) AS value, count(*) AS value_count
    FROM counter
    WHERE
        record_kind = 'metric' AND (wanted_run IS NULL OR run_id = wanted_run)
        AND starts_with(slot_kind, 'interval') = (interval_index IS NOT NULL)
        AND (ends_with(slot_kind, 'scope') OR scope_name IS NULL)
        AND (slot_kind = 'cgroup' OR cgroup_name IS NULL)
        -- other cycles have a frequency too
        AND (event_name NOT IN ('Hz', '/sec') OR coalesce(regexp_matches(metric_event_name, '(^|/)(cpu-)?cycles([/:]|$)'), event_name = 'Hz'))
    GROUP BY ALL
),
said AS (
    SELECT owners.run_id, owners.source_id, owners.measurement_index, owners.slot_key, owners.core_name, figures.figure_name, any_value(worked_out.value) AS value
    FROM figures, owners
    JOIN worked_out
        ON worked_out.run_id = owners.run_id AND worked_out.source_id = owners.source_id AND worked_out.measurement_index = owners.measurement_index AND worked_out.slot_key = owners.slot_key
        AND coalesce(worked_out.core_name = owners.counting_name, NOT owners.is_apart)
    WHERE list_contains(figures.metric_names, worked_out.metric_name) AND worked_out.value_count = 1
    GROUP BY ALL
    HAVING count(*) = 1
),
quotients AS (
    SELECT
        owners.*, figures.figure_name,
        CASE WHEN figures.under_kind IS NULL THEN above.quantity ELSE ratio(above.quantity * figures.factor, below.quantity) END AS quotient,
        CASE WHEN below.running_ratio IS NULL THEN above.running_ratio ELSE least(above.running_ratio, below.running_ratio) END AS running_ratio,
        CASE
            WHEN is_apart AND figures.under_kind IS NOT NULL THEN NULL
            WHEN above.event_name IS NULL THEN missing_above.event_name
            WHEN figures.under_kind IS NOT NULL AND below.event_name IS NULL THEN missing_below.event_name
        END AS missing_name,
        CASE
            WHEN missing_name IS NOT NULL THEN NULL
            WHEN figures.under_kind IS NULL AND owners.core_name IS NOT NULL THEN 'counted on all cores together'
            WHEN owners.is_apart AND above.event_name IS NULL AND figures.under_kind IS NOT NULL THEN 'counted on cores of two kinds, which have rows of their own'
            WHEN above.quantity IS NULL THEN above.reason
            WHEN below.quantity IS NULL AND figures.under_kind IS NOT NULL THEN below.reason
            WHEN figures.under_kind NOT IN ('clock') AND (above.mode_name IS DISTINCT FROM below.mode_name OR above.mode_name = 'mixed')
            THEN 'one is counted in mode ' || coalesce(above.mode_name, 'all') || ', the other in ' || coalesce(below.mode_name, 'all')
            WHEN below.quantity = 0 THEN below.event_name || ': none were counted'
            WHEN ends_with(figures.figure_name, '_miss') AND above.quantity > below.quantity THEN 'more misses than accesses, counted for ' || round(100 * least(above.running_ratio, below.running_ratio), 2) || ' % of the time'
        END AS reason
    FROM owners
    CROSS JOIN figures
    LEFT JOIN (VALUES
        ('elapsed', 'task-clock'), ('cycle', 'cycles'), ('instruction', 'instructions'), ('branch_miss', 'branch-misses'), ('cache_miss', 'cache-misses'), ('l1d_miss', 'L1-dcache-load-misses'),
        ('llc_miss', 'LLC-load-misses'), ('dtlb_miss', 'dTLB-load-misses'), ('page_fault', 'page-faults'), ('context_switch', 'context-switches'),
        ('topdown_retiring', 'topdown-*'), ('topdown_bad_speculation', 'topdown-*'), ('topdown_frontend', 'topdown-*'), ('topdown_backend', 'topdown-*')
    ) AS missing_above (quantity_kind, event_name) ON missing_above.quantity_kind = figures.over_kind
    LEFT JOIN (VALUES
        ('clock', 'task-clock'), ('cycle', 'cycles'), ('branch', 'branches'), ('cache_access', 'cache-references'), ('l1d_access', 'L1-dcache-loads'),
        ('llc_access', 'LLC-loads'), ('dtlb_access', 'dTLB-loads'), ('topdown', 'topdown-*')
    ) AS missing_below (quantity_kind, event_name) ON missing_below.quantity_kind = figures.under_kind
    LEFT JOIN amounts AS above
        ON above.run_id = owners.run_id AND above.source_id = owners.source_id AND above.measurement_index = owners.measurement_index AND above.slot_key = owners.slot_key
        AND above.quantity_kind = figures.over_kind AND coalesce(above.core_name = owners.counting_name, above.core_name IS NULL)
    LEFT JOIN amounts AS below
        ON below.run_id = owners.run_id AND below.source_id = owners.source_id AND below.measurement_index = owners.measurement_index AND below.slot_key = owners.slot_key
        AND below.quantity_kind = figures.under_kind AND coalesce(below.core_name = owners.counting_name, below.core_name IS NULL)
)
SELECT
    quotients.run_id, quotients.source_id, quotients.measurement_index, quotients.slot_key, quotients.core_name, quotients.figure_name,
    CASE WHEN missing_name IS NOT NULL THEN said.value WHEN reason IS NULL THEN quotient END AS value,
    CASE WHEN missing_name IS NULL AND reason IS NULL THEN running_ratio END AS running_ratio,
    missing_name IS NOT NULL AND said.value IS NOT NULL AS is_by_perf,
    CASE WHEN said.value IS NULL THEN missing_name END AS missing_name,
    reason
FROM quotients
LEFT JOIN said
    ON said.run_id = quotients.run_id AND said.source_id = quotients.source_id AND said.measurement_index = quotients.measurement_index AND said.slot_key = quotients.slot_key
    AND said.figure_name = quotients.figure_name AND said.core_name IS NOT DISTINCT FROM quotients.core_name
