-- purpose = "Which metrics of each table of results a roofline is drawn of: the rate of operations, the intensity or the traffic, and the time."
-- source = "docs/metrics.md, section Sweeps: rooflines of configurations"
-- needs = ["configuration"]
-- depends = ["byte_rate_scale", "flop_rate_scale", "sweep_table", "sweep_unknown"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- wanted_rate = {type = "VARCHAR", doc = "metric with the rate; NULL: that in FLOP/s, else that in % with flop in its name"}
-- wanted_intensity = {type = "VARCHAR", doc = "metric with the intensity or the traffic; NULL: that in FLOP/byte, else called intensity, else in bytes/s, else in % with bandwidth in its name"}
-- wanted_weight = {type = "VARCHAR", doc = "metric with the time; NULL: none"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source of the table"}
-- base_id = {type = "BIGINT", doc = "configuration_id of its row 0, as in sweep_table"}
-- rate_name = {type = "VARCHAR", doc = "metric with the rate"}
-- rate_scale = {type = "DOUBLE", doc = "FLOP/s in its unit; NULL: it is a percentage of the peak"}
-- moved_name = {type = "VARCHAR", doc = "metric with the intensity or the traffic"}
-- moved_kind = {type = "VARCHAR", doc = "flop/byte, bytes/s or %, of the bandwidth"}
-- moved_scale = {type = "DOUBLE", doc = "bytes/s in its unit, if it is traffic"}
-- weight_name = {type = "VARCHAR", doc = "metric with the time; NULL if none is asked for"}
-- weight_scale = {type = "DOUBLE", doc = "ns in its unit; a percentage is one of a second"}
-- reason = {type = "VARCHAR", doc = "why no roofline can be drawn of the table"}
WITH
known AS (
    FROM sweep_unknown('metric', wanted_rate)
    UNION ALL FROM sweep_unknown('metric', wanted_intensity)
    UNION ALL FROM sweep_unknown('metric', wanted_weight)
),
metrics AS (
    SELECT run_id, source_id, column_name, any_value(unit) AS unit
    FROM configuration_value
    WHERE role_kind = 'metric' AND (wanted_run IS NULL OR run_id = wanted_run)
    GROUP BY run_id, source_id, column_name
),
offered AS (
    SELECT
        *, 'rate' AS part, wanted_rate AS wanted, flop_rate_scale(unit) AS scale,
        CASE WHEN scale IS NOT NULL THEN 'flop/s' WHEN unit = '%' THEN '%' END AS kind,
        contains(lower(column_name), 'flop') AS is_alike,
        CASE WHEN kind = 'flop/s' THEN 1 WHEN kind = '%' AND is_alike THEN 2 END AS own_rank
    FROM metrics
    UNION ALL
    SELECT
        *, 'intensity', wanted_intensity, byte_rate_scale(unit) AS scale,
        CASE
            WHEN regexp_full_match(unit, '(FLOPS|FLOPs?|flops?)/(B|[bB]ytes?)') THEN 'flop/byte'
            WHEN unit IS NULL AND lower(column_name) IN ('intensity', 'operational_intensity', 'arithmetic_intensity') THEN 'flop/byte'
            WHEN scale IS NOT NULL THEN 'bytes/s'
            WHEN unit = '%' THEN '%'
        END AS kind,
        regexp_matches(lower(column_name), 'intensity|bandwidth') AS is_alike,
        CASE
            WHEN kind = 'flop/byte' AND unit IS NOT NULL THEN 1
            WHEN kind = 'flop/byte' THEN 2
            WHEN kind = 'bytes/s' THEN 3
            WHEN kind = '%' AND is_alike THEN 4
        END
    FROM metrics
    UNION ALL
    SELECT
        *, 'weight', wanted_weight,
        map {'ns': 1.0, 'us': 1e3, 'µs': 1e3, 'ms': 1e6, 's': 1e9, 'ratio': 1e9, '%': 1e7}[unit] AS scale,
        CASE WHEN scale IS NOT NULL THEN 'ns' END, false, NULL
    FROM metrics
    WHERE wanted_weight IS NOT NULL
),
ranked AS (
    SELECT
        *,
        CASE WHEN wanted IS NULL THEN own_rank WHEN column_name = wanted AND kind IS NOT NULL THEN 1 END AS rank,
        rank = min(rank) OVER (PARTITION BY run_id, source_id, part) AS is_best
    FROM offered
),
chosen AS (
    SELECT
        run_id, source_id, part,
        any_value(column_name) FILTER (WHERE is_best) AS name,
        any_value(kind) FILTER (WHERE is_best) AS kind,
        any_value(scale) FILTER (WHERE is_best) AS scale,
        count(*) FILTER (WHERE is_best) AS best_count,
        string_agg(column_name, ', ' ORDER BY column_name) FILTER (WHERE is_best) AS best_names,
        string_agg(column_name, ', ' ORDER BY column_name) FILTER (WHERE kind IS NULL AND CASE WHEN wanted IS NULL THEN is_alike AND unit IS NULL ELSE column_name = wanted END) AS unclear_names,
        CASE
            WHEN best_count > 1 THEN 'several metrics could be the ' || part || ': ' || best_names
            WHEN best_count = 1 THEN NULL
            WHEN unclear_names IS NOT NULL THEN 'the ' || part || ' needs a unit such as ' || CASE part WHEN 'rate' THEN 'GFLOP/s' WHEN 'intensity' THEN 'FLOP/byte' ELSE 'ms' END || ', which ' || unclear_names || ' does not have'
            ELSE 'no metric is the ' || part
        END AS reason
    FROM ranked
    GROUP BY run_id, source_id, part
)
SELECT
    here.run_id, here.source_id, here.base_id,
    any_value(chosen.name) FILTER (WHERE part = 'rate') AS rate_name,
    any_value(chosen.scale) FILTER (WHERE part = 'rate') AS rate_scale,
    any_value(chosen.name) FILTER (WHERE part = 'intensity') AS moved_name,
    any_value(chosen.kind) FILTER (WHERE part = 'intensity') AS moved_kind,
    any_value(chosen.scale) FILTER (WHERE part = 'intensity') AS moved_scale,
    any_value(chosen.name) FILTER (WHERE part = 'weight') AS weight_name,
    any_value(chosen.scale) FILTER (WHERE part = 'weight') AS weight_scale,
    CASE
        WHEN count(chosen.part) = 0 THEN 'the table has no metric'
        ELSE arg_min(chosen.reason, list_position(['rate', 'intensity', 'weight'], part)) FILTER (WHERE chosen.reason IS NOT NULL)
    END AS reason
FROM sweep_table AS here
LEFT JOIN chosen USING (run_id, source_id)
WHERE here.source_id <> 'run' AND (wanted_run IS NULL OR here.run_id = wanted_run) AND NOT EXISTS (FROM known)
GROUP BY here.run_id, here.source_id, here.base_id
