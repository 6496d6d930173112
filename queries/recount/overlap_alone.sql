-- purpose = "Work of a device that never runs beside other work runs alone."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "overlap"
-- keys = ["source_id", "device_id", "work_class"]
-- needs = ["attribution"]
-- upon = "covered_time"
-- is_partial = true
with
    classed as (
        select
            *,
            case
                when is_collective
                then 'communication'
                when is_kernel
                then 'compute'
                when work_kind in ('memcpy', 'memset')
                then work_kind
            end as work_class
        from covered_time
        window device as (partition by source_id, device_id)
        qualify
            sum(more_ns) over device = sum(dur_ns) over device
            and bool_and(is_kernel or work_kind in ('memcpy', 'memset')) over device
    )
select
    source_id,
    device_id,
    work_class,
    any_value(rank_index) as rank_index,
    count(*) as work_count,
    sum(dur_ns) as sum_ns,
    sum_ns as union_ns,
    sum_ns as exposed_ns,
    sum_ns as alone_ns,
    sum_ns / any_value(elapsed_ns) as share_ratio
from classed
group by source_id, device_id, work_class
