-- purpose = "Kernel time without a launch is the same in the finding and in attribution_coverage."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["attribution_coverage", "data_without_launches"]
select
    found.source_id as subject,
    'data_without_launches.unknown_ratio' as first_figure,
    found.unknown_ratio as first_value,
    '1 - attribution_coverage.known_time_ratio' as second_figure,
    1 - told.known_time_ratio as second_value
from data_without_launches as found
join
    attribution_coverage as told
    on told.source_id = found.source_id
    and told.link_kind = 'launch'
    -- of a profiler without such IDs, the finding counts only other kernels
    and told.total_ns = found.total_ns
where differs(found.unknown_ratio, 1 - told.known_time_ratio)
union all
select
    source_id,
    'data_without_launches: rows',
    0,
    '1 - attribution_coverage.known_time_ratio, above 0.1',
    1 - known_time_ratio
from attribution_coverage
where
    link_kind = 'launch'
    and is_above(1 - known_time_ratio, 0.1)
    and reason is distinct from 'no correlation id'
    and reason_count = kernel_count - known_count
    and source_id not in (select source_id from data_without_launches)
