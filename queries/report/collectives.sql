-- purpose = "Collectives over the ranks of a run by kind and size: transfer, waiting, algorithm and bus bandwidth; and those that are not matched."
-- source = "NVIDIA nccl-tests, doc/PERFORMANCE.md: algbw = S / t, busbw = algbw x factor; docs/metrics.md, section Many ranks"
-- needs = ["source_file"]
-- depends = ["collective_match", "bus_factor"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- by = {type = "VARCHAR", doc = "what a row stands for: size (a kind and size), kind, or call (one collective)", default = "size", choices = ["size", "kind", "call"]}
-- phase = {type = "VARCHAR", doc = "all, stable or N..M (step numbers, both included)", default = "all"}
-- [columns]
-- collective_kind = {type = "VARCHAR", doc = "allreduce, allgather …; NULL where nothing says"}
-- size_bytes = {type = "BIGINT", doc = "S: the larger of input and output of the whole group, as nccl-tests count it; with by=kind NULL"}
-- call_count = {type = "BIGINT", doc = "collectives, each over all its ranks; of those not matched the calls that there are"}
-- bus_bytes_per_s = {type = "DOUBLE", doc = "algorithm bandwidth x factor of the kind: 2(n-1)/n, (n-1)/n or 1"}
-- algorithm_bytes_per_s = {type = "DOUBLE", doc = "S / t, t the duration on the rank with the shortest; of broadcast, reduce, gather, scatter and sendrecv at most this: a rank can leave before the others have come"}
-- transfer_ns = {type = "DOUBLE", doc = "mean of t: the transfer itself, without waiting for ranks that come later"}
-- reason = {type = "VARCHAR", doc = "why they are not matched, or have no bandwidth"}
-- mean_ns = {type = "DOUBLE", doc = "mean duration over ranks and calls"}
-- min_ns = {type = "BIGINT", doc = "shortest duration on a rank"}
-- max_ns = {type = "BIGINT", doc = "longest"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations on all ranks"}
-- wait_ns = {type = "BIGINT", doc = "of these the waiting: sum of duration - t"}
-- wait_ratio = {type = "DOUBLE", doc = "wait_ns / total_ns"}
-- group_size_count = {type = "BIGINT", doc = "n: ranks in the group"}
-- match_basis = {type = "VARCHAR", doc = "what they are matched by: Seq, or order in the group; 'no group': none is recorded, it is taken as all ranks; 'no common clock': clocks set by the ends of the calls"}
-- process_group = {type = "VARCHAR", doc = "process group; NULL where it is not recorded, or there are several"}
-- process_group_description = {type = "VARCHAR", doc = "what the program calls it"}
-- sequence_index = {type = "BIGINT", doc = "with by=call: number in the group"}
-- step_index = {type = "BIGINT", doc = "with by=call: step"}
WITH
matches AS (
    SELECT
        match_index, collective_kind, group_size_count, sequence_index, match_step_index, match_reason, match_basis, shortest_ns,
        process_group_name, process_group_description, size_bytes,
        min(reason) AS reason,
        count(*) AS rank_count, count(dur_ns) AS timed_count,
        min(dur_ns) AS min_ns, max(dur_ns) AS max_ns, sum(dur_ns) AS total_ns, sum(wait_ns) AS wait_ns
    FROM collective_match($run_id, $phase)
    GROUP BY ALL
),
grouped AS (
    SELECT
        collective_kind, group_size_count, match_reason,
        CASE WHEN $by <> 'kind' THEN size_bytes END AS group_bytes,
        CASE WHEN $by = 'call' THEN match_index END AS call_index,
        CASE WHEN match_reason IS NULL THEN count(*) ELSE CAST(sum(rank_count) AS BIGINT) END AS call_count,
        -- a size that is not known leaves the sum unknown
        CASE WHEN bool_and(size_bytes IS NOT NULL) THEN sum(size_bytes) END AS total_bytes,
        CAST(sum(shortest_ns) AS BIGINT) AS transfer_ns,
        sum(timed_count) AS timed_count,
        min(min_ns) AS min_ns, max(max_ns) AS max_ns,
        CAST(sum(total_ns) AS BIGINT) AS total_ns, CAST(sum(wait_ns) AS BIGINT) AS wait_ns,
        CASE WHEN count(DISTINCT match_basis) = 1 THEN min(match_basis) WHEN count(match_basis) > 0 THEN 'several' END AS match_basis,
        CASE WHEN count(DISTINCT process_group_name) = 1 THEN min(process_group_name) END AS process_group,
        CASE WHEN count(DISTINCT process_group_description) = 1 THEN min(process_group_description) END AS process_group_description,
        min(reason) AS reason,
        min(sequence_index) AS sequence_index, min(match_step_index) AS step_index
    FROM matches
    GROUP BY collective_kind, group_size_count, match_reason, group_bytes, call_index
)
SELECT
    collective_kind, group_bytes AS size_bytes, call_count,
    ratio(total_bytes * 1e9, transfer_ns) * bus_factor(collective_kind, group_size_count) AS bus_bytes_per_s,
    ratio(total_bytes * 1e9, transfer_ns) AS algorithm_bytes_per_s,
    CASE WHEN match_reason IS NULL THEN ratio(transfer_ns, call_count) END AS transfer_ns,
    CASE
        WHEN match_reason IS NOT NULL THEN match_reason
        WHEN collective_kind = 'barrier' THEN 'moves nothing'
        WHEN total_bytes IS NULL THEN coalesce(reason, 'sizes not recorded')
        WHEN transfer_ns = 0 THEN 'shorter than the clock can tell'
        WHEN bus_factor(collective_kind, group_size_count) IS NULL THEN 'no factor for this kind'
    END AS reason,
    ratio(total_ns, timed_count) AS mean_ns,
    min_ns, max_ns, total_ns, wait_ns,
    ratio(wait_ns, total_ns) AS wait_ratio,
    group_size_count, match_basis, process_group, process_group_description,
    CASE WHEN $by = 'call' THEN sequence_index END AS sequence_index,
    CASE WHEN $by = 'call' THEN step_index END AS step_index
FROM grouped
ORDER BY match_reason IS NOT NULL, call_index, total_ns DESC NULLS LAST, collective_kind, size_bytes, group_size_count, match_reason
