-- purpose = "Operations by precision and traffic of memory, from the events that give each of them completely: over a measurement, an interval, a scope or a control group."
-- source = "Javed 2019, sect. 3 (eq. 1); docs/metrics.md, section Processor counters"
-- needs = ["measurement"]
-- depends = ["counter_slot", "event_quantity", "figure_set"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- slot_kind = {type = "VARCHAR", doc = "measurement, interval, scope or cgroup: what values are added up over"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- measurement_index = {type = "BIGINT", doc = "measurement"}
-- slot_index = {type = "BIGINT", doc = "interval"}
-- slot_name = {type = "VARCHAR", doc = "scope or control group"}
-- slot_key = {type = "VARCHAR", doc = "one of them as text, never NULL, to join with; blank where there is neither"}
-- dur_ns = {type = "BIGINT", doc = "elapsed time; NULL where the file has none"}
-- end_ns = {type = "BIGINT", doc = "of an interval: its end, after the start of the measurement"}
-- fp64_flop = {type = "DOUBLE", doc = "FP64 operations"}
-- fp64_reason = {type = "VARCHAR", doc = "why they are NULL"}
-- fp32_flop = {type = "DOUBLE", doc = "FP32 operations"}
-- fp32_reason = {type = "VARCHAR", doc = "why they are NULL"}
-- fp16_flop = {type = "DOUBLE", doc = "FP16 operations"}
-- fp16_reason = {type = "VARCHAR", doc = "why they are NULL"}
-- total_flop = {type = "DOUBLE", doc = "operations of all precisions"}
-- total_low_flop = {type = "DOUBLE", doc = "the least they can be"}
-- total_high_flop = {type = "DOUBLE", doc = "the most"}
-- total_reason = {type = "VARCHAR", doc = "why they are NULL"}
-- dram_read_bytes = {type = "DOUBLE", doc = "bytes read from memory"}
-- dram_write_bytes = {type = "DOUBLE", doc = "bytes written to memory"}
-- dram_bytes = {type = "DOUBLE", doc = "both"}
-- dram_low_bytes = {type = "DOUBLE", doc = "the least they can be"}
-- dram_high_bytes = {type = "DOUBLE", doc = "the most"}
-- dram_reason = {type = "VARCHAR", doc = "why they are NULL"}
WITH
slots AS (
    FROM counter_slot(wanted_run, slot_kind)
),
events AS (
    FROM event_quantity(wanted_run, slot_kind, false)
),
sets AS (
    SELECT
        slots.run_id, slots.source_id, slots.measurement_index, slots.slot_key,
        figure_set.figure_name, figure_set.set_name,
        any_value(figure_set.set_rank) AS set_rank,
        any_value(figure_set.is_of_family) AS is_of_family,
        count(events.event_name) AS found_count,
        CASE WHEN count(events.quantity) = count(*) AND min(events.unit_count) = max(events.unit_count) THEN sum(events.quantity) END AS value,
        sum(events.low_quantity) AS low,
        sum(events.high_quantity) AS high,
        max(events.unit_count) AS unit_count,
        CASE
            WHEN min(events.unit_count) < max(events.unit_count) AND count(events.quantity) = count(*)
            THEN 'one event was counted by ' || min(events.unit_count) || ' units, another by ' || max(events.unit_count)
            WHEN count(events.event_name) > 0
            THEN arg_min(
                figure_set.event_name || ': ' || coalesce(events.reason, 'not_collected'),
                CASE WHEN events.reason IS NULL THEN 'b' ELSE 'a' END || figure_set.event_name
            ) FILTER (WHERE events.quantity IS NULL)
        END AS reason
    FROM slots
    JOIN figure_set(wanted_run) AS figure_set USING (run_id, source_id)
    LEFT JOIN events USING (run_id, source_id, measurement_index, slot_key, event_name)
    GROUP BY ALL
),
figures AS (
    SELECT run_id, source_id, measurement_index, slot_key, map_from_entries(list((figure_name, figure))) AS known
    FROM (
        SELECT
            * EXCLUDE (set_name, set_rank),
            {
                'value': value, 'low': low, 'high': high, 'reason': reason, 'found': found_count, 'units': unit_count,
                'is_required': bool_or(is_of_family) OVER (PARTITION BY run_id, source_id, figure_name)
            } AS figure
        FROM sets
        QUALIFY row_number() OVER (
            PARTITION BY run_id, source_id, measurement_index, slot_key, figure_name
            ORDER BY value IS NULL, CASE WHEN value IS NULL THEN -found_count END, set_rank, set_name
        ) = 1
    )
    GROUP BY ALL
),
-- events whose sum is a figure on some processors only
others AS (
    SELECT
        run_id, source_id, measurement_index, slot_key,
        bool_or(quantity_kind = 'flop') AS has_flop, bool_or(starts_with(quantity_kind, 'dram')) AS has_dram
    FROM events
    GROUP BY ALL
),
opened AS (
    SELECT
        slots.*,
        CASE WHEN has_flop THEN 'which events give them goes by the processor: give --device at ingest' ELSE 'no event that counts them was collected' END AS no_flop_reason,
        CASE WHEN has_dram THEN 'which events give them goes by the processor: give --device at ingest' ELSE 'no event that counts them was collected' END AS no_dram_reason,
        known['fp64'] AS fp64, known['fp32'] AS fp32, known['fp16'] AS fp16, known['any'] AS every,
        known['dram'] AS joint, known['dram_read'] AS reads, known['dram_write'] AS writes, known['blind'] AS blind
    FROM slots
    LEFT JOIN figures USING (run_id, source_id, measurement_index, slot_key)
    LEFT JOIN others USING (run_id, source_id, measurement_index, slot_key)
),
explained AS (
    SELECT
        *,
        (every.value IS NOT NULL AND (fp64.value IS NULL OR fp32.value IS NULL)) AS is_together,
        CASE WHEN is_together THEN 'precisions are not told apart' ELSE no_flop_reason END AS else_reason,
        CASE
            WHEN is_together THEN NULL
            WHEN coalesce(every.found, 0) + coalesce(fp64.found, 0) + coalesce(fp32.found, 0) = 0 THEN else_reason
            WHEN every.found > 0 AND coalesce(fp64.found, 0) + coalesce(fp32.found, 0) = 0 THEN every.reason
            WHEN fp64.value IS NULL THEN 'fp64: ' || coalesce(fp64.reason, else_reason)
            WHEN fp32.value IS NULL THEN 'fp32: ' || coalesce(fp32.reason, else_reason)
            WHEN fp16.value IS NULL AND fp16.is_required THEN 'fp16: ' || coalesce(fp16.reason, else_reason)
        END AS unsummed_reason,
        CASE
            WHEN blind.value > 0 THEN 'matrix units worked, whose operations no event counts'
            WHEN blind.value IS NULL AND blind.is_required THEN 'matrix units: ' || coalesce(blind.reason, 'no event that tells whether they worked was collected')
        END AS unseen_reason,
        coalesce(unsummed_reason, unseen_reason) AS total_reason,
        CASE
            WHEN joint.value IS NOT NULL THEN NULL
            WHEN joint.found > 0 AND coalesce(reads.found, 0) = 0 THEN joint.reason
            WHEN reads.value IS NULL THEN coalesce(reads.reason, joint.reason, no_dram_reason)
            WHEN writes.value IS NULL THEN coalesce(writes.reason, no_dram_reason)
            WHEN reads.units <> writes.units THEN 'reads were counted by ' || reads.units || ' units, writes by ' || writes.units
        END AS dram_reason
    FROM opened
)
SELECT
    run_id, source_id, measurement_index, slot_index, slot_name, slot_key,
    dur_ns, end_ns,
    fp64.value AS fp64_flop,
    CASE WHEN fp64.value IS NULL THEN coalesce(CASE WHEN NOT is_together THEN fp64.reason END, else_reason) END AS fp64_reason,
    fp32.value AS fp32_flop,
    CASE WHEN fp32.value IS NULL THEN coalesce(CASE WHEN NOT is_together THEN fp32.reason END, else_reason) END AS fp32_reason,
    fp16.value AS fp16_flop,
    CASE WHEN fp16.value IS NULL THEN coalesce(CASE WHEN NOT is_together THEN fp16.reason END, else_reason) END AS fp16_reason,
    CASE WHEN total_reason IS NULL THEN CASE WHEN is_together THEN every.value ELSE fp64.value + fp32.value + coalesce(fp16.value, 0) END END AS total_flop,
    CASE WHEN total_reason IS NULL THEN CASE WHEN is_together THEN every.low ELSE fp64.low + fp32.low + coalesce(fp16.low, 0) END END AS total_low_flop,
    CASE WHEN total_reason IS NULL THEN CASE WHEN is_together THEN every.high ELSE fp64.high + fp32.high + coalesce(fp16.high, 0) END END AS total_high_flop,
    total_reason,
    reads.value AS dram_read_bytes,
    writes.value AS dram_write_bytes,
    CASE WHEN dram_reason IS NULL THEN coalesce(joint.value, reads.value + writes.value) END AS dram_bytes,
    CASE WHEN dram_reason IS NULL THEN CASE WHEN joint.value IS NULL THEN reads.low + writes.low ELSE joint.low END END AS dram_low_bytes,
    CASE WHEN dram_reason IS NULL THEN CASE WHEN joint.value IS NULL THEN reads.high + writes.high ELSE joint.high END END AS dram_high_bytes,
    dram_reason
FROM explained
