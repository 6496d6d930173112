-- purpose = "Sensitivity of a metric of a sweep to each label: standardized weights of a linear
-- regression."
-- source = "ParaDnn (Wang Y. E. 2020), sect. 2.2, Fig. 2 d to f, 8 a and 9 a; docs/metrics.md,
-- section Sweeps"
-- topic = "sweeps"
-- needs = ["run"]
-- depends = ["configuration_label", "sweep_column", "sweep_kept", "sweep_metric",
-- "sweep_speedup", "sweep_missing"]
-- parameters = "metric labels order scale over baseline less_is_better rule fixed runs run_ids"
-- labels = {type = "VARCHAR", doc = "labels, comma-separated; default: all that every
-- configuration with the metric has", optional = true}
-- order = {type = "BIGINT", doc = "1 for labels alone, 2 to include products of two labels",
-- default = 1}
-- scale = {type = "VARCHAR", doc = "linear, or log: logarithms of the labels and the metric",
-- default = "linear", choices = ["linear", "log"]}
-- over = {type = "VARCHAR", doc = "label with the platforms; the weights are then those of the
-- speedup over the baseline", optional = true}
-- baseline = {type = "VARCHAR", doc = "with over: baseline value", optional = true, chosen_by =
-- "sweep_value($over, $runs, $run_ids)"}
-- rule = "with over, for several configurations with the same labels: one (refuse them), mean,
-- median, min or max"
-- columns = "term weight standard_error reason r2_ratio row_count left_out_count metric_name
-- scale_kind"
-- term = "VARCHAR: label, or product of two"
-- weight = "DOUBLE: change of the metric per label change, both in standard deviations; NULL if
-- not fitted"
-- standard_error = "DOUBLE: standard error of the weight; NULL unless there are more
-- configurations than terms"
-- r2_ratio = "DOUBLE: share of the metric's variance explained by all terms"
-- row_count = "BIGINT: configurations in the regression"
-- left_out_count = "BIGINT: configurations excluded because they lack the metric (including
-- failures) or a label"
-- metric_name = "metric, or its speedup"
-- scale_kind = "VARCHAR: linear or log"
with
    known as (
        from sweep_missing($over, $metric, $runs, $run_ids)
        union all
        select
            case
                when $over is not null and $baseline is null
                then error('over=' || $over || ' needs a baseline, one of its values')
            end
        where $over is not null and $baseline is null
    ),
    asked as (select trim(unnest(string_split($labels, ','))) as label_name),
    all_of_them as (
        select configuration_id, metric_value
        from sweep_kept($runs, $run_ids, $fixed)
        left join sweep_metric($metric) using (configuration_id)
        where $over is null
        union all
        select configuration_id, speedup_factor
        from
            sweep_speedup(
                $over, $baseline, $metric, $less_is_better, $rule, $runs, $run_ids, $fixed
            )
        where $over is not null
    ),
    measured as (
        from all_of_them where metric_value is not null and ($scale = 'linear' or metric_value > 0)
    ),
    total as (select count(*) as whole_count from all_of_them),
    columns as (
        select label_name, list(configuration_id) as ids, list(label_number) as numbers
        from configuration_label
        where
            case
                when $labels is null
                then label_name is distinct from $over
                else label_name in (from asked)
            end
        group by label_name
    ),
    weights as (
        select
            unnest(
                regression_weights(
                    columns,
                    metric_ids,
                    metric,
                    $labels is null,
                    case
                        when $order in (1, 2)
                        then $order
                        else error('order cannot be ' || $order || '; it is 1 or 2')
                    end,
                    $scale
                ),
                recursive := true
            )
        from
            (select list(columns) as columns from columns),
            (
                select
                    coalesce(list(configuration_id), []) as metric_ids,
                    coalesce(list(metric_value), []) as metric
                from measured
            )
        where columns is not null
    ),
    told as (
        from weights
        union all by name
        select
            label_name as term,
            case
                when list_contains(names, label_name)
                then 'no configuration with the metric has it'
                else
                    error(
                        'no configuration has the label '
                        || label_name
                        || '; there are: '
                        || array_to_string(names, ', ')
                    )
            end as reason
        from
            asked,
            (
                select list(column_name order by column_name) as names
                from sweep_column
                where role_kind = 'label'
            )
        where label_name not in (select term from weights)
    )
select
    term,
    weight,
    standard_error,
    reason,
    max(r2_ratio) over () as r2_ratio,
    max(row_count) over () as row_count,
    whole_count - max(row_count) over () as left_out_count,
    case
        when $over is null
        then cast($metric as varchar)
        else 'speed-up of ' || $metric || ' over ' || $baseline
    end as metric_name,
    cast($scale as varchar) as scale_kind
from told, total
where not exists (from known)
order by weight is null, abs(weight) desc, term
