-- purpose = "How long the accelerator waits for input: of each device over all its steps or step by step, and how many steps are host-bound; of a table of results each configuration is a step."
-- source = "Wang Y. E. 2020 (ParaDnn), sect. 4.4: infeed time percentage; docs/metrics.md, section Steps and input"
-- needs = ["step"]
-- depends = ["first_reason"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- by = {type = "VARCHAR", doc = "what a row stands for: device (all its steps) or step", default = "device", choices = ["device", "step"]}
-- host_bound_share = {type = "DOUBLE", doc = "share of waiting from which on a step is host-bound; TensorFlow's profiler calls it input-bound from 0.05 and highly so from 0.2 on", default = 0.2}
-- metric = {type = "VARCHAR", doc = "of a table of results: the metric that is the share of waiting", default = "infeed"}
-- [columns]
-- source_id = {type = "VARCHAR", doc = "source (host)"}
-- device_id = {type = "BIGINT", doc = "device (of a TPU v2 or v3 a core); NULL where the profiler adds devices up"}
-- step_index = {type = "BIGINT", doc = "with by=step: number of the step; of a table of results its row"}
-- infeed_ratio = {type = "DOUBLE", doc = "infeed_ns / step_ns of the steps where both are known; of a table of results with by=step"}
-- infeed_ns = {type = "BIGINT", doc = "time that the device waits for input, copies from the host among it"}
-- step_ns = {type = "BIGINT", doc = "time of the steps"}
-- step_count = {type = "BIGINT", doc = "steps"}
-- known_count = {type = "BIGINT", doc = "steps of which waiting and time are known"}
-- host_bound_count = {type = "BIGINT", doc = "of those the host-bound ones"}
-- min_ratio = {type = "DOUBLE", doc = "least share of a step"}
-- max_ratio = {type = "DOUBLE", doc = "largest share of a step"}
-- basis_kind = {type = "VARCHAR", doc = "parts (as the profiler breaks steps down), timeline (infeed operations in the device's steps) or table (of results)"}
-- reason = {type = "VARCHAR", doc = "why infeed_ratio is NULL, or not of all steps"}
WITH
steps AS (
    SELECT source_id, device_id, step_kind, step_index, start_ns, dur_ns
    FROM step
    WHERE run_id = $run_id
),
part_sums AS (
    SELECT
        source_id, device_id, step_index,
        CAST(sum(dur_ns) FILTER (WHERE part_kind IN ('infeed', 'host_to_device')) AS BIGINT) AS infeed_ns
    FROM step_part
    WHERE run_id = $run_id
    GROUP BY source_id, device_id, step_index
),
broken_down AS (
    SELECT
        part_sums.source_id, part_sums.device_id, part_sums.step_index, 'parts' AS basis_kind, steps.dur_ns AS step_ns,
        part_sums.infeed_ns,
        CASE WHEN infeed_ns IS NULL THEN 'no part of the step is its input' WHEN steps.dur_ns IS NULL THEN 'duration of the step not known' END AS reason
    FROM part_sums
    LEFT JOIN steps
        ON steps.source_id = part_sums.source_id AND steps.step_index = part_sums.step_index
        AND steps.device_id IS NOT DISTINCT FROM part_sums.device_id
    QUALIFY row_number() OVER (
        PARTITION BY part_sums.source_id, part_sums.device_id, part_sums.step_index
        ORDER BY list_position(['reported', 'device', 'host'], steps.step_kind)
    ) = 1
),
device_steps AS (
    SELECT steps.*, row_number() OVER () AS step_number
    FROM steps
    -- a breakdown of the same source says more
    WHERE step_kind = 'device' AND source_id NOT IN (SELECT source_id FROM part_sums)
),
tpus AS (
    SELECT DISTINCT source_id, device_id FROM device WHERE run_id = $run_id AND device_kind = 'tpu'
),
infeeds AS (
    SELECT kernel.source_id, kernel.device_id, kernel.start_ns, kernel.start_ns + kernel.dur_ns AS end_ns
    FROM kernel
    JOIN op_class
        ON op_class.class_name = 'infeed' AND op_class.key_kind = 'opcode'
        AND lower(kernel.name) GLOB op_class.pattern
    WHERE kernel.run_id = $run_id
),
seen AS (
    SELECT DISTINCT source_id, device_id FROM kernel WHERE run_id = $run_id
),
waits AS (
    SELECT
        device_steps.step_number,
        CAST(sum(greatest(least(end_ns, device_steps.start_ns + dur_ns) - greatest(infeeds.start_ns, device_steps.start_ns), 0)) AS BIGINT) AS wait_ns
    FROM device_steps
    JOIN infeeds
        ON infeeds.source_id = device_steps.source_id AND infeeds.device_id IS NOT DISTINCT FROM device_steps.device_id
        AND infeeds.start_ns < device_steps.start_ns + dur_ns AND end_ns > device_steps.start_ns
    GROUP BY device_steps.step_number
),
watched AS (
    SELECT
        device_steps.source_id, device_steps.device_id, device_steps.step_index, 'timeline' AS basis_kind, dur_ns AS step_ns,
        -- a TPU records every infeed, so none is a measured zero; other devices just idle
        CASE WHEN wait_ns IS NOT NULL THEN wait_ns WHEN tpus.source_id IS NOT NULL AND seen.source_id IS NOT NULL AND dur_ns IS NOT NULL AND device_steps.start_ns IS NOT NULL THEN 0 END
            AS infeed_ns,
        CASE
            WHEN dur_ns IS NULL OR device_steps.start_ns IS NULL THEN 'duration of the step not known'
            WHEN infeed_ns IS NULL AND seen.source_id IS NULL THEN 'no operations of the device were recorded'
            WHEN infeed_ns IS NULL THEN 'waiting for input is no operation of this device'
        END AS reason
    FROM device_steps
    LEFT JOIN waits USING (step_number)
    LEFT JOIN tpus ON tpus.source_id = device_steps.source_id AND tpus.device_id IS NOT DISTINCT FROM device_steps.device_id
    LEFT JOIN seen ON seen.source_id = device_steps.source_id AND seen.device_id IS NOT DISTINCT FROM device_steps.device_id
),
given AS (
    SELECT source_id, event_id, value, unit
    FROM configuration_value
    WHERE
        run_id = $run_id AND role_kind = 'metric' AND column_name = $metric
        AND (source_id, event_id) NOT IN (SELECT (source_id, event_id) FROM configuration WHERE run_id = $run_id AND status_kind = 'failed')
),
units AS (
    SELECT source_id, coalesce(any_value(unit), CASE WHEN max(value) > 1 THEN '%' END) AS unit
    FROM given
    GROUP BY source_id
),
shares AS (
    SELECT
        configuration.source_id, configuration.event_id AS step_index, 'table' AS basis_kind, given.value,
        CASE units.unit WHEN '%' THEN ratio(given.value, 100) WHEN 'ratio' THEN given.value END AS share,
        coalesce(status_text, 'not measured') AS status_text
    FROM configuration
    JOIN units ON units.source_id = configuration.source_id
    LEFT JOIN given ON given.source_id = configuration.source_id AND given.event_id = configuration.event_id
    WHERE configuration.run_id = $run_id
),
tabled AS (
    SELECT
        source_id, step_index, basis_kind, CASE WHEN share BETWEEN 0 AND 1 THEN share END AS share,
        CASE
            WHEN value IS NULL THEN status_text
            WHEN share IS NULL THEN 'not told whether a percentage or a share: its unit can be said at ingest (--columns metrics=' || $metric || ':%)'
            WHEN share NOT BETWEEN 0 AND 1 THEN 'no share of a time'
        END AS reason
    FROM shares
),
timed AS (
    SELECT *, ratio(infeed_ns, step_ns) AS share
    FROM (FROM broken_down UNION ALL BY NAME FROM watched)
),
every AS (
    SELECT *, CASE WHEN $by = 'step' THEN step_index END AS place
    FROM (FROM timed UNION ALL BY NAME FROM tabled)
)
SELECT
    source_id, device_id, place AS step_index,
    CASE
        WHEN any_value(basis_kind) <> 'table' THEN ratio(sum(infeed_ns) FILTER (WHERE share IS NOT NULL), sum(step_ns) FILTER (WHERE share IS NOT NULL))
        WHEN $by = 'step' THEN any_value(share)
    END AS infeed_ratio,
    CAST(sum(infeed_ns) AS BIGINT) AS infeed_ns,
    CAST(sum(step_ns) AS BIGINT) AS step_ns,
    count(*) AS step_count,
    count(share) AS known_count,
    count(*) FILTER (WHERE share >= $host_bound_share) AS host_bound_count,
    min(share) AS min_ratio,
    max(share) AS max_ratio,
    any_value(basis_kind) AS basis_kind,
    coalesce(
        first_reason(CASE WHEN share IS NULL THEN coalesce(reason, 'duration of zero') END, CASE WHEN any_value(basis_kind) = 'table' THEN 'configurations' ELSE 'steps' END),
        CASE WHEN any_value(basis_kind) = 'table' AND $by <> 'step' THEN 'configurations have no time in common: see by=step, or the report distribution' END
    ) AS reason
FROM every
GROUP BY source_id, device_id, place
ORDER BY source_id, device_id NULLS FIRST, place
