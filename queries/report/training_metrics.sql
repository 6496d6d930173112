-- purpose = "Metrics of TBD, one row per run: throughput, GPU compute utilization and FP32
-- utilization, with the labels of the runs."
-- source = "Zhu 2018 (TBD), sect. 3.4 (throughput, eq. 1 and 2), Fig. 4 to 7; docs/metrics.md,
-- section gpu_utilization"
-- topic = "time"
-- needs = ["attribution"]
-- depends = ["busy_device", "step_span", "chosen_step", "label_value", "step_sample",
-- "source_rank", "rate_of_steps", "run_title", "whole_sum", "possible_ratio",
-- "above_peak"]
-- parameters = "phase runs"
-- columns = "run_name labels samples_per_s steps_per_s busy_ratio fp32_utilization_ratio
-- peak_ratio fp32_known_ratio device_count reason run_id"
-- samples_per_s = "DOUBLE: throughput of all ranks: sum of the steps per second of each x the
-- metric samples_per_step, or the label batch, as samples of one rank per step"
-- steps_per_s = "DOUBLE: 1 / mean time of the steps of the phase; of several ranks or files the
-- average; NULL without steps"
-- busy_ratio = "GPU compute utilization (eq. 1): time with a kernel / elapsed time, over all
-- devices"
-- fp32_utilization_ratio = "FP32 utilization (eq. 2): FP32 operations / (FP32 peak x busy time),
-- over all devices"
-- peak_ratio = "DOUBLE: utilization over all precisions: time of all operations, each at the peak
-- of its precision / busy time; NULL unless every kernel has counters, or above 1.05"
-- device_count = "BIGINT: devices"
-- reason = "why a utilization is NULL or a lower bound"
with
    devices as (
        select
            run_id,
            count(*) as device_count,
            sum(busy_ns) as busy_ns,
            sum(elapsed_ns) as elapsed_ns,
            whole_sum(cast(fp32_flop as double)) as fp32_flop,
            whole_sum(fp32_flop_per_s * busy_ns) as fp32_roof,
            ratio(sum(fp32_known_ratio * busy_ns), sum(busy_ns)) as fp32_known_ratio,
            min(fp32_reason) as reason,
            whole_sum(peak_ns) as peak_ns
        from busy_device(null, $phase)
        group by run_id
    ),
    steps as (
        select spans.run_id, spans.source_id, rate_of_steps(spans.elapsed_ns) as steps_per_s
        from step_span(null) as spans
        left join chosen_step(null, $phase) as chosen using (run_id, source_id)
        where
            $phase = 'all'
            or spans.step_index between chosen.first_step_index and chosen.last_step_index
        group by spans.run_id, spans.source_id
    ),
    -- ranks work side by side; several files of one rank, or of none, measure the same work
    rates as (
        select run_id, sum(samples_per_s) as samples_per_s
        from
            (
                select
                    run_id, rank_index, avg(steps_per_s) * any_value(sample_count) as samples_per_s
                from steps
                join step_sample using (run_id)
                left join source_rank using (run_id, source_id)
                group by run_id, rank_index
                qualify rank_index is not null or max(rank_index) over (partition by run_id) is null
            )
        group by run_id
    ),
    speeds as (select run_id, avg(steps_per_s) as steps_per_s from steps group by run_id),
    told as (
        select
            run_id, string_agg(label_name || '=' || label_value, ' ' order by label_name) as labels
        from label_value
        group by run_id
    )
select
    title as run_name,
    labels,
    samples_per_s,
    steps_per_s,
    ratio(busy_ns, elapsed_ns) as busy_ratio,
    possible_ratio(fp32_flop * 1e9, fp32_roof) as fp32_utilization_ratio,
    possible_ratio(peak_ns, busy_ns) as peak_ratio,
    fp32_known_ratio,
    device_count,
    coalesce(
        above_peak(ratio(fp32_flop * 1e9, fp32_roof), 'operations (measured)', 'the peak fp32'),
        above_peak(
            ratio(peak_ns, busy_ns), 'operations (measured)', 'the peaks of their precisions'
        ),
        reason
    ) as reason,
    run_id
from devices
join run_title using (run_id)
left join speeds using (run_id)
left join rates using (run_id)
left join told using (run_id)
where title glob $runs
order by title, run_id
