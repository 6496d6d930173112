-- purpose = "A metric of a sweep over two labels, one row per pair of values."
-- source = "ParaDnn (Wang Y. E. 2020), Fig. 2 a to c, Fig. 7 (failures); docs/metrics.md, section
-- Sweeps"
-- topic = "sweeps"
-- needs = ["run"]
-- depends = ["sweep_kept", "sweep_label", "sweep_metric", "sweep_table", "sweep_unknown",
-- "sweep_missing"]
-- parameters = "x y metric fixed rule runs run_ids"
-- x = {type = "VARCHAR", doc = "label across, e.g. node", chosen_by = "sweep_choice('label',
-- $runs, $run_ids)"}
-- y = {type = "VARCHAR", doc = "label up, e.g. batch", chosen_by = "sweep_choice('label', $runs,
-- $run_ids)"}
-- rule = "for several configurations in one cell: one (refuse them), mean, median, min or max"
-- columns = "x_value y_value metric_value configuration_count failed_count reason
-- least_metric_value most_metric_value x_number y_number x_name y_name metric_name unit"
-- x_value = "VARCHAR: label value on the x axis"
-- y_value = "VARCHAR: value of the label up"
-- metric_value = "metric by the rule; NULL if no configuration of the cell has it"
-- x_number = "DOUBLE: x value as a number; NULL if it is not a number"
-- y_number = "DOUBLE: y value as a number; NULL if it is not a number"
-- x_name = "VARCHAR: the label across"
-- y_name = "VARCHAR: the label up"
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
    min(cells.x_value) as x_value,
    min(cells.y_value) as y_value,
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
                        || min(x_value)
                        || ' and '
                        || $y
                        || '='
                        || min(y_value)
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
    min(unit) as unit
from cells
group by
    x_number,
    case when x_number is null then cells.x_value end,
    y_number,
    case when y_number is null then cells.y_value end
having not exists (from known)
order by x_number nulls last, x_value, y_number nulls last, y_value
