-- purpose = "The metrics of TBD, one row per run: throughput, GPU compute utilization and FP32 utilization, over the labels of the runs."
-- source = "Zhu 2018 (TBD), sect. 3.4 (throughput, eq. 1 and 2), Fig. 4 to 7; docs/metrics.md, section gpu_utilization"
-- needs = ["attribution"]
-- depends = ["busy_device", "step_span", "label_value", "step_sample", "rate_of_steps", "run_title", "whole_sum"]
-- [parameters]
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M (numbers, both included)", default = "all"}
-- runs = {type = "VARCHAR", doc = "names of runs, * for any letters", default = "*"}
-- [columns]
-- run_name = {type = "VARCHAR", doc = "run"}
-- labels = {type = "VARCHAR", doc = "its labels"}
-- samples_per_s = {type = "DOUBLE", doc = "throughput: steps_per_s x the label batch, or the metric samples_per_step; of all devices"}
-- steps_per_s = {type = "DOUBLE", doc = "steps / their time; NULL without steps"}
-- busy_ratio = {type = "DOUBLE", doc = "GPU compute utilization (eq. 1): time with a kernel / elapsed time, of all devices"}
-- fp32_utilization_ratio = {type = "DOUBLE", doc = "FP32 utilization (eq. 2): FP32 operations / (FP32 peak x busy time); of all devices"}
-- peak_ratio = {type = "DOUBLE", doc = "the same for what the kernels do compute in: time of all operations, each at the peak of its precision / busy time; NULL unless every kernel has counters"}
-- fp32_known_ratio = {type = "DOUBLE", doc = "share of the kernel time whose FP32 operations are known: below 1 the utilization is a lower bound"}
-- device_count = {type = "BIGINT", doc = "devices"}
-- reason = {type = "VARCHAR", doc = "why a utilization is NULL, or a lower bound"}
-- run_id = {type = "VARCHAR", doc = "its id"}
WITH
devices AS (
    SELECT
        run_id, count(*) AS device_count, sum(busy_ns) AS busy_ns, sum(elapsed_ns) AS elapsed_ns,
        whole_sum(CAST(fp32_flop AS DOUBLE)) AS fp32_flop, whole_sum(fp32_flop_per_s * busy_ns) AS fp32_roof,
        ratio(sum(fp32_known_ratio * busy_ns), sum(busy_ns)) AS fp32_known_ratio, min(fp32_reason) AS reason,
        ratio(whole_sum(peak_ns), sum(busy_ns)) AS peak_ratio
    FROM busy_device(NULL, $phase)
    GROUP BY run_id
),
steps AS (
    SELECT run_id, avg(steps_per_s) AS steps_per_s
    FROM (
        SELECT run_id, source_id, rate_of_steps(step_index, elapsed_ns, start_ns, end_ns) AS steps_per_s
        FROM step_span(NULL)
        GROUP BY run_id, source_id
    )
    GROUP BY run_id
),
told AS (
    SELECT run_id, string_agg(label_name || '=' || label_value, ' ' ORDER BY label_name) AS labels
    FROM label_value
    GROUP BY run_id
)
SELECT
    title AS run_name, labels,
    steps_per_s * sample_count AS samples_per_s, steps_per_s,
    ratio(busy_ns, elapsed_ns) AS busy_ratio,
    ratio(fp32_flop * 1e9, fp32_roof) AS fp32_utilization_ratio, peak_ratio,
    fp32_known_ratio, device_count, reason, run_id
FROM devices
JOIN run_title USING (run_id)
LEFT JOIN steps USING (run_id)
LEFT JOIN step_sample USING (run_id)
LEFT JOIN told USING (run_id)
WHERE title GLOB $runs
ORDER BY title, run_id
