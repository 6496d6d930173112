-- purpose = "How much of the kernels' number and time is known to come from a launch, an operator, a module, a phase and a step; and why the rest is not."
-- source = "docs/metrics.md, section Attribution"
-- needs = ["attribution"]
-- depends = ["step_window"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "steps that count: all, stable or N..M (step numbers, both included)", default = "all"}
-- [columns]
-- rank_index = {type = "BIGINT", doc = "rank; NULL where the file does not say"}
-- link_kind = {type = "VARCHAR", doc = "what is known or not: launch, op, module, phase or step"}
-- known_ratio = {type = "DOUBLE", doc = "known_count / kernel_count"}
-- known_time_ratio = {type = "DOUBLE", doc = "known_ns / total_ns"}
-- reason = {type = "VARCHAR", doc = "why it is not known, of the rest: the reason with the most time; NULL where all is known"}
-- reason_ns = {type = "BIGINT", doc = "sum of their durations"}
-- kernel_count = {type = "BIGINT", doc = "all kernels"}
-- known_count = {type = "BIGINT", doc = "kernels of which it is known"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations of all kernels"}
-- known_ns = {type = "BIGINT", doc = "sum of the durations of kernels of which it is known"}
-- reason_count = {type = "BIGINT", doc = "kernels with that reason"}
-- source_id = {type = "VARCHAR", doc = "source (one rank of a job)"}
WITH
work AS MATERIALIZED (SELECT * FROM attribution WHERE run_id = $run_id AND work_kind = 'kernel'),
context AS MATERIALIZED (
    SELECT source_id, context_id, module_path, phase_kind FROM calling_context WHERE run_id = $run_id
),
kernels AS (
    SELECT work.*, context.module_path, context.phase_kind
    FROM work
    JOIN step_window($run_id, $phase) AS chosen
        ON chosen.source_id = work.source_id
        AND (
            chosen.first_step_index IS NULL
            OR work.step_index BETWEEN chosen.first_step_index AND chosen.last_step_index
        )
    LEFT JOIN context ON context.source_id = work.source_id AND context.context_id = work.context_id
),
linked AS (
    SELECT source_id, 1 AS place, 'launch' AS link_kind, dur_ns, launch_event_id IS NOT NULL AS is_known, launch_reason AS reason
    FROM kernels
    UNION ALL
    SELECT source_id, 2, 'op', dur_ns, op_name IS NOT NULL, op_reason
    FROM kernels
    UNION ALL
    SELECT source_id, 3, 'module', dur_ns, module_path IS NOT NULL, module_reason
    FROM kernels
    UNION ALL
    SELECT source_id, 4, 'phase', dur_ns, phase_kind IS NOT NULL, phase_reason
    FROM kernels
    UNION ALL
    SELECT
        source_id, 5, 'step', dur_ns, step_index IS NOT NULL,
        CASE WHEN launch_event_id IS NULL AND op_event_id IS NULL THEN launch_reason ELSE 'in no step' END
    FROM kernels
),
reasons AS (
    SELECT
        source_id, place, reason, count(*) AS reason_count,
        CAST(sum(dur_ns) AS BIGINT) AS reason_ns
    FROM linked
    WHERE NOT is_known
    GROUP BY source_id, place, reason
),
main_reason AS (
    SELECT * FROM reasons
    QUALIFY row_number() OVER (
        PARTITION BY source_id, place ORDER BY reason_ns DESC NULLS LAST, reason_count DESC, reason
    ) = 1
),
counted AS (
    SELECT
        source_id, place, link_kind,
        count(*) FILTER (WHERE is_known) AS known_count,
        count(*) AS kernel_count,
        CAST(coalesce(sum(dur_ns) FILTER (WHERE is_known), 0) AS BIGINT) AS known_ns,
        CAST(sum(dur_ns) AS BIGINT) AS total_ns
    FROM linked
    GROUP BY source_id, place, link_kind
)
SELECT
    source_file.rank_index,
    counted.link_kind,
    ratio(counted.known_count, counted.kernel_count) AS known_ratio,
    ratio(counted.known_ns, counted.total_ns) AS known_time_ratio,
    main_reason.reason,
    main_reason.reason_ns,
    counted.kernel_count,
    counted.known_count,
    counted.total_ns,
    counted.known_ns,
    main_reason.reason_count,
    counted.source_id
FROM counted
LEFT JOIN main_reason
    ON main_reason.source_id = counted.source_id AND main_reason.place = counted.place
LEFT JOIN source_file
    ON source_file.source_id = counted.source_id AND source_file.run_id = $run_id
ORDER BY source_file.rank_index NULLS LAST, counted.source_id, counted.place
