-- purpose = "Kernels of a joined timeline: launches with counters, the rule that matched them,
-- and why others have none."
-- source = "docs/metrics.md, section Counters joined to a timeline"
-- needs = ["kernel_match"]
-- depends = ["joined_kernel", "sum_where"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- [columns]
-- name = {type = "VARCHAR", doc = "kernel name, in full"}
-- share_ratio = {type = "DOUBLE", doc = "total_ns / sum of all kernel durations"}
-- matched_ratio = {type = "DOUBLE", doc = "share of its launches with counters"}
-- total_ns = {type = "BIGINT", doc = "time in the timeline"}
-- launch_count = {type = "BIGINT", doc = "launches"}
-- sequence_count = {type = "BIGINT", doc = "launches matched by function, grid, block and
-- position in the launch order"}
-- shape_count = {type = "BIGINT", doc = "launches matched by function, grid and block"}
-- name_count = {type = "BIGINT", doc = "launches matched only by function, because one side has
-- no grid"}
-- fit_count = {type = "BIGINT", doc = "maximum number of counter launches averaged for a launch;
-- 1 if matched by order"}
-- flop_spread_ratio = {type = "DOUBLE", doc = "largest (max - min) / mean of their operations"}
-- dram_spread_ratio = {type = "DOUBLE", doc = "largest (max - min) / mean of their device memory
-- bytes"}
-- reason = {type = "VARCHAR", doc = "why launches have no counters"}
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
