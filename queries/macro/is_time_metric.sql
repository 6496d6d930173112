-- purpose = "Whether a metric is a time, of which less is better: by its unit, else by its name."
-- source = "docs/metrics.md, section Sweeps"
-- parameters = "metric_name metric_unit"
-- metric_name = "VARCHAR: metric"
-- metric_unit = "VARCHAR: its unit; NULL if unknown"
case
    when metric_unit is not null
    then
        regexp_full_match(
            metric_unit, '(?i)ns|us|µs|ms|s|nsecs?|usecs?|msecs?|secs?|seconds?|minutes?|hours?'
        )
    else
        not regexp_matches(metric_name, '(?i)(^|[^a-z])per([^a-z]|$)|/|rate|speed')
        and regexp_matches(
            metric_name,
            '(?i)(^|[^a-z])(times?|latency|duration|elapsed|runtime|seconds?|secs?|ns|us|µs|ms|s)'
            || '([^a-z]|$)'
        )
end
