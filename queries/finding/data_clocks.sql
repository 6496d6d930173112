-- purpose = "Ranks whose clock is far from that of the others, or drifts, and ranks that were
-- recorded
-- at another time."
-- source = "docs/metrics.md, sections Many ranks: clocks, and Findings"
-- needs = ["source_file"]
-- depends = ["rank_clock"]
-- parameters = "run_id"
-- columns = "win_ns-none message-clock clock_apart_ns clock_spread_ns fault_kind-clock
-- rank_index elapsed_ns-none source_id-rank device_id-none"
-- finding.title = "Clocks of ranks are apart"
-- finding.evidence = "{message}"
-- finding.action = "Check that all files are of one job. Between such ranks, compare only
-- durations,
-- and times that are aligned by collectives."
-- finding.command = "query data_clocks"
-- finding.pool = "none"
select
    cast(null as bigint) as win_ns,
    message,
    clock_apart_ns,
    clock_spread_ns,
    fault_kind,
    rank_index,
    cast(null as bigint) as elapsed_ns,
    source_id,
    cast(null as bigint) as device_id
from rank_clock($run_id)
where fault_kind is not null
order by
    abs(cast(clock_apart_ns as double)) desc nulls last, clock_spread_ns desc, rank_index, source_id
