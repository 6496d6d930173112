-- purpose = "The samples per second of a run are those of all its processes together."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["training_metrics", "steps"]
select
    run_name as subject,
    'training_metrics.samples_per_s' as first_figure,
    samples_per_s as first_value,
    'steps.samples_per_s, of all' as second_figure,
    of_ranks as second_value
from
    training_metrics,
    (
        select
            sum(samples_per_s) as of_ranks,
            count(rank_index) = count(*) and count(distinct rank_index) = count(*) as is_plain
        from steps
        where step_name = '(all)'
    ) as other
where is_plain and differs(samples_per_s, of_ranks)
