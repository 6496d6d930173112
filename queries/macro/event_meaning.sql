-- purpose = "What each event that a source counted stands for: by the user's word, else as tracekit knows it."
-- source = "tables event_rule and event_model, each event with its source"
-- needs = ["measurement"]
-- depends = ["cpu_known", "figure_set"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- event_key = {type = "VARCHAR", doc = "the event as the source spells it"}
-- event_name = {type = "VARCHAR", doc = "the event"}
-- quantity_kind = {type = "VARCHAR", doc = "what it counts: flop, dram_read …"}
-- precision_name = {type = "VARCHAR", doc = "of flop"}
-- width_name = {type = "VARCHAR", doc = "of flop"}
-- amount = {type = "DOUBLE", doc = "operations or bytes for one count; NULL where that goes by a vector length nobody knows"}
WITH
met AS (
    SELECT DISTINCT run_id, source_id, event_key FROM counter WHERE record_kind = 'event' AND (wanted_run IS NULL OR run_id = wanted_run)
),
processor AS (
    SELECT cpu_known.run_id, cpu_known.source_id, any_value(cpu_known.vendor_name) AS vendor_name, any_value(cpu_family.vector_bits) AS vector_bits
    FROM cpu_known LEFT JOIN cpu_family USING (architecture_name)
    WHERE wanted_run IS NULL OR cpu_known.run_id = wanted_run
    GROUP BY cpu_known.run_id, cpu_known.source_id
),
offered AS (
    SELECT met.*, rule.* EXCLUDE (run_id, source_id, event_key), 0 AS rule_rank
    FROM met JOIN (FROM event_rule WHERE wanted_run IS NULL OR run_id = wanted_run) AS rule USING (run_id, source_id, event_key)
    UNION ALL BY NAME
    SELECT met.*, event_model.* EXCLUDE (event_key), 1 AS rule_rank
    FROM met
    JOIN event_model USING (event_key)
    JOIN processor USING (run_id, source_id)
    WHERE
        coalesce(processor.vendor_name = event_model.vendor_name, NOT event_model.is_raw)
        -- a bare code means something else on another family
        AND (
            NOT event_model.is_raw
            OR EXISTS (
                FROM figure_set(wanted_run) AS figure_set
                WHERE figure_set.run_id = met.run_id AND figure_set.source_id = met.source_id
                    AND figure_set.is_of_family AND figure_set.event_name = event_model.event_name
            )
        )
)
SELECT
    offered.run_id, offered.source_id, offered.event_key, offered.event_name, offered.quantity_kind, offered.precision_name, offered.width_name,
    offered.amount * CASE WHEN offered.is_per_128_bits THEN ratio(processor.vector_bits, 128) ELSE 1 END AS amount
FROM offered LEFT JOIN processor USING (run_id, source_id)
QUALIFY row_number() OVER (PARTITION BY offered.run_id, offered.source_id, offered.event_key ORDER BY rule_rank, offered.event_name) = 1
