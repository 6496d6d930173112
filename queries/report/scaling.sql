-- purpose = "Scaling of a metric of a sweep or of runs over a label: throughput, speedup over a
-- baseline, scaling efficiency."
-- source = "Javed 2019, sect. 4.1 (Fig. 4, 7, 8, 12): efficiency = metric(n) / (n / n0 x
-- metric(n0))"
-- topic = "sweeps"
-- needs = ["run"]
-- depends = ["configuration_label", "is_time_metric", "sweep_configuration", "sweep_kept",
-- "sweep_label",
-- "sweep_metric", "sweep_missing"]
-- parameters = "over metric series-labels baseline runs run_ids"
-- series-labels = {type = "VARCHAR", doc = "labels that separate series, comma-separated;
-- default: all others that differ between configurations", optional = true}
-- baseline = {type = "VARCHAR", doc = "baseline run of every speedup; default: the lowest of each
-- series", optional = true}
-- columns = "series over_value metric_value speedup_factor efficiency_ratio reason run_name
-- run_count least_metric_value most_metric_value baseline_name over_number metric_name is_time
-- over_name"
-- series = "VARCHAR: values of the series labels"
-- over_value = "VARCHAR: value of the scaled label"
-- metric_value = "metric; mean over configurations with these labels"
-- speedup_factor = "metric / metric of the baseline; of a time, the inverse"
-- efficiency_ratio = "DOUBLE: growth of the metric / growth of the label, from the lowest value
-- of the series; of a time, the growth of its inverse"
-- is_time = "BOOLEAN: whether the metric is a time, by its unit or name: less is faster"
-- run_name = "run; NULL for several configurations"
-- run_count = "BIGINT: configurations (runs or table rows) with these labels"
-- over_number = "DOUBLE: label value as a number; NULL if it is not a number"
with
    known as (from sweep_missing($over, $metric, $runs, $run_ids)),
    chosen as (
        select
            kept.configuration_id,
            kept.title,
            over.label_value as over_value,
            over.label_number as over_number
        from sweep_kept($runs, $run_ids, null) as kept
        join sweep_label($over) as over using (configuration_id)
    ),
    -- labels in which the configurations differ
    telling as (
        select label_name
        from chosen
        join configuration_label using (configuration_id)
        where label_name <> $over
        group by label_name
        having count(distinct label_value) > 1 or count(*) < (select count(*) from chosen)
    ),
    told as (
        select
            configuration_id,
            array_to_string(list_sort(list(label_name || '=' || label_value)), ', ') as series
        from configuration_label
        where
            label_name <> $over
            and case
                when $series is null
                then label_name in (from telling)
                else
                    list_contains(
                        list_transform(string_split($series, ','), lambda part:trim(part)),
                        label_name
                    )
            end
        group by configuration_id
    ),
    valued as (
        select
            told.series,
            over_value,
            over_number,
            given.metric_value as value,
            given.unit,
            chosen.title
        from chosen
        left join sweep_metric($metric) as given using (configuration_id)
        left join told using (configuration_id)
    ),
    kind as (select coalesce(is_time_metric($metric, min(unit)), false) as is_time from valued),
    points as (
        select
            series,
            min(over_value) as over_value,
            over_number,
            avg(value) as value,
            min(value) as least,
            max(value) as most,
            count(*) as run_count,
            case when count(*) = 1 then any_value(title) end as run_name,
            count(value) as value_count
        from valued
        group by series, over_number, case when over_number is null then over_value end
    ),
    based as (
        select
            *,
            arg_min(value, over_number) filter (where value is not null) over own as first_value,
            min(over_number) filter (where value is not null) over own as first_number,
            arg_min(over_value, over_number) filter (where value is not null) over own as first_name
        from points
        window own as (partition by series)
    ),
    baseline as (
        select
            case
                when $baseline is null or count(given.metric_value) = 1
                then any_value(given.metric_value)
                else
                    error(
                        'baseline: '
                        || count(given.metric_value)
                        || ' configurations of runs called '
                        || $baseline
                        || ' have the metric '
                        || $metric
                        || '; it is to be one'
                    )
            end as value
        from sweep_configuration as own
        left join sweep_metric($metric) as given using (configuration_id)
        where $baseline is not null and own.title = $baseline
    )
select
    series,
    over_value,
    based.value as metric_value,
    case
        when is_time
        then
            ratio(case when $baseline is null then first_value else baseline.value end, based.value)
        else
            ratio(based.value, case when $baseline is null then first_value else baseline.value end)
    end as speedup_factor,
    case
        when is_time
        then ratio(first_value * first_number, based.value * over_number)
        else ratio(based.value * first_number, first_value * over_number)
    end as efficiency_ratio,
    case
        when value_count = 0
        then 'no figure of the metric ' || $metric
        when value_count < run_count
        then
            run_count
            - value_count
            || ' of '
            || run_count
            || ' have no figure of the metric '
            || $metric
        when over_number is null
        then 'the label is no number'
        when first_number <= 0
        then 'the label is not above zero'
    end as reason,
    run_name,
    run_count,
    least as least_metric_value,
    most as most_metric_value,
    coalesce($baseline, first_name) as baseline_name,
    over_number,
    cast($metric as varchar) as metric_name,
    is_time,
    cast($over as varchar) as over_name
from based, baseline, kind
where not exists (from known)
order by series, over_number nulls last, over_value
