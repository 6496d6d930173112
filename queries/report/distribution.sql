-- purpose = "Distribution of a metric of a sweep for each value of a label: quantiles and
-- outliers."
-- source = "ParaDnn (Wang Y. E. 2020), Fig. 11: box from the 9th to the 91st percentile, whiskers
-- at the 2nd and the 98th; docs/metrics.md, section Sweeps"
-- topic = "sweeps"
-- needs = ["run"]
-- depends = ["sweep_kept", "sweep_label", "sweep_metric", "sweep_missing"]
-- parameters = "metric by-group fixed runs run_ids"
-- columns = "group_value median_value p09_value p91_value p02_value p98_value known_count
-- configuration_count failed_count outlier_count min_value max_value mean_value group_number
-- group_name metric_name unit"
-- p09_value = "DOUBLE: 9th percentile, lower end of the box (linear interpolation)"
-- p91_value = "DOUBLE: 91st percentile, upper end of the box"
-- known_count = "BIGINT: configurations with a number"
-- outlier_count = "BIGINT: numbers below the 2nd or above the 98th percentile"
-- mean_value = "DOUBLE: the mean"
with
    known as (from sweep_missing($by, $metric, $runs, $run_ids)),
    measured as (
        select
            grouped.label_number as group_number,
            case when grouped.label_number is null then grouped.label_value end as group_word,
            grouped.label_value,
            here.status_kind,
            found.metric_value,
            found.unit
        from sweep_kept($runs, $run_ids, $fixed) as here
        join sweep_label($by) as grouped using (configuration_id)
        left join sweep_metric($metric) as found using (configuration_id)
    ),
    boxes as (
        select
            group_number,
            group_word,
            min(label_value) as group_value,
            quantile_cont(metric_value, [0.02, 0.09, 0.5, 0.91, 0.98]) as marks,
            list(metric_value) as metric_values,
            count(metric_value) as known_count,
            count(*) as configuration_count,
            count(*) filter (where status_kind = 'failed') as failed_count,
            min(metric_value) as min_value,
            max(metric_value) as max_value,
            avg(metric_value) as mean_value,
            min(unit) as unit
        from measured
        group by group_number, group_word
    )
select
    group_value,
    marks[3] as median_value,
    marks[2] as p09_value,
    marks[4] as p91_value,
    marks[1] as p02_value,
    marks[5] as p98_value,
    known_count,
    configuration_count,
    failed_count,
    len(
        list_filter(metric_values, lambda value:value < marks[1] or value > marks[5])
    ) as outlier_count,
    min_value,
    max_value,
    mean_value,
    group_number,
    cast($by as varchar) as group_name,
    cast($metric as varchar) as metric_name,
    unit
from boxes
where not exists (from known)
order by group_number nulls last, group_value
