-- purpose = "Which rank the others wait for: who comes last to collectives, what that costs the others, and what it does more of."
-- source = "docs/metrics.md, section Many ranks: the rank that comes last has the shortest duration"
-- needs = ["source_file"]
-- depends = ["collective_match", "step_window", "is_communication"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- by = {type = "VARCHAR", doc = "what a row stands for: rank, or step (a rank in a step)", default = "rank", choices = ["rank", "step"]}
-- phase = {type = "VARCHAR", doc = "all, stable or N..M (step numbers, both included)", default = "all"}
-- [columns]
-- rank_index = {type = "BIGINT", doc = "rank"}
-- step_index = {type = "BIGINT", doc = "with by=step: step; NULL outside of steps"}
-- verdict = {type = "VARCHAR", doc = "straggler, or none; NULL where no collective tells"}
-- collective_count = {type = "BIGINT", doc = "matched collectives it is in that no rank can leave before all have come"}
-- last_count = {type = "BIGINT", doc = "of these it came to last: the shortest duration"}
-- lost_ns = {type = "BIGINT", doc = "what the others waited for it, added up over them"}
-- lost_ratio = {type = "DOUBLE", doc = "lost_ns / that of all ranks"}
-- waited_ns = {type = "BIGINT", doc = "what it waited itself"}
-- more_work_ns = {type = "BIGINT", doc = "device work but communication, sum of durations, less the median of the ranks"}
-- reason = {type = "VARCHAR", doc = "what the verdict is from, or why there is none"}
-- more_kernel_name = {type = "VARCHAR", doc = "kernel, copy or set that it has most more of than the median of the ranks"}
-- more_kernel_ns = {type = "BIGINT", doc = "how much more"}
-- more_op_name = {type = "VARCHAR", doc = "framework operator that it has most more device work of"}
-- more_op_ns = {type = "BIGINT", doc = "how much more"}
-- more_phase_kind = {type = "VARCHAR", doc = "phase that it has most more device work of: forward, backward, optimizer or data"}
-- more_phase_ns = {type = "BIGINT", doc = "how much more"}
-- confirmed_count = {type = "BIGINT", doc = "of last_count: it also began last, clocks set by the ends"}
-- source_id = {type = "VARCHAR", doc = "source"}
WITH
calls AS MATERIALIZED (
    SELECT *, CASE WHEN $by = 'step' THEN match_step_index END AS step FROM collective_match($run_id, $phase)
),
windows AS MATERIALIZED (FROM step_window($run_id, $phase)),
members AS (
    SELECT
        source_id, rank_index, step,
        count(is_last) AS collective_count,
        count(*) FILTER (WHERE is_last) AS last_count,
        count(*) FILTER (WHERE is_confirmed) AS confirmed_count,
        CAST(coalesce(sum(lost_ns), 0) AS BIGINT) AS lost_ns,
        CAST(sum(wait_ns) FILTER (WHERE is_last IS NOT NULL) AS BIGINT) AS waited_ns,
        coalesce(mode(match_reason), 'ranks can leave the collectives before the last has come') AS unmatched_reason
    FROM calls GROUP BY source_id, rank_index, step
),
shares AS (
    SELECT
        *,
        sum(lost_ns) OVER one AS all_lost_ns,
        count(*) FILTER (WHERE collective_count > 0) OVER one AS rank_count
    FROM members WINDOW one AS (PARTITION BY step)
),
elapsed AS (SELECT sum(end_ns - start_ns) AS elapsed_ns FROM windows),
-- what ranks have more of
work AS (
    SELECT
        attribution.source_id, CASE WHEN $by = 'step' THEN attribution.step_index END AS step,
        attribution.name, attribution.op_name, attribution.context_id, sum(attribution.dur_ns) AS dur_ns
    FROM attribution
    JOIN windows ON windows.source_id = attribution.source_id
    LEFT JOIN (FROM kernel WHERE run_id = $run_id AND (collective_name IS NOT NULL OR category_name IS NOT NULL)) AS said
        ON said.source_id = attribution.source_id AND said.event_id = attribution.event_id
    WHERE
        attribution.run_id = $run_id
        AND NOT is_communication(attribution.name, said.collective_name, said.category_name)
        AND (windows.first_step_index IS NULL OR attribution.step_index BETWEEN windows.first_step_index AND windows.last_step_index)
    GROUP BY ALL
),
computed AS MATERIALIZED (
    SELECT work.*, calling_context.phase_kind
    FROM work
    LEFT JOIN calling_context
        ON calling_context.run_id = $run_id AND calling_context.source_id = work.source_id AND calling_context.context_id = work.context_id
),
parts AS (
    SELECT
        source_id, step,
        CASE WHEN grouping(name) = 0 THEN 'kernel' WHEN grouping(op_name) = 0 THEN 'op' WHEN grouping(phase_kind) = 0 THEN 'phase' ELSE 'all' END AS part_kind,
        coalesce(name, op_name, phase_kind) AS part_name,
        sum(dur_ns) AS dur_ns
    FROM computed
    GROUP BY GROUPING SETS ((source_id, step, name), (source_id, step, op_name), (source_id, step, phase_kind), (source_id, step))
),
usual AS (
    SELECT
        parts.step, parts.part_kind, parts.part_name,
        -- a rank that has none of it has 0
        list_median(list_resize(list(CAST(parts.dur_ns AS DOUBLE)), any_value(sources.source_count), 0)) AS median_ns
    FROM parts JOIN (SELECT step, count(DISTINCT source_id) AS source_count FROM computed GROUP BY step) AS sources
        ON sources.step IS NOT DISTINCT FROM parts.step
    GROUP BY parts.step, parts.part_kind, parts.part_name
),
excess AS (
    SELECT parts.source_id, parts.step, parts.part_kind, parts.part_name, CAST(round(parts.dur_ns - usual.median_ns) AS BIGINT) AS more_ns
    FROM parts JOIN usual
        ON usual.part_kind = parts.part_kind AND usual.step IS NOT DISTINCT FROM parts.step
        AND usual.part_name IS NOT DISTINCT FROM parts.part_name
),
most AS (
    SELECT
        source_id, step,
        max(more_ns) FILTER (WHERE part_kind = 'all') AS more_work_ns,
        arg_max(part_name, more_ns) FILTER (WHERE part_kind = 'kernel' AND more_ns > 0) AS more_kernel_name,
        max(more_ns) FILTER (WHERE part_kind = 'kernel' AND more_ns > 0) AS more_kernel_ns,
        arg_max(part_name, more_ns) FILTER (WHERE part_kind = 'op' AND more_ns > 0 AND part_name IS NOT NULL) AS more_op_name,
        max(more_ns) FILTER (WHERE part_kind = 'op' AND more_ns > 0 AND part_name IS NOT NULL) AS more_op_ns,
        arg_max(part_name, more_ns) FILTER (WHERE part_kind = 'phase' AND more_ns > 0 AND part_name IS NOT NULL) AS more_phase_kind,
        max(more_ns) FILTER (WHERE part_kind = 'phase' AND more_ns > 0 AND part_name IS NOT NULL) AS more_phase_ns
    FROM excess GROUP BY source_id, step
),
judged AS (
    SELECT
        shares.*,
        ratio(lost_ns, all_lost_ns) AS lost_ratio,
        ratio(sum(lost_ns) OVER (), elapsed_ns) AS waiting_ratio
    FROM shares CROSS JOIN elapsed
)
SELECT
    judged.rank_index, judged.step AS step_index,
    CASE
        WHEN judged.collective_count = 0 THEN NULL
        -- one and a half times an even share of waiting that matters
        WHEN judged.lost_ratio >= ratio(1.5, judged.rank_count) AND coalesce(judged.waiting_ratio, 1) >= 0.01 THEN 'straggler'
        ELSE 'none'
    END AS verdict,
    judged.collective_count, judged.last_count,
    CASE WHEN judged.collective_count > 0 THEN judged.lost_ns END AS lost_ns,
    CASE WHEN judged.collective_count > 0 THEN judged.lost_ratio END AS lost_ratio,
    judged.waited_ns, most.more_work_ns,
    CASE
        WHEN judged.collective_count = 0 THEN judged.unmatched_reason
        WHEN judged.waiting_ratio < 0.01 THEN 'waiting is less than 1 % of the time'
        ELSE 'last in ' || judged.last_count || ' of ' || judged.collective_count
    END AS reason,
    most.more_kernel_name, most.more_kernel_ns, most.more_op_name, most.more_op_ns, most.more_phase_kind, most.more_phase_ns,
    judged.confirmed_count, judged.source_id
FROM judged
LEFT JOIN most ON most.source_id = judged.source_id AND most.step IS NOT DISTINCT FROM judged.step
ORDER BY judged.step NULLS LAST, judged.lost_ns DESC, judged.rank_index, judged.source_id
