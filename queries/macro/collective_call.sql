-- purpose = "Every call of a collective on every rank: its kind, process group, number in that group, bytes and times."
-- source = "what torch.distributed records (c10d ParamCommsUtils.hpp, torch/csrc/profiler/util.h), else names and shapes; docs/metrics.md, section Many ranks"
-- needs = ["source_file"]
-- depends = ["device_rank", "is_communication", "collective_kind", "element_bytes", "tensor_bytes"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them. No other run's files are read"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- rank_index = {type = "BIGINT", doc = "rank: of the source, or of the event in a file that several ranks were merged into"}
-- event_id = {type = "BIGINT", doc = "the call: `kernel.event_id`; `slice.event_id` where it is on the host alone"}
-- collective_kind = {type = "VARCHAR", doc = "allreduce, allgather, reduce_scatter, all_to_all, broadcast, reduce, gather, scatter, send, recv, sendrecv, permute or barrier; NULL where nothing says"}
-- name = {type = "VARCHAR", doc = "the kernel, or the call on the host"}
-- process_group_name = {type = "VARCHAR", doc = "process group; NULL where the file does not say"}
-- process_group_description = {type = "VARCHAR", doc = "what the program calls the group"}
-- group_key = {type = "VARCHAR", doc = "tells the groups of a run apart: name and ranks, of point to point the pair too; without a recorded group, which of the rank's communication streams it is"}
-- group_basis = {type = "VARCHAR", doc = "recorded, or stream (no group is recorded)"}
-- group_size_count = {type = "BIGINT", doc = "ranks in the group"}
-- pair_text = {type = "VARCHAR", doc = "of a send or receive: from which rank of the group to which, 0->1"}
-- sequence_index = {type = "BIGINT", doc = "number of the call in the group"}
-- sequence_basis = {type = "VARCHAR", doc = "recorded (Seq), or order (of the group's calls on this rank, from 0)"}
-- element_type_name = {type = "VARCHAR", doc = "type of the elements, as recorded"}
-- in_bytes = {type = "BIGINT", doc = "bytes of this rank's input"}
-- out_bytes = {type = "BIGINT", doc = "bytes of this rank's output"}
-- bytes_basis = {type = "VARCHAR", doc = "recorded (elements of the message), or shapes (of the tensors of the call)"}
-- device_id = {type = "BIGINT", doc = "device"}
-- stream_id = {type = "BIGINT", doc = "stream"}
-- start_ns = {type = "BIGINT", doc = "start, on the clock of the source"}
-- dur_ns = {type = "BIGINT", doc = "duration, waiting for other ranks included; NULL where the file has only the call on the host"}
-- step_index = {type = "BIGINT", doc = "step that it was launched in; NULL outside of steps"}
-- reason = {type = "VARCHAR", doc = "why the kind, a size or the duration is NULL"}
WITH
kernels AS MATERIALIZED (
    SELECT
        kernel.run_id, kernel.source_id, kernel.event_id, kernel.name, kernel.collective_name, kernel.category_name,
        kernel.device_id, kernel.stream_id, kernel.start_ns, kernel.dur_ns, kernel.args_json,
        attribution.step_index, attribution.launch_thread_id, attribution.launch_start_ns
    FROM kernel
    LEFT JOIN (FROM attribution WHERE wanted_run IS NULL OR run_id = wanted_run) AS attribution USING (source_id, event_id)
    WHERE (wanted_run IS NULL OR kernel.run_id = wanted_run) AND is_communication(kernel.name, kernel.collective_name, kernel.category_name)
),
-- a collective on the host: the call with its arguments, the operator with its tensors, the title of the work
calls AS MATERIALIZED (
    SELECT
        run_id, source_id, event_id, thread_id, start_ns, dur_ns, name, input_dims, input_types, args_json,
        CASE WHEN name = 'record_param_comms' THEN 'call' WHEN slice_kind = 'op' THEN 'operator' ELSE 'title' END AS role,
        slice_kind = 'annotation' AND regexp_matches(name, '^(gloo|mpi|ucc):') AS is_transfer
    FROM slice
    WHERE
        (wanted_run IS NULL OR run_id = wanted_run) AND start_ns IS NOT NULL
        AND (
            slice_kind = 'op' AND (name = 'record_param_comms' OR starts_with(name, 'c10d::'))
            OR slice_kind = 'annotation' AND regexp_matches(name, '^([a-z]*ccl|gloo|mpi|ucc):[^:]')
        )
),
around AS (
    SELECT
        kernels.source_id, kernels.event_id,
        any_value(calls.args_json) FILTER (WHERE calls.role = 'call') AS call_json,
        any_value(calls.name) FILTER (WHERE calls.role = 'title') AS title,
        any_value(calls.name) FILTER (WHERE calls.role = 'operator') AS op_name,
        any_value(tensor_bytes(calls.input_dims, calls.input_types)) FILTER (WHERE calls.role = 'title') AS given,
        -- c10d::_allgather_base_ and its like have the output first, then the input
        any_value(tensor_bytes(calls.input_dims, calls.input_types)) FILTER (WHERE calls.role = 'operator' AND ends_with(calls.name, '_base_')) AS out_and_in
    FROM (kernels CROSS JOIN (VALUES ('call'), ('operator'), ('title')) AS roles(role)) AS kernels
    ASOF JOIN calls
        ON calls.source_id = kernels.source_id AND calls.role = kernels.role
        AND calls.thread_id = kernels.launch_thread_id AND calls.start_ns <= kernels.launch_start_ns
    WHERE calls.start_ns + calls.dur_ns >= kernels.launch_start_ns
    GROUP BY kernels.source_id, kernels.event_id
),
-- without kernels: transfers of a library of the host; else the calls, which say nothing of the time
hosted AS (
    SELECT
        calls.* REPLACE (CASE WHEN calls.is_transfer THEN calls.dur_ns END AS dur_ns),
        step.step_index, step.start_ns + step.dur_ns AS step_end_ns
    FROM calls
    LEFT JOIN (SELECT source_id FROM kernels UNION SELECT source_id FROM calls WHERE is_transfer) AS better USING (source_id)
    ASOF LEFT JOIN (FROM step WHERE (wanted_run IS NULL OR run_id = wanted_run) AND step_kind = 'host') AS step
        ON step.source_id = calls.source_id AND step.start_ns <= calls.start_ns
    WHERE calls.is_transfer OR calls.role = 'call' AND better.source_id IS NULL
),
found AS (
    SELECT
        kernels.run_id, kernels.source_id, kernels.event_id, kernels.name, kernels.device_id, kernels.stream_id,
        kernels.start_ns, kernels.dur_ns, kernels.step_index, true AS is_kernel,
        kernels.collective_name, kernels.category_name, kernels.args_json, around.call_json, around.title, around.op_name, around.given, around.out_and_in
    FROM kernels LEFT JOIN around USING (source_id, event_id)
    UNION ALL BY NAME
    SELECT
        run_id, source_id, event_id, name, start_ns, dur_ns, false AS is_kernel,
        CASE WHEN start_ns < step_end_ns THEN step_index END AS step_index,
        CASE WHEN role = 'call' THEN args_json END AS call_json, name AS title, tensor_bytes(input_dims, input_types) AS given
    FROM hosted
),
-- what the kernel says goes before what its call says
said AS (
    SELECT
        *,
        json_transform(
            json_merge_patch(
                CASE WHEN json_valid(call_json) THEN call_json ELSE '{}' END,
                CASE WHEN json_valid(args_json) THEN args_json ELSE '{}' END
            ),
            '{"Collective name": "VARCHAR", "dtype": "VARCHAR", "In msg nelems": "VARCHAR", "Out msg nelems": "VARCHAR",
              "Group size": "VARCHAR", "Process Group Name": "VARCHAR", "Process Group ID": "VARCHAR",
              "Process Group Description": "VARCHAR", "Process Group Ranks": "VARCHAR", "Global rank start": "VARCHAR",
              "Global rank stride": "VARCHAR", "Seq": "VARCHAR", "Src Rank": "VARCHAR", "Dst Rank": "VARCHAR", "rank": "VARCHAR"}'
        ) AS said
    FROM found
),
typed AS (
    SELECT
        said.*,
        -- calls on the host are of no device
        coalesce(device_rank.rank_index, TRY_CAST(said.rank AS BIGINT)) AS rank_index,
        coalesce(collective_kind(collective_name), collective_kind(said."Collective name"), collective_kind(title), collective_kind(op_name), collective_kind(category_name), collective_kind(kernel_function(name))) AS kind,
        coalesce(nullif(said."Process Group Name", ''), said."Process Group ID") AS group_name,
        nullif(replace(said."Process Group Ranks", ' ', ''), '') AS group_ranks,
        TRY_CAST(said."Group size" AS BIGINT) AS group_size,
        -- nccl:send 0->1 is the same transfer as nccl:recv 1<-0
        CASE
            WHEN title LIKE '%:send %->%' THEN regexp_extract(title, '(\d+->\d+)', 1)
            WHEN title LIKE '%:recv %<-%' THEN regexp_replace(regexp_extract(title, '(\d+<-\d+)', 1), '(\d+)<-(\d+)', '\2->\1')
            ELSE said."Src Rank" || '->' || said."Dst Rank"
        END AS pair,
        element_bytes(said.dtype) AS size_bytes,
        TRY_CAST(said."In msg nelems" AS BIGINT) AS in_elements,
        TRY_CAST(said."Out msg nelems" AS BIGINT) AS out_elements
    FROM said
    LEFT JOIN (FROM device_rank WHERE wanted_run IS NULL OR run_id = wanted_run) AS device_rank
        ON device_rank.run_id = said.run_id AND device_rank.source_id = said.source_id
        AND device_rank.device_id IS NOT DISTINCT FROM said.device_id
),
sized AS (
    SELECT
        *,
        coalesce(group_name, group_ranks) IS NOT NULL AS has_group,
        -- sends and receives are numbered on each rank by itself
        CASE WHEN kind IN ('send', 'recv') THEN NULL ELSE TRY_CAST(said.Seq AS BIGINT) END AS sequence,
        CASE WHEN in_elements >= 0 THEN TRY(in_elements * size_bytes) END AS said_in_bytes,
        CASE WHEN out_elements >= 0 THEN TRY(out_elements * size_bytes) END AS said_out_bytes,
        coalesce(out_and_in[2], CASE WHEN list_count(given) = len(given) THEN list_sum(given) END) AS shaped_in_bytes
    FROM typed
    WHERE is_kernel OR kind IS NOT NULL
),
keyed AS (
    SELECT
        *,
        said_in_bytes IS NOT NULL OR said_out_bytes IS NOT NULL AS is_said,
        coalesce(out_and_in[1], CASE WHEN kind IN ('allreduce', 'broadcast', 'reduce') THEN shaped_in_bytes END) AS shaped_out_bytes,
        CASE
            WHEN has_group AND group_ranks NOT LIKE '%...%' THEN concat_ws(' ', group_name, group_ranks, pair)
            -- not all ranks are named: the first, the distance and the number tell groups of one name apart
            WHEN has_group THEN concat_ws(' ', group_name, said."Global rank start", said."Global rank stride", said."Group size", pair)
            ELSE 'stream ' || dense_rank() OVER (PARTITION BY source_id, rank_index, has_group ORDER BY stream_id)
        END AS group_key
    FROM sized
)
SELECT
    run_id, source_id, rank_index, event_id, kind AS collective_kind, name,
    group_name AS process_group_name, said."Process Group Description" AS process_group_description, group_key,
    CASE WHEN has_group THEN 'recorded' ELSE 'stream' END AS group_basis,
    group_size AS group_size_count, pair AS pair_text,
    coalesce(sequence, row_number() OVER (PARTITION BY source_id, rank_index, group_key, sequence IS NULL ORDER BY start_ns, event_id) - 1)
        AS sequence_index,
    CASE WHEN sequence IS NULL THEN 'order' ELSE 'recorded' END AS sequence_basis,
    said.dtype AS element_type_name,
    CASE WHEN is_said THEN said_in_bytes ELSE TRY_CAST(shaped_in_bytes AS BIGINT) END AS in_bytes,
    CASE WHEN is_said THEN said_out_bytes ELSE TRY_CAST(shaped_out_bytes AS BIGINT) END AS out_bytes,
    CASE WHEN is_said THEN 'recorded' WHEN coalesce(shaped_in_bytes, shaped_out_bytes) IS NOT NULL THEN 'shapes' END AS bytes_basis,
    device_id, stream_id, start_ns, dur_ns, step_index,
    nullif(concat_ws('; ',
        CASE WHEN kind IS NULL THEN 'nothing says which collective it is' END,
        CASE
            WHEN is_said OR coalesce(shaped_in_bytes, shaped_out_bytes) IS NOT NULL OR kind = 'barrier' THEN NULL
            WHEN coalesce(said."In msg nelems", said."Out msg nelems") IS NULL THEN 'sizes not recorded'
            WHEN size_bytes IS NULL THEN 'bytes of the element type ' || coalesce(said.dtype, '(none)') || ' not known'
            ELSE 'sizes are no numbers'
        END,
        CASE WHEN dur_ns IS NULL AND NOT is_kernel THEN 'the file has the call on the host, not the transfer' WHEN dur_ns IS NULL THEN 'no duration' END
    ), '') AS reason
FROM keyed
