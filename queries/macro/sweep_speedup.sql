-- purpose = "Speedup of each configuration of a sweep between two platforms, one row per
-- configuration."
-- source = "ParaDnn (Wang Y. E. 2020), Fig. 8 and 9; docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["configuration_label", "label_value", "sweep_kept", "sweep_label", "sweep_metric",
-- "sweep_table"]
-- parameters = "platform_label wanted_baseline compared_metric is_of_times wanted_rule kept_runs
-- kept_ids kept_values"
-- platform_label = "VARCHAR: label with the platforms"
-- wanted_baseline = "VARCHAR: baseline value of the label; NULL for the lowest number"
-- compared_metric = "VARCHAR: metric"
-- is_of_times = "BOOLEAN: whether the metric is a time"
-- wanted_rule = "VARCHAR: for several configurations with the same labels: one (refuse them),
-- mean, median, min or max"
-- kept_runs = "VARCHAR: run names; * matches any text"
-- kept_ids = "VARCHAR: run ids, comma-separated; NULL for all"
-- kept_values = "VARCHAR: values of labels, comma-separated; NULL for all"
-- columns = "platform_value baseline_name configuration speedup_factor metric_value-platform
-- baseline_value reason configuration_id"
-- configuration_id = "representative configuration, from the platform if it has one"
with
    here as (
        select
            kept.configuration_id,
            kept.status_kind,
            kept.status_text,
            -- as '{:.15g}' writes whole numbers, in a tenth of its time
            coalesce(
                case
                    when abs(label_number) < 1e15 and trunc(label_number) = label_number
                    then cast(cast(label_number as bigint) as varchar)
                end,
                format('{:.15g}', label_number),
                label_value
            ) as platform_value,
            label_number
        from sweep_kept(kept_runs, kept_ids, kept_values) as kept
        join sweep_label(platform_label) as platform using (configuration_id)
    ),
    -- which labels each platform has: at once where all rows of a table have the label, by row
    -- where some lack it
    labels as (
        select
            base_id >> 40 as table_number,
            label_name,
            bool_or(label_count < configuration_count) as is_partial
        from
            (
                select run_id, source_id, column_name as label_name, count(*) as label_count
                from configuration_value
                where role_kind = 'label'
                group by run_id, source_id, column_name
                union all
                select run_id, source_id, label_name, configuration_count
                from label_value
                join sweep_table using (run_id)
            )
        join sweep_table using (run_id, source_id)
        where label_name <> platform_label
        group by base_id >> 40, label_name
    ),
    platforms as (
        select platform_value, min(label_number) as platform_number
        from here
        group by platform_value
    ),
    baseline as (
        select
            coalesce(
                wanted_baseline,
                format('{:.15g}', min(platform_number)),
                error(
                    'no value of '
                    || platform_label
                    || ' is a number: '
                    || string_agg(platform_value, ', ' order by platform_value)
                    || '; name a label with numbers of chips'
                )
            ) as baseline_name
        from platforms
    ),
    had as (
        select platform_value, label_name
        from (select distinct configuration_id >> 40 as table_number, platform_value from here)
        join labels using (table_number)
        where not is_partial
        union
        select here.platform_value, told.label_name
        from configuration_label as told
        join
            labels
            on labels.table_number = told.configuration_id >> 40
            and labels.label_name = told.label_name
        join here using (configuration_id)
        where is_partial
    ),
    shared as (
        select label_name
        from had
        group by label_name
        having count(*) = (select count(*) from platforms)
    ),
    -- Configurations are the same where the hashes of their labels, put together, are: 64 bits
    -- tell a million apart. A hash of a hash, as
    -- DuckDB's hash of a pair is linear: labels that swap their values would come out alike.
    identified as (
        select
            configuration_id,
            bit_xor(
                hash(
                    hash(
                        label_name,
                        label_number,
                        case when label_number is null then label_value end
                    )
                )
            ) as identity,
            bit_xor(hash(hash(label_name, label_value))) as spelling
        from configuration_label
        where label_name in (from shared)
        group by configuration_id
    ),
    measured as (
        select
            here.platform_value,
            coalesce(identity, 0) as identity,
            min(configuration_id) as configuration_id,
            arg_min(spelling, configuration_id) as spelling,
            count(metric_value) as metric_count,
            case
                wanted_rule
                when 'mean'
                then avg(metric_value)
                when 'median'
                then median(metric_value)
                when 'min'
                then min(metric_value)
                else max(metric_value)
            end as metric_value,
            coalesce(
                min(case when status_kind = 'failed' then coalesce(status_text, 'failed') end),
                'not measured'
            ) as why
        from here
        left join identified using (configuration_id)
        left join sweep_metric(compared_metric) using (configuration_id)
        group by here.platform_value, coalesce(identity, 0)
    ),
    based as (from measured join baseline on baseline_name = platform_value),
    others as (
        select platform_value, baseline_name
        from platforms, baseline
        where
            case
                when baseline_name in (select platform_value from platforms)
                then platform_value <> baseline_name
                else
                    error(
                        'no configuration has '
                        || platform_label
                        || '='
                        || baseline_name
                        || '; there are: '
                        || (
                            select string_agg(platform_value, ', ' order by platform_value)
                            from platforms
                        )
                    )
            end
    ),
    -- every platform beside the baseline: configurations that both have, that it has alone, that
    -- the baseline has alone
    pairs as (
        select
            others.platform_value,
            others.baseline_name,
            measured.identity,
            measured.configuration_id,
            measured.spelling,
            measured.metric_value,
            measured.metric_count,
            measured.why,
            true as is_tried
        from others
        join measured using (platform_value)
        union all
        select
            others.platform_value,
            others.baseline_name,
            based.identity,
            based.configuration_id,
            based.spelling,
            null,
            0,
            null,
            false
        from others, based
        where
            not exists (
                from measured
                where
                    measured.platform_value = others.platform_value
                    and measured.identity = based.identity
            )
    ),
    compared as (
        select
            pairs.platform_value,
            pairs.baseline_name,
            case
                when based.spelling = pairs.spelling
                then based.configuration_id
                else pairs.configuration_id
            end as named_id,
            case
                when is_of_times
                then ratio(based.metric_value, pairs.metric_value)
                else ratio(pairs.metric_value, based.metric_value)
            end as speedup_factor,
            pairs.metric_value,
            based.metric_value as baseline_value,
            case
                when not is_tried
                then 'not tried on ' || pairs.platform_value
                when
                    pairs.metric_value is null
                    and based.identity is not null
                    and based.metric_value is null
                then 'neither has it (' || pairs.why || '; ' || based.why || ')'
                when pairs.metric_value is null
                then 'no figure on ' || pairs.platform_value || ': ' || pairs.why
                when based.identity is null
                then 'not tried on ' || pairs.baseline_name
                when based.metric_value is null
                then 'no figure on ' || pairs.baseline_name || ': ' || based.why
                when case when is_of_times then pairs.metric_value else based.metric_value end = 0
                then 'the figure to divide by is 0'
            end as reason,
            case
                when wanted_rule in ('mean', 'median', 'min', 'max')
                then null
                when pairs.metric_count > 1
                then pairs.metric_count || ' configurations on ' || pairs.platform_value
                when based.metric_count > 1
                then based.metric_count || ' configurations on ' || pairs.baseline_name
            end as doubled_text,
            pairs.configuration_id
        from pairs
        left join based using (identity)
    ),
    -- one text for all platforms that spell it alike, and only of what comes out: to put texts
    -- together takes longer than all else
    named as (
        select
            configuration_id as named_id,
            array_to_string(
                list_sort(
                    string_split(string_agg(label_name || '=' || label_value, chr(31)), chr(31))
                ),
                ', '
            ) as configuration
        from configuration_label
        where label_name in (from shared) and configuration_id in (select named_id from compared)
        group by configuration_id
    )
select
    platform_value,
    baseline_name,
    coalesce(configuration, '') as configuration,
    case
        when doubled_text is null
        then speedup_factor
        else
            error(
                doubled_text
                || coalesce(' with ' || configuration, '')
                || ': keep those with certain labels (fixed, of a chart --where: layer=4), '
                || 'or name a rule that makes one of them (rule: mean, median, min or max)'
            )
    end as speedup_factor,
    metric_value,
    baseline_value,
    reason,
    configuration_id
from compared
left join named using (named_id)
