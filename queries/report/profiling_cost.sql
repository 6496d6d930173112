-- purpose = "Slowdown of each kernel of a timeline under the joined counters."
-- source = "docs/metrics.md, section Counters joined to a timeline"
-- topic = "counters"
-- needs = ["kernel_match"]
-- depends = ["joined_kernel"]
-- parameters = "run_id"
-- run_id = "run of the timeline"
-- columns = "name cost_factor mean_ns counted_mean_ns timeline_ns counted_ns added_ns
-- launch_count reason"
-- answer = "cost_factor added_ns"
-- cost_factor = "DOUBLE: counted_ns / timeline_ns; over launches with both"
-- mean_ns = "mean time of a launch in the timeline"
-- counted_mean_ns = "DOUBLE: mean time of a launch under the counters"
-- timeline_ns = "BIGINT: time in the timeline"
-- counted_ns = "BIGINT: time of the same launches under the counters"
-- added_ns = "BIGINT: counted_ns - timeline_ns: time that a table from counters alone adds"
-- launch_count = "launches with both times"
with
    launches as (
        select *, dur_ns is not null and counted_ns is not null as has_both
        from joined_kernel
        where run_id = $run_id
    ),
    kernels as (
        select
            name,
            grouping(name) as is_all,
            cast(sum(launch_count) filter (where has_both) as bigint) as launch_count,
            cast(sum(dur_ns) filter (where has_both) as bigint) as timeline_ns,
            cast(sum(counted_ns) filter (where has_both) as bigint) as counted_ns,
            min(
                case
                    when has_both
                    then null
                    when match_reason is not null
                    then match_reason
                    when dur_ns is null
                    then dur_reason
                    else 'no duration under the counters'
                end
            ) as reason
        from launches
        group by grouping sets ((name), ())
        having count(*) > 0
    )
select
    case when is_all = 1 then '(all)' else name end as name,
    ratio(counted_ns, timeline_ns) as cost_factor,
    ratio(timeline_ns, launch_count) as mean_ns,
    ratio(counted_ns, launch_count) as counted_mean_ns,
    timeline_ns,
    counted_ns,
    counted_ns - timeline_ns as added_ns,
    coalesce(launch_count, 0) as launch_count,
    case when launch_count is null then reason end as reason
from kernels
order by is_all desc, counted_ns desc nulls last, name
