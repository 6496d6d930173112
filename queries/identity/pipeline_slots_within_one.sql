-- purpose = "The shares of the pipeline slots of a processor sum to at most 1."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["perf_overview"]
select
    coalesce(name, '?') as subject,
    'perf_overview: retiring, bad speculation, front end, back end' as first_figure,
    slots as first_value,
    '1.02' as second_figure,
    1.02 as second_value
from
    (
        select
            name,
            retiring_ratio
            + bad_speculation_ratio
            + frontend_bound_ratio
            + backend_bound_ratio as slots
        from perf_overview
    )
where slots > 1.02
