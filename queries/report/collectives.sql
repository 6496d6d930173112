-- purpose = "Collectives over the ranks of a run by kind and size: transfer, waiting, algorithm
-- and bus bandwidth, and unmatched calls."
-- source = "NVIDIA nccl-tests, doc/PERFORMANCE.md: algbw = S / t, busbw = algbw x factor;
-- docs/metrics.md, section Many ranks"
-- topic = "ranks"
-- needs = ["source_file"]
-- answered_if = "exists (from collective_call($run_id))"
-- depends = ["collective_match", "bus_factor", "whole_sum", "only_one"]
-- doubts = ["data_ranks"]
-- parameters = "run_id by phase"
-- by = {doc = "what a row is: size (kind and size), kind, or call (one collective)", default =
-- "size", choices = ["size", "kind", "call"]}
-- columns = "collective_kind size_bytes call_count bus_bytes_per_s algorithm_bytes_per_s
-- transfer_ns reason mean_ns min_ns max_ns total_ns wait_ns wait_ratio group_size_count
-- match_basis process_group process_group_description sequence_index step_index"
-- answer = "bus_bytes_per_s mean_ns wait_ratio"
-- collective_kind = "VARCHAR: allreduce, allgather …; NULL if unknown"
-- size_bytes = "BIGINT: S: the larger of input and output of the whole group, as in nccl-tests;
-- NULL for by=kind"
-- call_count = "collectives, each over all its ranks; for unmatched ones, calls"
-- bus_bytes_per_s = "DOUBLE: algorithm bandwidth x factor of the kind: 2(n-1)/n, (n-1)/n or 1"
-- algorithm_bytes_per_s = "DOUBLE: S / t, with t the shortest duration over the ranks; an upper
-- bound for broadcast, reduce, gather, scatter and sendrecv, where a rank can leave before the
-- others arrive"
-- transfer_ns = "DOUBLE: mean t: the transfer without waiting for late ranks"
-- reason = "why they are unmatched or have no bandwidth"
-- mean_ns = "mean duration over ranks and calls"
-- total_ns = "sum of the durations on all ranks"
-- wait_ns = "BIGINT: waiting: sum of duration - t"
-- wait_ratio = "DOUBLE: wait_ns / total_ns"
-- match_basis = "VARCHAR: basis of the match: Seq, or order in the group; 'no group': none is
-- recorded, all ranks are assumed; 'no common clock': clocks set by the ends of the calls"
-- process_group = "VARCHAR: process group; NULL if not recorded or several"
-- sequence_index = "for by=call: number in the group"
-- step_index = "with by=call: step"
with
    matches as (
        select
            match_index,
            collective_kind,
            group_size_count,
            sequence_index,
            match_step_index,
            match_reason,
            match_basis,
            shortest_ns,
            process_group_name,
            process_group_description,
            size_bytes,
            min(reason) as reason,
            count(*) as rank_count,
            count(dur_ns) as timed_count,
            min(dur_ns) as min_ns,
            max(dur_ns) as max_ns,
            sum(dur_ns) as total_ns,
            sum(wait_ns) as wait_ns
        from collective_match($run_id, $phase)
        group by all
    ),
    grouped as (
        select
            collective_kind,
            group_size_count,
            match_reason,
            case when $by <> 'kind' then size_bytes end as group_bytes,
            case when $by = 'call' then match_index end as call_index,
            case
                when match_reason is null then count(*) else cast(sum(rank_count) as bigint)
            end as call_count,
            -- a size that is not known leaves the sum unknown
            whole_sum(size_bytes) as total_bytes,
            cast(sum(shortest_ns) as bigint) as transfer_ns,
            sum(timed_count) as timed_count,
            min(min_ns) as min_ns,
            max(max_ns) as max_ns,
            cast(sum(total_ns) as bigint) as total_ns,
            cast(sum(wait_ns) as bigint) as wait_ns,
            case
                when count(distinct match_basis) = 1
                then min(match_basis)
                when count(match_basis) > 0
                then 'several'
            end as match_basis,
            only_one(process_group_name) as process_group,
            only_one(process_group_description) as process_group_description,
            min(reason) as reason,
            min(sequence_index) as sequence_index,
            min(match_step_index) as step_index
        from matches
        group by collective_kind, group_size_count, match_reason, group_bytes, call_index
    )
select
    collective_kind,
    group_bytes as size_bytes,
    call_count,
    ratio(total_bytes * 1e9, transfer_ns)
    * bus_factor(collective_kind, group_size_count) as bus_bytes_per_s,
    ratio(total_bytes * 1e9, transfer_ns) as algorithm_bytes_per_s,
    case when match_reason is null then ratio(transfer_ns, call_count) end as transfer_ns,
    case
        when match_reason is not null
        then match_reason
        when collective_kind = 'barrier'
        then 'moves nothing'
        when total_bytes is null
        then coalesce(reason, 'sizes not recorded')
        when transfer_ns = 0
        then 'shorter than the clock can tell'
        when bus_factor(collective_kind, group_size_count) is null
        then 'no factor for this kind'
    end as reason,
    ratio(total_ns, timed_count) as mean_ns,
    min_ns,
    max_ns,
    total_ns,
    wait_ns,
    ratio(wait_ns, total_ns) as wait_ratio,
    group_size_count,
    match_basis,
    process_group,
    process_group_description,
    case when $by = 'call' then sequence_index end as sequence_index,
    case when $by = 'call' then step_index end as step_index
from grouped
order by
    match_reason is not null,
    call_index,
    total_ns desc nulls last,
    collective_kind,
    size_bytes,
    group_size_count,
    match_reason
