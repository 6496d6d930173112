-- purpose = "Collective calls of a run, matched across the ranks, or the reason that they are not."
-- source = "docs/metrics.md, section Many ranks: matching, waiting, clocks"
-- needs = ["source_file"]
-- depends = ["collective_call", "step_window"]
-- parameters = "wanted_run-one wanted_phase"
-- wanted_phase = "all, stable or N..M: the collectives of these steps; all are matched first"
-- columns = "source_id rank_index-known event_id match_index match_step_index collective_kind
-- process_group_name process_group_description group_size_count sequence_index match_basis
-- match_reason is_synchronizing size_bytes dur_ns shortest_ns wait_ns is_last is_confirmed
-- lost_ns clock_offset_ns clock_spread_ns reason"
-- event_id = "call: collective_call.event_id"
-- match_index = "BIGINT: number of the collective in the run, the same for all of its calls"
-- match_step_index = "BIGINT: lowest step that launched one of its calls"
-- collective_kind = "VARCHAR: allreduce, allgather …; sendrecv for a send and its receive"
-- group_size_count = "ranks in the group; without a recorded group, in the job or the run"
-- match_basis = "VARCHAR: Seq, or order; 'no group': none is recorded, all ranks are assumed; 'no
-- common clock': calls overlap only with clocks set by their ends; NULL if not matched"
-- match_reason = "VARCHAR: why it is not matched"
-- is_synchronizing = "BOOLEAN: no rank can leave it before the last arrives"
-- size_bytes = "BIGINT: larger of input and output in total, as in nccl-tests; maximum over the
-- ranks"
-- dur_ns = "duration of the call"
-- shortest_ns = "BIGINT: shortest duration of its calls; NULL if not matched"
-- wait_ns = "BIGINT: dur_ns - shortest_ns"
-- is_last = "BOOLEAN: the last rank to arrive: the shortest duration; NULL if unknown"
-- is_confirmed = "BOOLEAN: for the last rank: it also started last, with clocks set by the ends"
-- lost_ns = "BIGINT: for the last rank: sum of wait_ns of the others"
-- reason = "`collective_call.reason`"
with
    -- the same on every rank
    bounds as materialized(
        select
            any_value(first_step_index) as first_step_index,
            any_value(last_step_index) as last_step_index
        from step_window(wanted_run, wanted_phase)
    ),
    calls as materialized(
        select
            call.* replace (
                case
                    when call.collective_kind in ('send', 'recv')
                    then 'sendrecv'
                    else call.collective_kind
                end as collective_kind,
                case
                    when call.pair_text is not null then 2 else call.group_size_count
                end as group_size_count
            ),
            call.collective_kind in (
                'allreduce', 'allgather', 'reduce_scatter', 'all_to_all', 'barrier'
            ) as is_synchronizing,
            (call.source_id, call.rank_index) as member,
            source_file.world_size_count,
            coalesce(source_file.base_time_ns, 0) + call.start_ns as unix_ns,
            -- several calls that were made as one have one number
            row_number() over (
                partition by
                    call.source_id,
                    call.rank_index,
                    call.group_key,
                    call.sequence_basis,
                    call.sequence_index,
                    call.collective_kind
                order by call.start_ns, call.event_id
            ) as nth
        from collective_call(wanted_run) as call
        left join
            source_file
            on source_file.run_id = wanted_run
            and source_file.source_id = call.source_id
    ),
    sequences as (
        select
            group_key,
            sequence_basis,
            member,
            count(*) as call_count,
            hash(
                list(coalesce(collective_kind, '') order by sequence_index, collective_kind)
            ) as kinds
        from calls
        group by group_key, sequence_basis, member
    ),
    groups as (
        select group_key, sequence_basis, count(distinct(call_count, kinds)) = 1 as is_alike
        from sequences
        group by group_key, sequence_basis
    ),
    numbers as (
        select
            *,
            row_number() over (
                order by group_key, sequence_basis, sequence_index, collective_kind, nth
            ) as match_index
        from
            (
                select distinct group_key, sequence_basis, sequence_index, collective_kind, nth
                from calls
            )
    ),
    gathered as materialized(
        select
            calls.*,
            row_number() over () as call_index,
            groups.is_alike,
            coalesce(
                calls.group_size_count,
                max(calls.world_size_count) over (),
                -- the largest rank tells of ranks that are not in the run
                (
                    select greatest(count(distinct member), max(try(rank_index + 1)))
                    from calls
                    having count(distinct member) > 1
                )
            ) as rank_count,
            numbers.match_index
        from calls
        join groups using (group_key, sequence_basis)
        join
            numbers
            on numbers.group_key = calls.group_key
            and numbers.sequence_basis = calls.sequence_basis
            and numbers.sequence_index = calls.sequence_index
            and numbers.collective_kind is not distinct from calls.collective_kind
            and numbers.nth = calls.nth
    ),
    -- ranks that several files have a call of one collective of
    doubled_calls as (
        select match_index, min(rank_index) as doubled_rank
        from
            (
                select match_index, rank_index
                from gathered
                group by match_index, rank_index
                having count(*) > 1
            )
        group by match_index
    ),
    matches as materialized(
        select
            match_index,
            count(*) as call_count,
            min(world_size_count) <> max(world_size_count) as is_of_several_jobs,
            min(step_index) as match_step_index,
            bool_and(dur_ns is not null and start_ns is not null) as is_timed,
            min(dur_ns) as least_ns,
            sum(dur_ns) as sum_ns,
            max(
                case
                    collective_kind
                    when 'barrier'
                    then null
                    when 'allgather'
                    then coalesce(out_bytes, try(in_bytes * group_size_count))
                    when 'reduce_scatter'
                    then coalesce(in_bytes, try(out_bytes * group_size_count))
                    else greatest(in_bytes, out_bytes)
                end
            ) as size_bytes
        from gathered
        group by match_index
    ),
    others as (
        select
            group_key,
            -- what is gathered or scattered over n ranks is n times as large on one side
            coalesce(
                bool_or(
                    group_basis = 'stream'
                    and case
                        collective_kind
                        when 'allgather'
                        then out_bytes <> try(in_bytes * rank_count)
                        when 'reduce_scatter'
                        then in_bytes <> try(out_bytes * rank_count)
                    end
                ),
                false
            ) as is_of_others
        from gathered
        group by group_key
    ),
    counted as (
        select
            gathered.*,
            matches.* exclude (match_index),
            others.is_of_others,
            doubled_calls.doubled_rank
        from gathered
        join matches using (match_index)
        join others using (group_key)
        left join doubled_calls using (match_index)
    ),
    candidates as materialized(
        select
            *,
            case
                when collective_kind in ('sendrecv', 'permute') and pair_text is null
                then 'peers not recorded'
                when doubled_rank is not null
                then 'rank ' || doubled_rank || ' is in several files'
                when is_of_several_jobs
                then 'files disagree on the number of ranks'
                when sequence_basis = 'order' and not is_alike
                then 'no Seq, and ranks differ in number or kind of the calls'
                when rank_count is null
                then 'number of ranks unknown'
                when is_of_others
                then 'sizes are of a group that is not all ranks, and none is recorded'
                when call_count < rank_count
                then call_count || ' of ' || rank_count || ' ranks are in the run'
                when call_count > rank_count
                then 'more ranks than the group has: several groups share the name'
                when not is_timed
                then 'a rank has no time'
            end as unmatched_reason
        from counted
    ),
    -- ranks leave a collective together: their ends tell their clocks apart
    first_member as (
        select member
        from candidates
        where unmatched_reason is null and is_synchronizing
        order by rank_index nulls last, source_id
        limit 1
    ),
    firsts as (
        select candidates.match_index, candidates.unix_ns + candidates.dur_ns as end_ns
        from candidates
        semi join first_member using (member)
        where candidates.unmatched_reason is null and candidates.is_synchronizing
    ),
    apart as (
        select
            candidates.member,
            candidates.unix_ns + candidates.dur_ns - firsts.end_ns as apart_ns,
            min(apart_ns) over (partition by candidates.member) as least_ns
        from candidates
        join firsts using (match_index)
    ),
    -- medians are floats: exact for what is left of clocks that are decades apart
    clocks as (
        select
            member,
            any_value(least_ns)
            + cast(round(median(try(apart_ns - least_ns))) as bigint) as clock_offset_ns,
            cast(round(mad(try(apart_ns - least_ns))) as bigint) as clock_spread_ns
        from apart
        group by member
    ),
    placed as (
        select
            candidates.*,
            clocks.clock_offset_ns,
            clocks.clock_spread_ns,
            candidates.unix_ns - coalesce(clocks.clock_offset_ns, 0) as common_ns
        from candidates
        left join clocks using (member)
    ),
    -- calls of one collective run at one time: by order alone others could have been put together
    shared_times as (
        select
            group_key,
            sequence_basis,
            match_index,
            min(unix_ns + dur_ns) - max(unix_ns) as unix_overlap_ns,
            min(common_ns + dur_ns) - max(common_ns) as common_overlap_ns
        from placed
        where unmatched_reason is null and is_synchronizing
        group by group_key, sequence_basis, match_index
    ),
    agreeing as (
        select
            group_key,
            sequence_basis,
            median(unix_overlap_ns) >= 0 as is_of_one_clock,
            median(common_overlap_ns) >= 0 as is_of_one_time
        from shared_times
        group by group_key, sequence_basis
    ),
    judged as (
        select
            placed.*,
            case
                when placed.unmatched_reason is not null
                then placed.unmatched_reason
                when placed.sequence_basis = 'order' and not agreeing.is_of_one_time
                then 'no Seq, and the calls do not overlap in time'
            end as match_reason,
            case
                when placed.sequence_basis = 'recorded'
                then 'Seq'
                else
                    concat_ws(
                        ', ',
                        'order',
                        case when placed.group_basis = 'stream' then 'no group' end,
                        case when not agreeing.is_of_one_clock then 'no common clock' end
                    )
            end as basis
        from placed
        left join agreeing using (group_key, sequence_basis)
    ),
    -- the last rank of each collective: of equal durations the one that began last
    last_ranks as (
        select call_index, common_ns = max(common_ns) over one as began_last
        from judged
        window one as (partition by match_index)
        qualify
            row_number() over (
                partition by match_index order by dur_ns, common_ns desc, rank_index, source_id
            )
            = 1
    ),
    told as (
        select
            judged.*,
            case when match_reason is null then least_ns end as shortest_ns,
            case
                when match_reason is null and is_synchronizing and rank_count > 1
                then last_ranks.call_index is not null
            end as is_last,
            last_ranks.began_last
        from judged
        left join last_ranks using (call_index)
    )
select
    source_id,
    rank_index,
    event_id,
    match_index,
    match_step_index,
    collective_kind,
    process_group_name,
    process_group_description,
    rank_count as group_size_count,
    sequence_index,
    case when match_reason is null then basis end as match_basis,
    match_reason,
    is_synchronizing,
    size_bytes,
    dur_ns,
    shortest_ns,
    dur_ns - shortest_ns as wait_ns,
    is_last,
    case when is_last then began_last end as is_confirmed,
    case when is_last then cast(sum_ns - shortest_ns * rank_count as bigint) end as lost_ns,
    clock_offset_ns,
    clock_spread_ns,
    reason
from told
cross join bounds
where
    wanted_phase = 'all'
    or match_step_index between bounds.first_step_index and bounds.last_step_index
