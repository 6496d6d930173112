-- purpose = "Which sets of events give which figure of each source of processor counters: those of the processor's family; where nobody says which it is, those that are complete on any; and the user's own."
-- source = "tables event_set, cpu_family and event_rule; docs/metrics.md, section Processor counters"
-- needs = ["measurement"]
-- depends = ["cpu_known"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- set_name = {type = "VARCHAR", doc = "the set; user for the user's own"}
-- figure_name = {type = "VARCHAR", doc = "what the sum of its events is: fp64, fp32, fp16, any, dram_read, dram_write, dram or blind"}
-- set_rank = {type = "BIGINT", doc = "which counts where several are complete: the lowest"}
-- event_name = {type = "VARCHAR", doc = "one of its events"}
-- is_of_family = {type = "BOOLEAN", doc = "the processor is known to have the set"}
WITH
family AS (
    SELECT cpu_known.run_id, cpu_known.source_id, cpu_known.vendor_name, list(cpu_family.set_name) FILTER (WHERE cpu_family.set_name IS NOT NULL) AS sets
    FROM cpu_known LEFT JOIN cpu_family USING (architecture_name)
    WHERE wanted_run IS NULL OR cpu_known.run_id = wanted_run
    GROUP BY cpu_known.run_id, cpu_known.source_id, cpu_known.vendor_name
)
SELECT
    family.run_id, family.source_id, event_set.set_name, event_set.figure_name, event_set.set_rank,
    event_set.event_name, family.sets IS NOT NULL AS is_of_family
FROM family
JOIN event_set
    ON CASE
        WHEN family.sets IS NOT NULL THEN list_contains(family.sets, event_set.set_name)
        ELSE NOT event_set.is_by_family AND coalesce(family.vendor_name = event_set.vendor_name, true)
    END
UNION ALL
SELECT DISTINCT
    run_id, source_id, 'user' AS set_name,
    CASE quantity_kind WHEN 'flop' THEN precision_name ELSE quantity_kind END AS figure_name,
    -1 AS set_rank, event_name, true AS is_of_family
FROM event_rule
WHERE wanted_run IS NULL OR run_id = wanted_run
