-- purpose = "Configurations of a sweep whose metric is outside the 2nd to 98th percentile of
-- their group."
-- source = "ParaDnn (Wang Y. E. 2020), Fig. 11: bars at the 2nd and 98th percentiles;
-- docs/metrics.md, section Sweeps"
-- topic = "sweeps"
-- needs = ["run"]
-- depends = ["configuration_label", "sweep_kept", "sweep_label", "sweep_metric", "sweep_missing"]
-- parameters = "metric by-group fixed runs run_ids"
-- columns = "group_value metric_value configuration run_name p02_value p98_value group_number
-- group_name metric_name unit run_id source_id-sweep event_id-row"
-- configuration = "labels: layer=4, node=32"
with
    known as (from sweep_missing($by, $metric, $runs, $run_ids)),
    measured as (
        select
            here.configuration_id,
            here.run_id,
            here.source_id,
            here.event_id,
            here.title as run_name,
            grouped.label_value as group_value,
            grouped.label_number as group_number,
            case when grouped.label_number is null then grouped.label_value end as group_word,
            found.metric_value,
            found.unit
        from sweep_kept($runs, $run_ids, $fixed) as here
        join sweep_label($by) as grouped using (configuration_id)
        join sweep_metric($metric) as found using (configuration_id)
    ),
    beyond as (
        select
            *,
            quantile_cont(metric_value, [0.02, 0.98]) over (
                partition by group_number, group_word
            ) as marks,
            marks[1] as p02_value,
            marks[2] as p98_value
        from measured
        qualify metric_value < p02_value or metric_value > p98_value
    ),
    told as (
        select
            configuration_id,
            string_agg(label_name || '=' || label_value, ', ' order by label_name) as configuration
        from configuration_label
        where configuration_id in (select configuration_id from beyond)
        group by configuration_id
    )
select
    group_value,
    metric_value,
    told.configuration,
    run_name,
    p02_value,
    p98_value,
    group_number,
    cast($by as varchar) as group_name,
    cast($metric as varchar) as metric_name,
    unit,
    run_id,
    source_id,
    event_id
from beyond
left join told using (configuration_id)
where not exists (from known)
order by group_number nulls last, group_word, metric_value, run_id, source_id, event_id
