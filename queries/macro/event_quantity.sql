-- purpose = "What the processor counters say of each event, as operations, bytes or cycles: over a measurement, an interval, a scope or a control group, with how far off it can be."
-- source = "Javed 2019, sect. 3 (eq. 1); docs/metrics.md, section Processor counters"
-- needs = ["measurement"]
-- depends = ["cut_interval", "event_meaning", "event_value"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- slot_kind = {type = "VARCHAR", doc = "measurement, interval, scope, interval_scope or cgroup: what values are added up over"}
-- by_core = {type = "BOOLEAN", doc = "whether cores of each kind (cpu_core, cpu_atom) have rows of their own"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- measurement_index = {type = "BIGINT", doc = "measurement"}
-- slot_index = {type = "BIGINT", doc = "interval"}
-- slot_name = {type = "VARCHAR", doc = "scope or control group"}
-- slot_key = {type = "VARCHAR", doc = "one of them as text, never NULL, to join with; blank where there is neither"}
-- core_name = {type = "VARCHAR", doc = "kind of the cores that counted; NULL where kinds are not kept apart, or there is one"}
-- event_name = {type = "VARCHAR", doc = "event"}
-- quantity_kind = {type = "VARCHAR", doc = "flop, dram_read …"}
-- precision_name = {type = "VARCHAR", doc = "of flop"}
-- width_name = {type = "VARCHAR", doc = "of flop"}
-- quantity = {type = "DOUBLE", doc = "operations, bytes or cycles; NULL where a part of it was not counted"}
-- low_quantity = {type = "DOUBLE", doc = "the least it can be"}
-- high_quantity = {type = "DOUBLE", doc = "the most"}
-- amount = {type = "DOUBLE", doc = "operations, bytes or cycles for one count"}
-- reason = {type = "VARCHAR", doc = "why the quantity is NULL"}
-- unit_count = {type = "BIGINT", doc = "numbered units of the processor that counted, e.g. memory controllers"}
-- value_count = {type = "BIGINT", doc = "values that were added up"}
-- running_ratio = {type = "DOUBLE", doc = "least share of the time that one of them was counted"}
-- spread_ratio = {type = "DOUBLE", doc = "largest standard error over repeats / value"}
-- status_kind = {type = "VARCHAR", doc = "the worst of them"}
-- mode_name = {type = "VARCHAR", doc = "what was counted: u (user mode) and others of ukhGH; NULL: everything"}
WITH
met AS (
    SELECT
        event_value.run_id, event_value.source_id, event_value.measurement_index, event_value.event_id,
        event_value.interval_index, event_value.scope_name, event_value.cgroup_name, event_value.pmu_name,
        event_value.status_kind, event_value.running_ratio, event_value.modifier_name,
        ratio(event_value.stddev, abs(event_value.value)) AS spread_ratio,
        meaning.event_name, meaning.quantity_kind, meaning.precision_name, meaning.width_name, meaning.amount,
        CASE WHEN starts_with(slot_kind, 'interval') THEN event_value.interval_index END AS slot_index,
        CASE WHEN ends_with(slot_kind, 'scope') THEN event_value.scope_name WHEN slot_kind = 'cgroup' THEN event_value.cgroup_name END AS slot_name,
        CASE
            WHEN event_value.status_kind NOT IN ('ok', 'scaled') THEN event_value.status_kind
            WHEN regexp_full_match(event_value.modifier_name, '[^u]*[kh][^u]*') THEN 'counted in the kernel only'
            WHEN meaning.quantity_kind = 'context_switch' AND regexp_full_match(event_value.modifier_name, '[^kh]*u[^kh]*') THEN 'they are of the kernel, which :u leaves out'
            WHEN meaning.amount IS NULL THEN 'the vector length is not known'
        END AS trouble,
        CASE WHEN trouble IS NULL THEN event_value.value * CASE WHEN event_value.unit = 'byte' THEN 1 ELSE meaning.amount END END AS quantity
    FROM event_value(wanted_run) AS event_value
    JOIN event_meaning(wanted_run) AS meaning USING (run_id, source_id, event_key)
    WHERE NOT starts_with(slot_kind, 'interval') OR event_value.interval_index IS NOT NULL
),
-- a summary behind the intervals is their sum
summed AS (
    SELECT * FROM met
    WHERE starts_with(slot_kind, 'interval') OR interval_index IS NULL OR (run_id, source_id, measurement_index, interval_index) NOT IN (SELECT (run_id, source_id, measurement_index, interval_index) FROM cut_interval(wanted_run))
    QUALIFY starts_with(slot_kind, 'interval') OR interval_index IS NULL OR NOT bool_or(interval_index IS NULL) OVER (PARTITION BY run_id, source_id, measurement_index)
),
-- an event that was asked for twice is there twice
single AS (
    SELECT
        *,
        (1 - coalesce(running_ratio, 1)) + coalesce(spread_ratio, 0) AS doubt_ratio,
        TRY_CAST(regexp_extract(pmu_name, '_(\d+)$', 1) AS BIGINT) AS unit_index,
        nullif(regexp_replace(coalesce(modifier_name, ''), '[^ukhGH]', '', 'g'), '') AS mode_name
    FROM summed
    QUALIFY row_number() OVER (
        PARTITION BY run_id, source_id, measurement_index, interval_index, scope_name, cgroup_name, pmu_name, event_name
        ORDER BY quantity IS NULL, modifier_name IS NOT NULL, running_ratio DESC NULLS FIRST, event_id
    ) = 1
),
added AS (
    SELECT
        run_id, source_id, measurement_index, slot_index, slot_name,
        CASE WHEN by_core AND pmu_name IN ('cpu_core', 'cpu_atom', 'cpu_lowpower') THEN pmu_name END AS core_name,
        event_name,
        any_value(quantity_kind) AS quantity_kind,
        any_value(precision_name) AS precision_name,
        any_value(width_name) AS width_name,
        any_value(amount) AS amount,
        sum(quantity) AS quantity,
        sum(quantity * greatest(0, 1 - doubt_ratio)) AS low_quantity,
        sum(quantity * (1 + doubt_ratio)) AS high_quantity,
        coalesce(
            arg_min(concat_ws(': ', pmu_name, trouble), coalesce(event_id, 0)) FILTER (WHERE quantity IS NULL),
            CASE
                WHEN slot_kind <> 'cgroup' AND count(DISTINCT coalesce(cgroup_name, '')) > 1 THEN 'it is of several control groups, and one may hold another: take by=cgroup'
                WHEN NOT by_core AND bool_or(pmu_name = 'cpu_core') AND NOT bool_or(pmu_name = 'cpu_atom') THEN 'cpu_atom: not_collected'
                WHEN NOT by_core AND bool_or(pmu_name = 'cpu_atom') AND NOT bool_or(pmu_name = 'cpu_core') THEN 'cpu_core: not_collected'
                WHEN max(unit_index) + 1 > count(DISTINCT pmu_name) THEN 'a unit is missing: ' || count(DISTINCT pmu_name) || ' of at least ' || max(unit_index) + 1
            END
        ) AS reason,
        count(DISTINCT unit_index) AS unit_count,
        count(*) AS value_count,
        min(running_ratio) AS running_ratio,
        max(spread_ratio) AS spread_ratio,
        arg_max(status_kind, list_position(['ok', 'scaled', 'unreadable', 'not_supported', 'not_counted'], status_kind)) AS status_kind,
        -- of two modes it is not known which it is
        CASE WHEN count(DISTINCT coalesce(mode_name, '')) = 1 THEN any_value(mode_name) ELSE 'mixed' END AS mode_name
    FROM single
    GROUP BY run_id, source_id, measurement_index, slot_index, slot_name, core_name, event_name
)
SELECT
    run_id, source_id, measurement_index, slot_index, slot_name, concat_ws(' ', slot_index, slot_name) AS slot_key,
    core_name, event_name, quantity_kind, precision_name, width_name,
    CASE WHEN reason IS NULL THEN quantity END AS quantity,
    CASE WHEN reason IS NULL THEN low_quantity END AS low_quantity,
    CASE WHEN reason IS NULL THEN high_quantity END AS high_quantity,
    amount, reason, unit_count, value_count, running_ratio, spread_ratio, status_kind, mode_name
FROM added
