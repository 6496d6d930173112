-- purpose = "The calls of collectives of a run, each with those of the other ranks that it is one collective with; or why they are not known."
-- source = "docs/metrics.md, section Many ranks: matching, waiting, clocks"
-- needs = ["source_file"]
-- depends = ["collective_call", "step_window"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run"}
-- wanted_phase = {type = "VARCHAR", doc = "all, stable or N..M: the collectives of these steps; all are matched first"}
-- [columns]
-- source_id = {type = "VARCHAR", doc = "source"}
-- rank_index = {type = "BIGINT", doc = "rank"}
-- event_id = {type = "BIGINT", doc = "the call: `collective_call.event_id`"}
-- match_index = {type = "BIGINT", doc = "number of the collective in the run: calls of one collective have one"}
-- match_step_index = {type = "BIGINT", doc = "the lowest step that one of its calls was launched in"}
-- collective_kind = {type = "VARCHAR", doc = "allreduce, allgather …; a send and its receive are sendrecv"}
-- process_group_name = {type = "VARCHAR", doc = "process group"}
-- process_group_description = {type = "VARCHAR", doc = "what the program calls it"}
-- group_size_count = {type = "BIGINT", doc = "ranks in the group; where no group is recorded, in the job or the run"}
-- sequence_index = {type = "BIGINT", doc = "number in the group"}
-- match_basis = {type = "VARCHAR", doc = "Seq, or order; 'no group': none is recorded, it is taken as all ranks; 'no common clock': the calls overlap in time only with clocks set by their ends. NULL if not matched"}
-- match_reason = {type = "VARCHAR", doc = "why it is not matched"}
-- is_synchronizing = {type = "BOOLEAN", doc = "no rank can leave it before the last has come"}
-- size_bytes = {type = "BIGINT", doc = "size as nccl-tests count it: the larger of input and output in total, the most of any rank"}
-- dur_ns = {type = "BIGINT", doc = "duration of the call"}
-- shortest_ns = {type = "BIGINT", doc = "the shortest duration of its calls; NULL if not matched"}
-- wait_ns = {type = "BIGINT", doc = "dur_ns - shortest_ns"}
-- is_last = {type = "BOOLEAN", doc = "the rank that came last: the shortest duration; NULL if that cannot be told"}
-- is_confirmed = {type = "BOOLEAN", doc = "of the last: it also began last, clocks set by the ends"}
-- lost_ns = {type = "BIGINT", doc = "of the last: sum of wait_ns of the others"}
-- clock_offset_ns = {type = "BIGINT", doc = "clock of the rank less that of the first rank, median over the ends of collectives that both are in"}
-- reason = {type = "VARCHAR", doc = "`collective_call.reason`"}
WITH
-- steps that count on every rank
bounds AS MATERIALIZED (
    SELECT max(first_step_index) AS first_step_index, min(last_step_index) AS last_step_index FROM step_window(wanted_run, wanted_phase)
),
calls AS MATERIALIZED (
    SELECT
        call.* REPLACE (
            CASE WHEN call.collective_kind IN ('send', 'recv') THEN 'sendrecv' ELSE call.collective_kind END AS collective_kind,
            CASE WHEN call.pair_text IS NOT NULL THEN 2 ELSE call.group_size_count END AS group_size_count
        ),
        call.collective_kind IN ('allreduce', 'allgather', 'reduce_scatter', 'all_to_all', 'barrier') AS is_synchronizing,
        (call.source_id, call.rank_index) AS member,
        source_file.world_size_count,
        coalesce(source_file.base_time_ns, 0) + call.start_ns AS unix_ns,
        -- several calls that were made as one have one number
        row_number() OVER (
            PARTITION BY call.source_id, call.rank_index, call.group_key, call.sequence_basis,
                call.sequence_index, call.collective_kind
            ORDER BY call.start_ns, call.event_id
        ) AS nth
    FROM collective_call(wanted_run) AS call
    LEFT JOIN source_file ON source_file.run_id = wanted_run AND source_file.source_id = call.source_id
),
sequences AS (
    SELECT
        group_key, sequence_basis, member, count(*) AS call_count,
        hash(list(coalesce(collective_kind, '') ORDER BY sequence_index)) AS kinds
    FROM calls GROUP BY group_key, sequence_basis, member
),
groups AS (
    SELECT group_key, sequence_basis, count(DISTINCT (call_count, kinds)) = 1 AS is_alike
    FROM sequences GROUP BY group_key, sequence_basis
),
gathered AS MATERIALIZED (
    SELECT
        calls.*, groups.is_alike,
        coalesce(
            calls.group_size_count,
            max(calls.world_size_count) OVER (),
            nullif((SELECT count(DISTINCT member) FROM calls), 1)
        ) AS rank_count,
        dense_rank() OVER (ORDER BY calls.group_key, calls.sequence_basis, calls.sequence_index, calls.collective_kind, calls.nth) AS match_index
    FROM calls JOIN groups USING (group_key, sequence_basis)
),
counted AS (
    SELECT
        *,
        count(*) OVER one AS call_count,
        min(step_index) OVER one AS match_step_index,
        bool_and(dur_ns IS NOT NULL AND start_ns IS NOT NULL) OVER one AS is_timed,
        -- what is gathered or scattered over n ranks is n times as large on one side
        coalesce(bool_or(
            group_basis = 'stream'
            AND CASE collective_kind
                WHEN 'allgather' THEN out_bytes <> TRY(in_bytes * rank_count)
                WHEN 'reduce_scatter' THEN in_bytes <> TRY(out_bytes * rank_count)
            END
        ) OVER (PARTITION BY group_key), false) AS is_of_others
    FROM gathered
    WINDOW one AS (PARTITION BY match_index)
),
candidates AS MATERIALIZED (
    SELECT
        *,
        CASE
            WHEN collective_kind IN ('sendrecv', 'permute') AND pair_text IS NULL THEN 'peers not recorded'
            WHEN sequence_basis = 'order' AND NOT is_alike THEN 'no Seq, and ranks differ in number or kind of the calls'
            WHEN rank_count IS NULL THEN 'nothing says how many ranks there are'
            WHEN is_of_others THEN 'sizes are of a group that is not all ranks, and none is recorded'
            WHEN call_count < rank_count THEN call_count || ' of ' || rank_count || ' ranks are in the run'
            WHEN call_count > rank_count THEN 'more ranks than the group has: groups of one name are not told apart'
            WHEN NOT is_timed THEN 'a rank has no time'
        END AS unmatched_reason
    FROM counted
),
-- ranks leave a collective together: their ends tell their clocks apart
first_member AS (SELECT member FROM calls ORDER BY rank_index NULLS LAST, source_id LIMIT 1),
firsts AS (
    SELECT candidates.match_index, candidates.unix_ns + candidates.dur_ns AS end_ns
    FROM candidates SEMI JOIN first_member USING (member)
    WHERE candidates.unmatched_reason IS NULL AND candidates.is_synchronizing
),
clocks AS (
    SELECT candidates.member, CAST(round(median(candidates.unix_ns + candidates.dur_ns - firsts.end_ns)) AS BIGINT) AS clock_offset_ns
    FROM candidates JOIN firsts USING (match_index)
    GROUP BY candidates.member
),
placed AS (
    SELECT candidates.*, clocks.clock_offset_ns, candidates.unix_ns - coalesce(clocks.clock_offset_ns, 0) AS common_ns
    FROM candidates LEFT JOIN clocks USING (member)
),
-- calls of one collective run at one time: by order alone others could have been put together
shared_times AS (
    SELECT
        group_key, sequence_basis, match_index,
        min(unix_ns + dur_ns) - max(unix_ns) AS unix_overlap_ns,
        min(common_ns + dur_ns) - max(common_ns) AS common_overlap_ns
    FROM placed
    WHERE unmatched_reason IS NULL AND is_synchronizing
    GROUP BY group_key, sequence_basis, match_index
),
agreeing AS (
    SELECT
        group_key, sequence_basis,
        median(unix_overlap_ns) >= 0 AS is_of_one_clock,
        median(common_overlap_ns) >= 0 AS is_of_one_time
    FROM shared_times GROUP BY group_key, sequence_basis
),
judged AS (
    SELECT
        placed.*,
        CASE
            WHEN placed.unmatched_reason IS NOT NULL THEN placed.unmatched_reason
            WHEN placed.sequence_basis = 'order' AND NOT agreeing.is_of_one_time THEN 'no Seq, and the calls do not overlap in time'
        END AS match_reason,
        CASE
            WHEN placed.sequence_basis = 'recorded' THEN 'Seq'
            ELSE concat_ws(', ', 'order', CASE WHEN placed.group_basis = 'stream' THEN 'no group' END, CASE WHEN NOT agreeing.is_of_one_clock THEN 'no common clock' END)
        END AS basis
    FROM placed LEFT JOIN agreeing USING (group_key, sequence_basis)
),
timed AS (
    SELECT
        *,
        CASE WHEN match_reason IS NULL THEN min(dur_ns) OVER one END AS shortest_ns,
        -- of equal durations the one that began last
        row_number() OVER (PARTITION BY match_index ORDER BY dur_ns, common_ns DESC, rank_index, source_id) AS last_rank,
        common_ns = max(common_ns) OVER one AS began_last,
        sum(dur_ns) OVER one AS sum_ns,
        max(CASE collective_kind
            WHEN 'barrier' THEN NULL
            WHEN 'allgather' THEN coalesce(out_bytes, TRY(in_bytes * group_size_count))
            WHEN 'reduce_scatter' THEN coalesce(in_bytes, TRY(out_bytes * group_size_count))
            ELSE greatest(in_bytes, out_bytes)
        END) OVER one AS size_bytes
    FROM judged
    WINDOW one AS (PARTITION BY match_index)
),
told AS (
    SELECT *, CASE WHEN shortest_ns IS NOT NULL AND is_synchronizing AND rank_count > 1 THEN last_rank = 1 END AS is_last
    FROM timed
)
SELECT
    source_id, rank_index, event_id, match_index, match_step_index, collective_kind, process_group_name, process_group_description,
    rank_count AS group_size_count, sequence_index,
    CASE WHEN match_reason IS NULL THEN basis END AS match_basis, match_reason, is_synchronizing, size_bytes,
    dur_ns, shortest_ns, dur_ns - shortest_ns AS wait_ns, is_last,
    CASE WHEN is_last THEN began_last END AS is_confirmed,
    CASE WHEN is_last THEN CAST(sum_ns - shortest_ns * rank_count AS BIGINT) END AS lost_ns,
    clock_offset_ns, reason
FROM told CROSS JOIN bounds
WHERE wanted_phase = 'all' OR match_step_index BETWEEN bounds.first_step_index AND bounds.last_step_index
