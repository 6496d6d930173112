-- purpose = "Weights of one or two labels follow from their correlations with the metric."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "sensitivity"
-- keys = ["metric_name", "term"]
-- about = ["metric_name"]
-- options.metric = []
-- needs = ["configuration", "configuration_value"]
-- upon = "table_value"
with
    measured as (
        select column_name as metric_name, event_id, value as metric_value
        from table_value
        where role_kind = 'metric' and status_kind <> 'failed' and value is not null
    ),
    size as (select metric_name, count(*) as row_count from measured group by metric_name),
    labeled as (
        select metric_name, column_name as term, event_id, value, metric_value, row_count
        from (from table_value where role_kind = 'label')
        join measured using (event_id)
        join size using (metric_name)
    ),
    label as (
        select metric_name, term, corr(value, metric_value) as of_metric
        from labeled
        group by metric_name, term, row_count
        having count(value) = row_count and min(value) < max(value) and of_metric is not null
        qualify count(*) over (partition by metric_name) <= 3
    ),
    pair as (
        select one.metric_name, (one.term, other.term) as terms, corr(one.value, other.value) as r
        from labeled as one
        join labeled as other using (metric_name, event_id)
        group by all
    ),
    pairs as (
        select metric_name, map_from_entries(list((terms, r))) as r_of
        from pair
        group by metric_name
    ),
    first as (
        select
            metric_name,
            list(term order by term) as terms,
            list(of_metric order by term) as of_metric
        from label
        group by metric_name
    ),
    fitted as (
        select
            metric_name,
            terms,
            coalesce(r_of[(terms[1], terms[2])], 0) as r,
            (of_metric[1] - r * coalesce(of_metric[2], 0)) / (1 - r * r) as first_weight,
            (of_metric[2] - r * of_metric[1]) / (1 - r * r) as second_weight,
            first_weight * of_metric[1] + coalesce(second_weight * of_metric[2], 0) as r2_ratio,
            least(len(terms), 2) as term_count,
            r_of[(terms[1], terms[3])] as first_third,
            r_of[(terms[2], terms[3])] as second_third
        from first
        join pairs using (metric_name)
        where
            abs(r) < 0.999
            -- a third label is to be a sum of the two
            and coalesce(
                abs(
                    first_third * first_third
                    + second_third * second_third
                    - 2 * first_third * second_third * r
                    - (1 - r * r)
                )
                < 1e-9,
                len(terms) < 3
            )
    )
select
    metric_name,
    term,
    case term when terms[1] then first_weight when terms[2] then second_weight end as weight,
    if(
        weight is null or row_count <= term_count + 1,
        null,
        sqrt(greatest(1 - r2_ratio, 0) / (row_count - term_count - 1) / (1 - r * r))
    ) as standard_error,
    r2_ratio,
    row_count,
    (select count(*) from configuration where run_id = $run_id) - row_count as left_out_count
from fitted
join size using (metric_name)
join (select distinct metric_name, term from labeled) as labels using (metric_name)
where row_count > term_count
