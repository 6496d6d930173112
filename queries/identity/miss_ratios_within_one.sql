-- purpose = "Misses are at most the accesses."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["perf_overview"]
select
    coalesce(name, '?') as subject,
    'perf_overview.branch_miss_ratio or cache_miss_ratio' as first_figure,
    greatest(branch_miss_ratio, cache_miss_ratio) as first_value,
    '1' as second_figure,
    1 as second_value
from perf_overview
where is_above(greatest(branch_miss_ratio, cache_miss_ratio), 1)
