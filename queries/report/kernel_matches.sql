-- purpose = "Kernels of a joined timeline: launches with counters, the rule that matched them,
-- and why others have none."
-- source = "docs/metrics.md, section Counters joined to a timeline"
-- topic = "counters"
-- needs = ["kernel_match"]
-- depends = ["joined_kernel", "sum_where"]
-- parameters = "run_id"
-- columns = "name share_ratio-kernels matched_ratio total_ns launch_count sequence_count
-- shape_count name_count fit_count flop_spread_ratio dram_spread_ratio reason"
-- total_ns = "time in the timeline"
-- fit_count = "BIGINT: maximum number of counter launches averaged for a launch; 1 if matched by
-- order"
-- reason = "why launches have no counters"
select
    name,
    ratio(sum(dur_ns), sum(sum(dur_ns)) over ()) as share_ratio,
    ratio(
        coalesce(sum(launch_count) filter (where match_kind is not null), 0), sum(launch_count)
    ) as matched_ratio,
    cast(sum(dur_ns) as bigint) as total_ns,
    cast(sum(launch_count) as bigint) as launch_count,
    sum_where(launch_count, match_kind = 'sequence') as sequence_count,
    sum_where(launch_count, match_kind = 'shape') as shape_count,
    sum_where(launch_count, match_kind = 'name') as name_count,
    max(fit_count) as fit_count,
    max(flop_spread_ratio) as flop_spread_ratio,
    max(dram_spread_ratio) as dram_spread_ratio,
    min(match_reason) as reason
from joined_kernel
where run_id = $run_id
group by name
order by matched_ratio, total_ns desc nulls last, name
