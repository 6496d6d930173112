-- purpose = "A metric of a sweep over two labels, one row per pair of values."
-- source = "ParaDnn (Wang Y. E. 2020), Fig. 2 a to c, Fig. 7 (failures); docs/metrics.md, section
-- Sweeps"
-- needs = ["run"]
-- depends = ["sweep_kept", "sweep_label", "sweep_metric", "sweep_table", "sweep_unknown",
-- "sweep_missing"]
-- [parameters]
-- x = {type = "VARCHAR", doc = "label across, e.g. node", chosen_by = "sweep_choice('label',
-- $runs, $run_ids)"}
-- y = {type = "VARCHAR", doc = "label up, e.g. batch", chosen_by = "sweep_choice('label', $runs,
-- $run_ids)"}
-- metric = {type = "VARCHAR", doc = "metric, e.g. flops; default: the only one", optional = true,
-- chosen_by = "sweep_choice('metric', $runs, $run_ids)"}
-- fixed = {type = "VARCHAR", doc = "values of other labels, comma-separated: layer=4,input=2000;
-- default: all", optional = true}
-- rule = {type = "VARCHAR", doc = "for several configurations in one cell: one (refuse them),
-- mean, median, min or max", default = "one", choices = ["one", "mean", "median", "min", "max"]}
-- runs = {type = "VARCHAR", doc = "names of runs; * matches any text", default = "*"}
-- run_ids = {type = "VARCHAR", doc = "ids of runs, comma-separated; default: all", optional = true}
-- [columns]
-- x_value = {type = "VARCHAR", doc = "label value on the x axis"}
-- y_value = {type = "VARCHAR", doc = "value of the label up"}
-- metric_value = {type = "DOUBLE", doc = "metric by the rule; NULL if no configuration of the
-- cell has it"}
-- configuration_count = {type = "BIGINT", doc = "configurations in the cell"}
-- failed_count = {type = "BIGINT", doc = "of those the failed ones"}
-- reason = {type = "VARCHAR", doc = "why metric_value is NULL or incomplete"}
-- least_metric_value = {type = "DOUBLE", doc = "the least of the cell"}
-- most_metric_value = {type = "DOUBLE", doc = "the most of the cell"}
-- x_number = {type = "DOUBLE", doc = "x value as a number; NULL if it is not a number"}
-- y_number = {type = "DOUBLE", doc = "y value as a number; NULL if it is not a number"}
-- x_name = {type = "VARCHAR", doc = "the label across"}
-- y_name = {type = "VARCHAR", doc = "the label up"}
-- metric_name = {type = "VARCHAR", doc = "the metric"}
-- unit = {type = "VARCHAR", doc = "unit, if recorded"}
with
    known as (
        from sweep_unknown('label', $x)
        union all
        from sweep_missing($y, $metric, $runs, $run_ids)
        union all
        select error('x and y are both ' || $x || '; name another label for one of them')
        where $x = $y and exists (from sweep_table)
    ),
    cells as (
        select
            here.status_kind,
            here.status_text,
            across.label_value as x_value,
            across.label_number as x_number,
            up.label_value as y_value,
            up.label_number as y_number,
            measured.metric_value,
            measured.unit
        from sweep_kept($runs, $run_ids, $fixed) as here
        join sweep_label($x) as across using (configuration_id)
        join sweep_label($y) as up using (configuration_id)
        left join sweep_metric($metric) as measured using (configuration_id)
    )
select
    any_value(cells.x_value) as x_value,
    any_value(cells.y_value) as y_value,
    case
        $rule
        when 'mean'
        then avg(metric_value)
        when 'median'
        then median(metric_value)
        when 'min'
        then min(metric_value)
        when 'max'
        then max(metric_value)
        else
            case
                when count(*) = 1
                then any_value(metric_value)
                else
                    error(
                        count(*)
                        || ' configurations with '
                        || $x
                        || '='
                        || any_value(x_value)
                        || ' and '
                        || $y
                        || '='
                        || any_value(y_value)
                        || ': keep those with certain labels (fixed, of a chart --where: '
                        || 'layer=4), or name a rule that makes one of them (rule: mean, '
                        || 'median, min or max)'
                    )
            end
    end as metric_value,
    count(*) as configuration_count,
    count(*) filter (where status_kind = 'failed') as failed_count,
    case
        when count(metric_value) < count(*)
        then
            coalesce(
                string_agg(distinct status_text, ', ' order by status_text) filter (
                    where metric_value is null and status_kind = 'failed'
                ),
                'not measured'
            ) || case
                when count(*) > 1
                then ': ' || count(*) - count(metric_value) || ' of ' || count(*)
                else ''
            end
    end as reason,
    min(metric_value) as least_metric_value,
    max(metric_value) as most_metric_value,
    x_number,
    y_number,
    cast($x as varchar) as x_name,
    cast($y as varchar) as y_name,
    cast($metric as varchar) as metric_name,
    any_value(unit) as unit
from cells
group by
    x_number,
    case when x_number is null then cells.x_value end,
    y_number,
    case when y_number is null then cells.y_value end
having not exists (from known)
order by x_number nulls last, x_value, y_number nulls last, y_value
