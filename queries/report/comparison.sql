-- purpose = "What got slower between two runs, and what changed: time per step of each kernel, operator or layer in A and B, their difference, and whether it is more than noise."
-- source = "Welch 1947 (difference of two means); docs/metrics.md, section Comparing runs"
-- needs = ["source_file"]
-- depends = ["comparison_series", "noise_of"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run A, the base"}
-- other_run_id = {type = "VARCHAR", doc = "run B"}
-- by = {type = "VARCHAR", doc = "what a row stands for: kernel (and copy), op (framework operator), layer (module), phase (forward, backward …) or category (compute, communication, memcpy, memset; of operators theirs)", default = "kernel", choices = ["kernel", "op", "layer", "phase", "category"]}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M", default = "all"}
-- [columns]
-- change_kind = {type = "VARCHAR", doc = "slower, faster, same (no more than noise), only A or only B; NULL where a time is not known"}
-- name = {type = "VARCHAR", doc = "what it is, in full; in brackets what is no part: (step), (elapsed), (device busy), (device idle), (all), and (not known) for the parts that nothing names"}
-- other_name = {type = "VARCHAR", doc = "its name in B, where that is another"}
-- a_ns = {type = "DOUBLE", doc = "time in A: mean of a step, or of the recording; mean over the sources (ranks)"}
-- b_ns = {type = "DOUBLE", doc = "the same in B"}
-- delta_ns = {type = "DOUBLE", doc = "b_ns - a_ns"}
-- delta_ratio = {type = "DOUBLE", doc = "delta_ns / a_ns"}
-- noise_ns = {type = "DOUBLE", doc = "what the two means can differ by though nothing changed; NULL where a run has fewer than 2 steps"}
-- is_beyond_noise = {type = "BOOLEAN", doc = "delta_ns is more than noise_ns, either way; NULL where that is not known"}
-- a_launch_count = {type = "DOUBLE", doc = "launches (of operators calls) in A, mean of a step as the time"}
-- b_launch_count = {type = "DOUBLE", doc = "the same in B"}
-- a_share_ratio = {type = "DOUBLE", doc = "a_ns / that of (all)"}
-- b_share_ratio = {type = "DOUBLE", doc = "the same of B"}
-- a_stddev_ns = {type = "DOUBLE", doc = "standard deviation over the steps of A; a step without the part counts as 0 ns"}
-- b_stddev_ns = {type = "DOUBLE", doc = "the same of B"}
-- a_step_count = {type = "BIGINT", doc = "steps of A that a_ns is the mean of; NULL: of the recording"}
-- b_step_count = {type = "BIGINT", doc = "the same of B"}
-- match_basis = {type = "VARCHAR", doc = "what says that A and B are the same: name, or owner (of a kernel its operator, of an operator its caller) with module and shapes as far as both runs have them; NULL of only A and only B"}
-- reason = {type = "VARCHAR", doc = "why a figure is NULL"}
-- row_kind = {type = "VARCHAR", doc = "step, elapsed, busy, idle, total (all parts added up) or part"}
WITH
series AS MATERIALIZED (FROM comparison_series($run_id, $other_run_id, $phase, $by)),
-- in one order: the same times give the same figures
summed AS (
    SELECT
        row_kind, side, name, other_name, match_basis,
        any_value(side_step_count) AS side_step_count,
        sum(value_ns ORDER BY step_index, value_ns) AS sum_ns,
        sum(work_count ORDER BY step_index, work_count) AS work_count,
        sum(unknown_count) AS unknown_count,
        count(step_index) AS present_count,
        avg(value_ns ORDER BY step_index, value_ns) AS present_mean_ns,
        var_pop(value_ns ORDER BY step_index, value_ns) AS present_variance
    FROM series
    GROUP BY row_kind, side, name, other_name, match_basis
),
-- a step without the part spent 0 ns on it; of a step whose own time is not known nothing is
counted AS (
    SELECT
        *,
        CASE WHEN present_count > 0 AND row_kind IN ('part', 'total') THEN side_step_count ELSE nullif(present_count, 0) END
            AS step_count
    FROM summed
),
means AS (
    SELECT
        row_kind, side, name, other_name, match_basis, unknown_count, step_count,
        ratio(sum_ns, coalesce(step_count, 1)) AS mean_ns,
        ratio(work_count, coalesce(step_count, 1)) AS launch_count,
        CASE WHEN row_kind = 'part' THEN ratio(mean_ns, max(mean_ns) FILTER (WHERE row_kind = 'total') OVER (PARTITION BY side)) END AS share_ratio,
        ratio(
            present_count * present_variance
            + ratio(present_count * (step_count - present_count), step_count) * present_mean_ns ** 2,
            step_count - 1
        ) AS variance
    FROM counted
),
-- a part that a run lacks took 0 ns of each of its steps
nothing AS (
    SELECT side, any_value(side_step_count) AS step_count FROM series GROUP BY side
),
filled AS (
    SELECT *, true AS is_there FROM means
    UNION ALL
    SELECT
        means.row_kind, nothing.side, means.name, means.other_name, means.match_basis, 0,
        CASE WHEN means.step_count IS NOT NULL THEN nothing.step_count END AS missing_step_count, 0, 0, 0,
        CASE WHEN missing_step_count > 1 THEN 0 END, false
    FROM means JOIN nothing ON nothing.side <> means.side
    WHERE means.row_kind = 'part' AND means.match_basis IS NULL
),
compared AS (
    SELECT
        coalesce(a.row_kind, b.row_kind) AS row_kind,
        coalesce(a.name, b.name) AS name, coalesce(a.other_name, b.other_name) AS other_name,
        coalesce(a.match_basis, b.match_basis) AS match_basis, a.is_there AS is_in_a, b.is_there AS is_in_b,
        a.mean_ns AS a_ns, b.mean_ns AS b_ns, b_ns - a_ns AS delta_ns,
        a.launch_count AS a_launch_count, b.launch_count AS b_launch_count,
        a.share_ratio AS a_share_ratio, b.share_ratio AS b_share_ratio,
        sqrt(a.variance) AS a_stddev_ns, sqrt(b.variance) AS b_stddev_ns,
        a.step_count AS a_step_count, b.step_count AS b_step_count,
        noise_of(a.variance, a.step_count, b.variance, b.step_count) AS noise_ns,
        a.unknown_count + b.unknown_count AS unknown_count
    FROM (FROM filled WHERE side = 'a') AS a
    FULL JOIN (FROM filled WHERE side = 'b') AS b
        ON b.row_kind = a.row_kind AND b.name IS NOT DISTINCT FROM a.name
        AND b.other_name IS NOT DISTINCT FROM a.other_name AND b.match_basis IS NOT DISTINCT FROM a.match_basis
),
judged AS (
    SELECT
        *,
        CASE
            WHEN a_ns IS NULL AND b_ns IS NULL THEN 'time not known in A and B'
            WHEN a_ns IS NULL THEN 'time not known in A'
            WHEN b_ns IS NULL THEN 'time not known in B'
            WHEN row_kind = 'idle' AND least(a_ns, b_ns) < 0 THEN 'device work runs on past the end of its step'
            WHEN unknown_count > 0 THEN 'time of ' || unknown_count || ' launches not known'
            WHEN a_step_count IS NULL THEN 'not by steps: spread not known'
            WHEN noise_ns IS NULL THEN 'fewer than 2 steps: spread not known'
        END AS reason,
        reason IS NULL OR reason LIKE '%spread%' AS is_known,
        CASE WHEN is_known AND delta_ns = 0 THEN false WHEN reason IS NULL THEN abs(delta_ns) > noise_ns END AS is_beyond_noise
    FROM compared
)
SELECT
    CASE
        WHEN NOT is_in_b THEN 'only A'
        WHEN NOT is_in_a THEN 'only B'
        WHEN NOT is_known THEN NULL
        WHEN is_beyond_noise IS NOT DISTINCT FROM false THEN 'same'
        WHEN delta_ns > 0 THEN 'slower'
        ELSE 'faster'
    END AS change_kind,
    CASE row_kind
        WHEN 'part' THEN coalesce(name, '(not known)')
        WHEN 'total' THEN '(all)'
        WHEN 'step' THEN '(step)'
        WHEN 'elapsed' THEN '(elapsed)'
        ELSE '(device ' || row_kind || ')'
    END AS name,
    other_name, a_ns, b_ns, delta_ns, ratio(delta_ns, a_ns) AS delta_ratio, noise_ns, is_beyond_noise,
    a_launch_count, b_launch_count, a_share_ratio, b_share_ratio, a_stddev_ns, b_stddev_ns,
    a_step_count, b_step_count, match_basis, reason, row_kind
FROM judged
ORDER BY
    list_position(['step', 'elapsed', 'busy', 'idle', 'total', 'part'], row_kind),
    abs(delta_ns) DESC NULLS LAST, greatest(a_ns, b_ns) DESC NULLS LAST, name, other_name, match_basis
