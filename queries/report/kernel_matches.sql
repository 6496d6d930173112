-- purpose = "Kernels of a joined timeline: launches with counters, the rule that matched them,
-- and why others have none."
-- source = "docs/metrics.md, section Counters joined to a timeline"
-- needs = ["kernel_match"]
-- depends = ["joined_kernel"]
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
    cast(
        coalesce(sum(launch_count) filter (where match_kind = 'sequence'), 0) as bigint
    ) as sequence_count,
    cast(
        coalesce(sum(launch_count) filter (where match_kind = 'shape'), 0) as bigint
    ) as shape_count,
    cast(coalesce(sum(launch_count) filter (where match_kind = 'name'), 0) as bigint) as name_count,
    max(fit_count) as fit_count,
    max(flop_spread_ratio) as flop_spread_ratio,
    max(dram_spread_ratio) as dram_spread_ratio,
    min(match_reason) as reason
from joined_kernel
where run_id = $run_id
group by name
order by matched_ratio, total_ns desc nulls last, name
