-- purpose = "How far each processor counter can be trusted: what was multiplexed, not counted or not supported, and how much that can move the figure it is a part of."
-- source = "docs/metrics.md, section Processor counters: a count that ran for a part of the time can be off by what it did not see"
-- needs = ["measurement"]
-- depends = ["event_quantity", "event_value", "event_meaning", "run_title"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- [columns]
-- event_name = {type = "VARCHAR", doc = "event, as the file has it"}
-- status_kind = {type = "VARCHAR", doc = "the worst of its values: ok, scaled, unreadable, not_supported or not_counted"}
-- running_ratio = {type = "DOUBLE", doc = "least share of the time that it was counted"}
-- doubt_ratio = {type = "DOUBLE", doc = "how far off its sum can be: what was not seen, and the spread"}
-- figure_name = {type = "VARCHAR", doc = "the figure it is a part of: fp32, dram_read …; NULL if of none that is known"}
-- figure_share_ratio = {type = "DOUBLE", doc = "its share of what was counted of that figure"}
-- figure_doubt_ratio = {type = "DOUBLE", doc = "how far off the figure can be for this event alone; NULL where it is lost altogether"}
-- spread_ratio = {type = "DOUBLE", doc = "largest standard error over repeats / value"}
-- value_count = {type = "BIGINT", doc = "values: of files, measurements, scopes and intervals"}
-- uncounted_count = {type = "BIGINT", doc = "of these without a value"}
-- name = {type = "VARCHAR", doc = "run"}
WITH
counts AS (
    SELECT
        run_id, event_key,
        any_value(event_name) AS spelled_name,
        arg_max(status_kind, list_position(['ok', 'scaled', 'unreadable', 'not_supported', 'not_counted'], status_kind)) AS status_kind,
        count(*) AS value_count,
        count(*) - count(value) AS uncounted_count,
        min(running_ratio) AS running_ratio,
        max(ratio(stddev, abs(value))) AS spread_ratio,
        ratio(
            sum(abs(value) * ((1 - coalesce(running_ratio, 1)) + coalesce(ratio(stddev, abs(value)), 0))), sum(abs(value))
        ) AS value_doubt_ratio
    FROM event_value($run_id)
    GROUP BY run_id, event_key
),
meant AS (
    SELECT DISTINCT run_id, event_key, event_name, CASE quantity_kind WHEN 'flop' THEN precision_name ELSE quantity_kind END AS figure_name
    FROM event_meaning($run_id)
    WHERE quantity_kind IN ('flop', 'dram', 'dram_read', 'dram_write')
),
quantities AS (
    SELECT run_id, event_name, sum(quantity) AS quantity
    FROM event_quantity($run_id, 'measurement', false)
    GROUP BY run_id, event_name
)
SELECT
    counts.spelled_name AS event_name,
    counts.status_kind,
    counts.running_ratio,
    CASE WHEN counts.uncounted_count < counts.value_count THEN counts.value_doubt_ratio END AS doubt_ratio,
    meant.figure_name,
    ratio(quantities.quantity, sum(quantities.quantity) OVER (PARTITION BY counts.run_id, meant.figure_name)) AS figure_share_ratio,
    CASE WHEN counts.uncounted_count = 0 THEN figure_share_ratio * counts.value_doubt_ratio END AS figure_doubt_ratio,
    counts.spread_ratio,
    counts.value_count,
    counts.uncounted_count,
    run_title.title AS name
FROM counts
JOIN (FROM run_title WHERE $run_id IS NULL OR run_id = $run_id) AS run_title USING (run_id)
LEFT JOIN meant USING (run_id, event_key)
LEFT JOIN quantities ON quantities.run_id = meant.run_id AND quantities.event_name = meant.event_name
ORDER BY
    run_title.title, counts.run_id,
    list_position(['ok', 'scaled', 'unreadable', 'not_supported', 'not_counted'], counts.status_kind) DESC,
    figure_doubt_ratio DESC NULLS LAST, doubt_ratio DESC NULLS LAST, counts.spelled_name
