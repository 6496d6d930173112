-- purpose = "What processors did in each group of measurements: the figures, the time they would take at peak, and on how many nodes."
-- source = "Javed 2019, sect. 3 (eq. 1) and 4; docs/metrics.md, section Processor counters"
-- needs = ["measurement"]
-- depends = ["counter_figures", "event_quantity", "device_ceiling", "cpu_known", "run_title", "label_value", "whole_sum", "first_reason", "width_ceiling"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- grouping_kind = {type = "VARCHAR", doc = "run, source, measurement, interval, scope or cgroup"}
-- wanted_ceiling = {type = "VARCHAR", doc = "compute peak of the utilization: fp32, fp64, or of a width (fp32_avx2 …)"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- owner_id = {type = "VARCHAR", doc = "source; NULL for a run"}
-- part_index = {type = "BIGINT", doc = "measurement; NULL for a run or source"}
-- slot_index = {type = "BIGINT", doc = "interval"}
-- slot_name = {type = "VARCHAR", doc = "scope or control group"}
-- title = {type = "VARCHAR", doc = "name of the run"}
-- file_name = {type = "VARCHAR", doc = "name of the file; NULL for a run"}
-- target_name = {type = "VARCHAR", doc = "what was measured, where a row is of one measurement"}
-- device_name = {type = "VARCHAR", doc = "processor; NULL if unknown, or files have different ones"}
-- source_count = {type = "BIGINT", doc = "files"}
-- node_count = {type = "DOUBLE", doc = "files / the run's label ranks_per_node"}
-- end_ns = {type = "BIGINT", doc = "of an interval: its end, after the start of the measurement"}
-- dur_ns = {type = "BIGINT", doc = "elapsed time: of files the longest, of measurements of a file the sum"}
-- node_ns = {type = "DOUBLE", doc = "elapsed time of all nodes: dur_ns x node_count"}
-- total_flop = {type = "DOUBLE", doc = "operations of all precisions"}
-- total_low_flop = {type = "DOUBLE", doc = "the least they can be"}
-- total_high_flop = {type = "DOUBLE", doc = "the most"}
-- fp64_flop = {type = "DOUBLE", doc = "FP64 operations"}
-- fp32_flop = {type = "DOUBLE", doc = "FP32 operations"}
-- fp16_flop = {type = "DOUBLE", doc = "FP16 operations"}
-- fp64_scalar_flop = {type = "DOUBLE", doc = "FP64 operations of scalar instructions"}
-- fp64_128_flop = {type = "DOUBLE", doc = "FP64 operations of instructions of 128 bits"}
-- fp64_256_flop = {type = "DOUBLE", doc = "FP64 operations of instructions of 256 bits"}
-- fp64_512_flop = {type = "DOUBLE", doc = "FP64 operations of instructions of 512 bits"}
-- fp32_scalar_flop = {type = "DOUBLE", doc = "FP32 operations of scalar instructions"}
-- fp32_128_flop = {type = "DOUBLE", doc = "FP32 operations of instructions of 128 bits"}
-- fp32_256_flop = {type = "DOUBLE", doc = "FP32 operations of instructions of 256 bits"}
-- fp32_512_flop = {type = "DOUBLE", doc = "FP32 operations of instructions of 512 bits"}
-- ceiling_flop = {type = "DOUBLE", doc = "operations of the ceiling's precision"}
-- dram_bytes = {type = "DOUBLE", doc = "bytes read from and written to memory"}
-- dram_low_bytes = {type = "DOUBLE", doc = "the least they can be"}
-- dram_high_bytes = {type = "DOUBLE", doc = "the most"}
-- dram_read_bytes = {type = "DOUBLE", doc = "bytes read from memory"}
-- dram_write_bytes = {type = "DOUBLE", doc = "bytes written to memory"}
-- ceiling_name = {type = "VARCHAR", doc = "the compute peak; NULL where files have different ones"}
-- ceiling_ns = {type = "DOUBLE", doc = "operations of its precision at that peak, on one node after another"}
-- compute_ns = {type = "DOUBLE", doc = "all operations at the peak of their precision and width; NULL where one is not known"}
-- bandwidth_ns = {type = "DOUBLE", doc = "all bytes at the peak of memory"}
-- flop_reason = {type = "VARCHAR", doc = "why operations are NULL"}
-- bytes_reason = {type = "VARCHAR", doc = "why bytes are NULL"}
-- time_reason = {type = "VARCHAR", doc = "why the time is NULL"}
-- ceiling_reason = {type = "VARCHAR", doc = "why the operations of the ceiling's precision, or the ceiling, are NULL"}
WITH
peaks AS (
    SELECT run_id, source_id, map_from_entries(list((ceiling_name, value))) AS peak_of
    FROM device_ceiling
    WHERE device_id IS NULL AND ceiling_kind IN ('compute', 'bandwidth') AND (wanted_run IS NULL OR run_id = wanted_run)
    GROUP BY run_id, source_id
),
wanted AS (
    SELECT run_id, source_id, ceiling_name, value
    FROM device_ceiling
    WHERE device_id IS NULL AND ceiling_kind = 'compute' AND (wanted_run IS NULL OR run_id = wanted_run) AND (ceiling_name = wanted_ceiling OR starts_with(ceiling_name, wanted_ceiling || '_'))
    QUALIFY row_number() OVER (PARTITION BY run_id, source_id ORDER BY ceiling_name <> wanted_ceiling, value DESC) = 1
),
by_width AS (
    SELECT
        events.run_id, events.source_id, events.measurement_index, events.slot_key,
        events.precision_name || '_' || events.width_name AS kind,
        events.quantity,
        CASE
            WHEN events.quantity = 0 THEN 0
            ELSE ratio(events.quantity * 1e9, peak_of[width_ceiling(events.precision_name, events.width_name, map_keys(peak_of))])
        END AS peak_ns
    FROM event_quantity(wanted_run, CASE WHEN grouping_kind IN ('interval', 'scope', 'cgroup') THEN grouping_kind ELSE 'measurement' END, false) AS events
    LEFT JOIN peaks USING (run_id, source_id)
    WHERE events.quantity_kind = 'flop' AND events.precision_name IN ('fp64', 'fp32', 'fp16')
),
widths AS (
    SELECT run_id, source_id, measurement_index, slot_key, map_from_entries(list((kind, quantity))) AS flop_of, whole_sum(peak_ns) AS peak_ns
    FROM (SELECT * EXCLUDE (quantity, peak_ns), whole_sum(COLUMNS('^(quantity|peak_ns)$')) AS "\0" FROM by_width GROUP BY ALL)
    GROUP BY ALL
),
parts AS (
    SELECT
        figures.*,
        CASE split_part(wanted_ceiling, '_', 1) WHEN 'fp64' THEN fp64_flop WHEN 'fp32' THEN fp32_flop WHEN 'fp16' THEN fp16_flop END AS ceiling_flop,
        CASE split_part(wanted_ceiling, '_', 1) WHEN 'fp64' THEN fp64_reason WHEN 'fp32' THEN fp32_reason WHEN 'fp16' THEN fp16_reason END AS ceiling_reason,
        flop_of['fp64_scalar'] AS fp64_scalar_flop,
        flop_of['fp64_128'] AS fp64_128_flop,
        flop_of['fp64_256'] AS fp64_256_flop,
        flop_of['fp64_512'] AS fp64_512_flop,
        flop_of['fp32_scalar'] AS fp32_scalar_flop,
        flop_of['fp32_128'] AS fp32_128_flop,
        flop_of['fp32_256'] AS fp32_256_flop,
        flop_of['fp32_512'] AS fp32_512_flop,
        CASE WHEN fp64_flop + fp32_flop IS NOT NULL THEN widths.peak_ns END AS peak_ns
    FROM counter_figures(wanted_run, CASE WHEN grouping_kind IN ('interval', 'scope', 'cgroup') THEN grouping_kind ELSE 'measurement' END) AS figures
    LEFT JOIN widths USING (run_id, source_id, measurement_index, slot_key)
),
of_source AS (
    SELECT
        run_id, source_id, CASE WHEN grouping_kind NOT IN ('run', 'source') THEN measurement_index END AS part_index, slot_index, slot_name,
        max(end_ns) AS end_ns,
        whole_sum(COLUMNS('^dur_ns$|^peak_ns$|_flop$|_bytes$')) AS "\0",
        first_reason(total_reason, 'measurements') AS flop_reason,
        first_reason(dram_reason, 'measurements') AS bytes_reason,
        first_reason(CASE WHEN dur_ns IS NULL THEN 'the file has no elapsed time' END, 'measurements') AS time_reason,
        first_reason(ceiling_reason, 'measurements') AS ceiling_reason
    FROM parts
    GROUP BY ALL
),
placed AS (
    SELECT
        of_source.* EXCLUDE (ceiling_reason),
        coalesce(ceiling_reason, CASE WHEN wanted.value IS NULL THEN 'no peak ' || wanted_ceiling || ' is known of the processor' END) AS ceiling_reason,
        cpu_known.device_name, wanted.ceiling_name,
        ratio(ceiling_flop * 1e9, wanted.value) AS ceiling_ns,
        peak_ns AS compute_ns,
        ratio(dram_bytes * 1e9, peak_of['dram']) AS bandwidth_ns
    FROM of_source
    LEFT JOIN (FROM cpu_known WHERE wanted_run IS NULL OR run_id = wanted_run) AS cpu_known USING (run_id, source_id)
    LEFT JOIN wanted USING (run_id, source_id)
    LEFT JOIN peaks USING (run_id, source_id)
),
grouped AS (
    SELECT
        run_id, CASE WHEN grouping_kind <> 'run' THEN source_id END AS owner_id, part_index, slot_index, slot_name,
        CASE WHEN min(device_name) = max(device_name) AND count(device_name) = count(*) THEN min(device_name) END AS device_name,
        CASE WHEN min(ceiling_name) = max(ceiling_name) THEN min(ceiling_name) END AS ceiling_name,
        count(*) AS source_count,
        CAST(max(end_ns) AS BIGINT) AS end_ns,
        CAST(CASE WHEN count(dur_ns) = count(*) THEN max(dur_ns) END AS BIGINT) AS dur_ns,
        whole_sum(COLUMNS('^(ceiling|compute|bandwidth)_ns$|_flop$|_bytes$')) AS "\0",
        first_reason(COLUMNS('_reason$'), 'files') AS "\0"
    FROM placed
    GROUP BY ALL
),
file AS (
    SELECT run_id, source_id, any_value(file_name) AS file_name FROM source_file WHERE wanted_run IS NULL OR run_id = wanted_run GROUP BY run_id, source_id
)
SELECT
    grouped.run_id, owner_id, part_index, slot_index, slot_name, run_title.title, file.file_name, measurement.target_name,
    grouped.device_name, source_count,
    ratio(source_count, CASE WHEN label_value.label_number > 0 THEN label_value.label_number ELSE 1 END) AS node_count,
    end_ns, grouped.dur_ns, grouped.dur_ns * node_count AS node_ns,
    total_flop, total_low_flop, total_high_flop, fp64_flop, fp32_flop, fp16_flop,
    fp64_scalar_flop, fp64_128_flop, fp64_256_flop, fp64_512_flop, fp32_scalar_flop, fp32_128_flop, fp32_256_flop, fp32_512_flop,
    ceiling_flop, dram_bytes, dram_low_bytes, dram_high_bytes, dram_read_bytes, dram_write_bytes,
    ceiling_name, ceiling_ns, compute_ns, bandwidth_ns,
    flop_reason, bytes_reason, time_reason, ceiling_reason
FROM grouped
JOIN (FROM run_title WHERE wanted_run IS NULL OR run_id = wanted_run) AS run_title USING (run_id)
LEFT JOIN (FROM label_value WHERE wanted_run IS NULL OR run_id = wanted_run) AS label_value ON grouping_kind = 'run' AND label_value.run_id = grouped.run_id AND label_value.label_name = 'ranks_per_node'
LEFT JOIN file ON file.run_id = grouped.run_id AND file.source_id = grouped.owner_id
LEFT JOIN (FROM measurement WHERE wanted_run IS NULL OR run_id = wanted_run) AS measurement ON measurement.run_id = grouped.run_id AND measurement.source_id = grouped.owner_id AND measurement.measurement_index = grouped.part_index
