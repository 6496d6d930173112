-- purpose = "Kernels under counters are as much slower as the times of both recordings say."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "profiling_cost"
-- keys = ["name"]
-- needs = ["kernel_match", "kernel"]
-- upon = "joined_launch"
with
    timed as (
        select
            unnest([name, '(all)']) as name,
            if(dur_ns + counted_ns is null, 0, launches) as launches,
            if(counted_ns is null, null, dur_ns) as ns,
            if(dur_ns is null, null, counted_ns) as slow_ns,
            if(
                ns is not null,
                null,
                coalesce(
                    reason,
                    if(dur_ns is null, 'not in the timeline', 'no duration under the counters')
                )
            ) as why
        from joined_launch
    )
select
    name,
    sum(slow_ns) / nullif(sum(ns), 0) as cost_factor,
    sum(ns) / nullif(sum(launches), 0) as mean_ns,
    sum(slow_ns) / nullif(sum(launches), 0) as counted_mean_ns,
    sum(ns) as timeline_ns,
    sum(slow_ns) as counted_ns,
    sum(slow_ns) - sum(ns) as added_ns,
    sum(launches) as launch_count,
    if(sum(launches) = 0, min(why), null) as reason
from timed
group by name
