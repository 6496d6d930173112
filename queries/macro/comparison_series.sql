-- purpose = "Two runs step by step, by what is the same in both: of one name, else of the same operator; what only one has; and the steps as a whole, busy and idle."
-- source = "Zhu 2018 (TBD), eq. 1: active time is the union over all streams; docs/metrics.md, section Comparing runs"
-- needs = ["source_file"]
-- depends = ["compared_work", "compared_step"]
-- [parameters]
-- a_run = {type = "VARCHAR", doc = "run A"}
-- b_run = {type = "VARCHAR", doc = "run B"}
-- wanted_phase = {type = "VARCHAR", doc = "all, stable or N..M (step numbers, both included)"}
-- grouping_kind = {type = "VARCHAR", doc = "kernel, op, layer, phase or category"}
-- [columns]
-- side = {type = "VARCHAR", doc = "a or b"}
-- row_kind = {type = "VARCHAR", doc = "part, total, busy, idle, and step, or without steps elapsed (first start to last end of device work)"}
-- step_index = {type = "BIGINT", doc = "step; NULL where the time is not of one"}
-- side_step_count = {type = "BIGINT", doc = "steps that the run is compared by; NULL without"}
-- name = {type = "VARCHAR", doc = "of a part its name, in A if it has another in B; NULL where nothing says"}
-- other_name = {type = "VARCHAR", doc = "its name in B where that is another"}
-- match_basis = {type = "VARCHAR", doc = "name; or owner, with module and shapes as far as both runs have them; NULL of what only one has"}
-- value_ns = {type = "DOUBLE", doc = "time, mean over the sources"}
-- work_count = {type = "DOUBLE", doc = "launches, calls or occurrences, likewise"}
-- unknown_count = {type = "BIGINT", doc = "those of them whose time is not known"}
WITH
all_steps AS MATERIALIZED (FROM compared_step(a_run, b_run, wanted_phase, grouping_kind)),
steps AS MATERIALIZED (
    SELECT
        *,
        count(*) OVER (PARTITION BY side, step_index) AS source_count,
        count(*) OVER (PARTITION BY side, source_id) AS source_step_count
    FROM all_steps
    WHERE is_shared
),
step_counts AS (
    SELECT side, count(DISTINCT step_index) AS side_step_count FROM steps GROUP BY side
),
works AS (FROM compared_work(a_run, b_run, grouping_kind)),
-- times of different kinds are not compared
alike AS MATERIALIZED (
    FROM works
    QUALIFY min(side) OVER () <> max(side) OVER () AND min(basis_kind) OVER () = max(basis_kind) OVER ()
),
source_counts AS (
    SELECT side, greatest(count(DISTINCT source_id), 1) AS source_count FROM alike GROUP BY side
),
source_steps AS (SELECT DISTINCT side, source_id, source_step_count FROM steps),
observed AS MATERIALIZED (
    SELECT alike.*, steps.source_count AS divisor
    FROM alike
    JOIN steps ON steps.side = alike.side AND steps.source_id = alike.source_id AND steps.step_index = alike.step_index
    WHERE alike.amount_kind = 'step'
    UNION ALL
    SELECT
        alike.* REPLACE (NULL AS step_index),
        source_counts.source_count * CASE alike.amount_kind WHEN 'recording' THEN coalesce(source_steps.source_step_count, 1) ELSE 1 END
    FROM alike
    JOIN source_counts ON source_counts.side = alike.side
    LEFT JOIN source_steps ON source_steps.side = alike.side AND source_steps.source_id = alike.source_id
    WHERE wanted_phase = 'all' AND (alike.amount_kind <> 'step' OR NOT EXISTS (FROM steps))
),
-- what has one name in both is the same; of the rest what has one owner
named AS (
    SELECT name, count(DISTINCT side) = 2 AS is_in_both FROM observed GROUP BY name
),
recorded AS (
    SELECT
        bool_and(has_module) AS has_module, bool_and(has_dims) AS has_dims,
        'owner' || CASE WHEN bool_and(has_module) THEN ', module' ELSE '' END
            || CASE WHEN bool_and(has_dims) THEN ', shapes' ELSE '' END AS basis
    FROM (
        SELECT bool_or(module_path IS NOT NULL) AS has_module, bool_or(owner_dims IS NOT NULL) AS has_dims
        FROM observed
        GROUP BY side
    )
),
placed AS (
    SELECT
        observed.*, named.is_in_both,
        CASE
            WHEN NOT named.is_in_both AND observed.name IS NOT NULL AND observed.owner_name IS NOT NULL
            THEN [
                observed.owner_name, CASE WHEN recorded.has_module THEN observed.module_path END,
                CASE WHEN recorded.has_dims THEN observed.owner_dims END
            ]
        END AS place
    FROM observed
    JOIN named ON named.name IS NOT DISTINCT FROM observed.name
    CROSS JOIN recorded
),
at_places AS (
    SELECT side, place, string_agg(DISTINCT name, ' + ' ORDER BY name) AS names
    FROM placed
    WHERE place IS NOT NULL
    GROUP BY side, place
    -- more than three are no renaming
    HAVING count(DISTINCT name) <= 3
),
pairs AS (
    SELECT a.place, a.names AS name, b.names AS other_name
    FROM at_places AS a JOIN at_places AS b ON b.place = a.place
    WHERE a.side = 'a' AND b.side = 'b'
),
-- times are added up before they are divided: the same times give the same figures
parts AS MATERIALIZED (
    SELECT
        placed.side, placed.step_index, placed.divisor,
        coalesce(pairs.name, placed.name) AS name, pairs.other_name,
        CASE WHEN pairs.name IS NOT NULL THEN recorded.basis WHEN placed.is_in_both THEN 'name' END AS match_basis,
        sum(placed.dur_ns) AS dur_ns, sum(placed.work_count) AS work_count, sum(placed.unknown_count) AS unknown_count
    FROM placed
    LEFT JOIN pairs ON pairs.place = placed.place
    CROSS JOIN recorded
    GROUP BY ALL
),
-- what each piece of work adds to the time that its device is busy
pieces AS (
    SELECT
        source_id, device_id, step_index, start_ns, start_ns + dur_ns AS end_ns,
        greatest(start_ns, max(start_ns + dur_ns) OVER (
            PARTITION BY source_id, device_id
            ORDER BY start_ns, dur_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )) AS begin_ns
    FROM attribution
    WHERE run_id IN (a_run, b_run) AND start_ns IS NOT NULL AND dur_ns IS NOT NULL
),
busy AS MATERIALIZED (
    SELECT
        source_id, step_index, sum(greatest(end_ns - begin_ns, 0)) AS busy_ns,
        min(start_ns) AS start_ns, max(end_ns) AS end_ns, list(DISTINCT device_id) AS devices
    FROM pieces
    GROUP BY source_id, step_index
),
active AS (
    SELECT
        source_id, greatest(len(list_distinct(flatten(list(devices)))), 1) AS device_count,
        sum(busy_ns) AS busy_ns, max(end_ns) - min(start_ns) AS elapsed_ns
    FROM busy
    GROUP BY source_id
),
wholes AS (
    -- a step without device work was busy for 0 ns
    SELECT
        steps.side, steps.source_id, 'step' AS whole_kind, steps.step_index, steps.elapsed_ns,
        ratio(coalesce(busy.busy_ns, 0), active.device_count) AS busy_ns
    FROM steps
    LEFT JOIN active ON active.source_id = steps.source_id
    LEFT JOIN busy ON busy.source_id = steps.source_id AND busy.step_index = steps.step_index
    UNION ALL
    SELECT alike.side, alike.source_id, 'elapsed', NULL, active.elapsed_ns, ratio(active.busy_ns, active.device_count)
    FROM (SELECT DISTINCT side, source_id FROM alike WHERE basis_kind = 'timeline') AS alike
    JOIN active ON active.source_id = alike.source_id
    WHERE wanted_phase = 'all' AND NOT EXISTS (FROM steps)
),
means AS (
    SELECT
        side, step_index,
        unnest([whole_kind, 'busy', 'idle']) AS row_kind,
        unnest([avg(elapsed_ns), avg(busy_ns ORDER BY source_id), avg(elapsed_ns - busy_ns ORDER BY source_id)]) AS value_ns
    FROM wholes
    GROUP BY side, step_index, whole_kind
),
series AS (
    SELECT
        'part' AS row_kind, side, step_index, name, other_name, match_basis,
        sum(ratio(dur_ns, divisor) ORDER BY divisor) AS value_ns, sum(ratio(work_count, divisor) ORDER BY divisor) AS work_count,
        sum(unknown_count) AS unknown_count
    FROM parts
    GROUP BY side, step_index, name, other_name, match_basis
    UNION ALL
    SELECT
        'total', side, step_index, NULL, NULL, 'name',
        sum(ratio(dur_ns, divisor) ORDER BY divisor), sum(ratio(work_count, divisor) ORDER BY divisor), sum(unknown_count)
    FROM (
        SELECT side, step_index, divisor, sum(dur_ns) AS dur_ns, sum(work_count) AS work_count, sum(unknown_count) AS unknown_count
        FROM parts
        GROUP BY side, step_index, divisor
    )
    GROUP BY side, step_index
    UNION ALL
    SELECT row_kind, side, step_index, NULL, NULL, 'name', value_ns, NULL, 0
    FROM means
    WHERE value_ns IS NOT NULL
)
SELECT
    series.side, series.row_kind, series.step_index, step_counts.side_step_count, series.name, series.other_name, series.match_basis,
    series.value_ns, series.work_count, CAST(series.unknown_count AS BIGINT) AS unknown_count
FROM series LEFT JOIN step_counts ON step_counts.side = series.side
