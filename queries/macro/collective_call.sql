-- purpose = "Collective calls on each rank: kind, process group, number in the group, bytes and
-- times."
-- source = "records of torch.distributed (c10d ParamCommsUtils.hpp, torch/csrc/profiler/util.h),
-- else names and shapes; docs/metrics.md, section Many ranks"
-- needs = ["source_file"]
-- depends = ["device_rank", "is_communication", "collective_kind", "element_bytes", "tensor_bytes",
-- "mended_time", "summed_source"]
-- parameters = "wanted_run"
-- columns = "run_id source_id rank_index event_id collective_kind name process_group_name
-- process_group_description group_key group_basis group_size_count pair_text sequence_index
-- sequence_basis element_type_name in_bytes out_bytes bytes_basis device_id stream_id start_ns
-- dur_ns step_index reason"
-- rank_index = "rank of the source, or of the event in a file merged from several ranks"
-- event_id = "call: kernel.event_id; slice.event_id if it is only on the host"
-- collective_kind = "VARCHAR: allreduce, allgather, reduce_scatter, all_to_all, broadcast,
-- reduce, gather, scatter, send, recv, sendrecv, permute or barrier; NULL if unknown"
-- name = "kernel, or call on the host"
-- group_key = "VARCHAR: identifies the group in the run: name and ranks (and the pair if point to
-- point); without a recorded group, the communication stream of the rank"
-- group_basis = "VARCHAR: recorded, or stream (no group is recorded)"
-- pair_text = "VARCHAR: for a send or receive: ranks of the group, from->to, e.g. 0->1"
-- sequence_basis = "VARCHAR: recorded (Seq), or order (of the group's calls on this rank, from 0)"
-- element_type_name = "VARCHAR: type of the elements, as recorded"
-- in_bytes = "BIGINT: bytes of this rank's input"
-- out_bytes = "BIGINT: bytes of this rank's output"
-- bytes_basis = "recorded (elements of the message), or shapes (of the tensors of the call)"
-- start_ns = "start, on the clock of the source"
-- dur_ns = "duration, with waits for other ranks; NULL if only the host call is in the file"
-- reason = "why the kind, a size or the duration is NULL"
with
    -- few: asking them is much faster than asking each kernel. The counts keep the optimizer from
    -- asking each kernel first
    names as materialized(
        select name, is_always, collective_kind(kernel_function(name)) as kind
        from
            (
                select name, bool_and(is_communication) as is_always
                from
                    (
                        select
                            name,
                            case
                                when kernel_count > 0
                                then is_communication(name, collective_name, category_name)
                            end as is_communication
                        from
                            (
                                select
                                    name, collective_name, category_name, count(*) as kernel_count
                                from
                                    (
                                        select name, collective_name, category_name
                                        from work_sum
                                        where
                                            work_kind = 'kernel'
                                            and (wanted_run is null or run_id = wanted_run)
                                        union all
                                        select name, collective_name, category_name
                                        from kernel
                                        semi join
                                            (from summed_source where not has_sums) using (
                                                run_id, source_id
                                            )
                                        where wanted_run is null or run_id = wanted_run
                                    )
                                group by all
                            )
                    )
                group by name
                having bool_or(is_communication)
            )
    ),
    -- apart by whether they have a name: only files are read that a plain comparison leaves
    origins as not materialized(
        from attribution
        where (wanted_run is null or run_id = wanted_run) and name in (select name from names)
        union all
        from attribution
        where (wanted_run is null or run_id = wanted_run) and name is null
    ),
    kernels as materialized(
        select
            kernel.run_id,
            kernel.source_id,
            kernel.event_id,
            kernel.name,
            names.kind as kind_of_name,
            kernel.collective_name,
            kernel.category_name,
            kernel.device_id,
            kernel.stream_id,
            case when is_mended then mended_time.start_ns else kernel.start_ns end as start_ns,
            case when is_mended then mended_time.dur_ns else kernel.dur_ns end as dur_ns,
            kernel.args_json,
            origins.step_index,
            origins.launch_thread_id,
            origins.launch_start_ns
        from kernel
        join names on names.name is not distinct from kernel.name
        left join origins using (source_id, event_id)
        left join
            (from mended_time where wanted_run is null or run_id = wanted_run) as mended_time
            on mended_time.run_id = kernel.run_id
            and mended_time.source_id = kernel.source_id
            and mended_time.event_id = kernel.event_id
        where
            (wanted_run is null or kernel.run_id = wanted_run)
            and case
                when names.is_always
                then true
                else is_communication(kernel.name, kernel.collective_name, kernel.category_name)
            end
    ),
    -- a collective on the host: the call with its arguments, the operator with its tensors, the
    -- title of the work
    calls as materialized(
        select
            run_id,
            source_id,
            event_id,
            thread_id,
            start_ns,
            dur_ns,
            name,
            input_dims,
            input_types,
            args_json,
            case
                when name = 'record_param_comms'
                then 'call'
                when slice_kind = 'op'
                then 'operator'
                else 'title'
            end as role,
            slice_kind = 'annotation' and regexp_matches(name, '^(gloo|mpi|ucc):') as is_transfer
        from slice
        where
            (wanted_run is null or run_id = wanted_run)
            and start_ns is not null
            and (
                slice_kind = 'op'
                and (name = 'record_param_comms' or starts_with(name, 'c10d::'))
                or slice_kind = 'annotation'
                and regexp_matches(name, '^([a-z]*ccl|gloo|mpi|ucc):[^:]')
            )
    ),
    around as (
        select
            kernels.source_id,
            kernels.event_id,
            any_value(calls.args_json) filter (where calls.role = 'call') as call_json,
            any_value(calls.name) filter (where calls.role = 'title') as title,
            any_value(calls.name) filter (where calls.role = 'operator') as op_name,
            any_value(tensor_bytes(calls.input_dims, calls.input_types)) filter (
                where calls.role = 'title'
            ) as given,
            -- c10d::_allgather_base_ and its like have the output first, then the input
            any_value(tensor_bytes(calls.input_dims, calls.input_types)) filter (
                where calls.role = 'operator' and ends_with(calls.name, '_base_')
            ) as out_and_in
        from
            (
                kernels
                semi join calls using (source_id)
                cross join (values ('call'), ('operator'), ('title')) as roles(role)
            ) as kernels
        asof join
            (
                -- of those that start together the longest
                from calls
                qualify
                    row_number() over (
                        partition by source_id, role, thread_id, start_ns
                        order by dur_ns desc nulls last, event_id
                    )
                    = 1
            ) as calls
            on calls.source_id = kernels.source_id
            and calls.role = kernels.role
            and calls.thread_id = kernels.launch_thread_id
            and calls.start_ns <= kernels.launch_start_ns
        where calls.start_ns + calls.dur_ns >= kernels.launch_start_ns
        group by kernels.source_id, kernels.event_id
    ),
    -- without kernels: transfers of a library of the host; else the calls, which say nothing of
    -- the time
    hosted as (
        select
            calls.* replace (case when calls.is_transfer then calls.dur_ns end as dur_ns),
            step.step_index,
            step.start_ns + step.dur_ns as step_end_ns
        from calls
        left join
            (
                select source_id
                from kernels
                union
                select source_id
                from calls
                where is_transfer
            ) as better using (source_id)
        asof left join
            (
                from step
                where (wanted_run is null or run_id = wanted_run) and step_kind = 'host'
                qualify
                    row_number() over (
                        partition by source_id, start_ns order by dur_ns desc nulls last, step_index
                    )
                    = 1
            ) as step
            on step.source_id = calls.source_id
            and step.start_ns <= calls.start_ns
        where calls.is_transfer or calls.role = 'call' and better.source_id is null
    ),
    found as (
        select
            kernels.run_id,
            kernels.source_id,
            kernels.event_id,
            kernels.name,
            kernels.kind_of_name,
            kernels.device_id,
            kernels.stream_id,
            kernels.start_ns,
            kernels.dur_ns,
            kernels.step_index,
            true as is_kernel,
            kernels.collective_name,
            kernels.category_name,
            kernels.args_json,
            around.call_json,
            around.title,
            around.op_name,
            around.given,
            around.out_and_in
        from kernels
        left join around using (source_id, event_id)
        union all by name
        select
            run_id,
            source_id,
            event_id,
            name,
            collective_kind(kernel_function(name)) as kind_of_name,
            start_ns,
            dur_ns,
            false as is_kernel,
            case when start_ns < step_end_ns then step_index end as step_index,
            case when role = 'call' then args_json end as call_json,
            name as title,
            tensor_bytes(input_dims, input_types) as given
        from hosted
    ),
    -- what the kernel says goes before what its call says
    said as (
        select
            *,
            case
                when call_json is not null or args_json is not null
                then
                    json_transform(
                        json_merge_patch(
                            case when json_valid(call_json) then call_json else '{}' end,
                            case when json_valid(args_json) then args_json else '{}' end
                        ),
                        '{"Collective name": "VARCHAR", "dtype": "VARCHAR", '
                        || '"In msg nelems": "VARCHAR", "Out msg nelems": "VARCHAR", '
                        || '"Group size": "VARCHAR", "Process Group Name": "VARCHAR", '
                        || '"Process Group ID": "VARCHAR", '
                        || '"Process Group Description": "VARCHAR", '
                        || '"Process Group Ranks": "VARCHAR", "Global rank start": "VARCHAR", '
                        || '"Global rank stride": "VARCHAR", "Seq": "VARCHAR", '
                        || '"Src Rank": "VARCHAR", "Dst Rank": "VARCHAR", "rank": "VARCHAR"}'
                    )
            end as said
        from found
    ),
    typed as (
        select
            said.*,
            -- calls on the host are of no device
            coalesce(device_rank.rank_index, try_cast(said.rank as bigint)) as rank_index,
            coalesce(
                collective_kind(collective_name),
                collective_kind(said."Collective name"),
                collective_kind(title),
                collective_kind(op_name),
                collective_kind(category_name),
                kind_of_name
            ) as kind,
            coalesce(nullif(said."Process Group Name", ''), said."Process Group ID") as group_name,
            nullif(replace(said."Process Group Ranks", ' ', ''), '') as group_ranks,
            try_cast(said."Group size" as bigint) as group_size,
            -- nccl:send 0->1 is the same transfer as nccl:recv 1<-0
            case
                when title like '%:send %->%'
                then regexp_extract(title, '(\d+->\d+)', 1)
                when title like '%:recv %<-%'
                then
                    regexp_replace(regexp_extract(title, '(\d+<-\d+)', 1), '(\d+)<-(\d+)', '\2->\1')
                else said."Src Rank" || '->' || said."Dst Rank"
            end as pair,
            element_bytes(said.dtype) as size_bytes,
            try_cast(said."In msg nelems" as bigint) as in_elements,
            try_cast(said."Out msg nelems" as bigint) as out_elements
        from said
        left join
            (from device_rank where wanted_run is null or run_id = wanted_run) as device_rank
            on device_rank.run_id = said.run_id
            and device_rank.source_id = said.source_id
            and device_rank.device_id is not distinct from said.device_id
    ),
    sized as materialized(
        select
            *,
            coalesce(group_name, group_ranks) is not null as has_group,
            -- sends and receives are numbered on each rank by itself
            case
                when kind in ('send', 'recv') then null else try_cast(said."Seq" as bigint)
            end as sequence,
            case when in_elements >= 0 then try(in_elements * size_bytes) end as said_in_bytes,
            case when out_elements >= 0 then try(out_elements * size_bytes) end as said_out_bytes,
            coalesce(
                out_and_in[2], case when list_count(given) = len(given) then list_sum(given) end
            ) as shaped_in_bytes
        from typed
        where is_kernel or kind is not null
    ),
    -- windows over all calls take long, so what has few distinct values is numbered by itself
    streams as (
        select
            source_id,
            rank_index,
            stream_id,
            row_number() over (
                partition by source_id, rank_index order by stream_id
            ) as stream_number
        from (select distinct source_id, rank_index, stream_id from sized where not has_group)
    ),
    keyed as (
        select
            sized.*,
            said_in_bytes is not null or said_out_bytes is not null as is_said,
            coalesce(
                out_and_in[1],
                case when kind in ('allreduce', 'broadcast', 'reduce') then shaped_in_bytes end
            ) as shaped_out_bytes,
            case
                when has_group and group_ranks not like '%...%'
                then concat_ws(' ', group_name, group_ranks, pair)
                -- not all ranks are named: the first, the distance and the number tell groups of
                -- one name apart
                when has_group
                then
                    concat_ws(
                        ' ',
                        group_name,
                        said."Global rank start",
                        said."Global rank stride",
                        said."Group size",
                        pair
                    )
                else 'stream ' || streams.stream_number
            end as group_key
        from sized
        left join
            streams
            on streams.source_id = sized.source_id
            and streams.rank_index is not distinct from sized.rank_index
            and streams.stream_id is not distinct from sized.stream_id
    )
select
    run_id,
    source_id,
    rank_index,
    event_id,
    kind as collective_kind,
    name,
    group_name as process_group_name,
    said."Process Group Description" as process_group_description,
    group_key,
    case when has_group then 'recorded' else 'stream' end as group_basis,
    group_size as group_size_count,
    pair as pair_text,
    coalesce(
        sequence,
        row_number() over (
            partition by source_id, rank_index, group_key, sequence is null
            order by start_ns, event_id
        )
        - 1
    ) as sequence_index,
    case when sequence is null then 'order' else 'recorded' end as sequence_basis,
    said.dtype as element_type_name,
    case when is_said then said_in_bytes else try_cast(shaped_in_bytes as bigint) end as in_bytes,
    case
        when is_said then said_out_bytes else try_cast(shaped_out_bytes as bigint)
    end as out_bytes,
    case
        when is_said
        then 'recorded'
        when coalesce(shaped_in_bytes, shaped_out_bytes) is not null
        then 'shapes'
    end as bytes_basis,
    device_id,
    stream_id,
    start_ns,
    dur_ns,
    step_index,
    nullif(
        concat_ws(
            '; ',
            case when kind is null then 'kind of collective unknown' end,
            case
                when
                    is_said
                    or coalesce(shaped_in_bytes, shaped_out_bytes) is not null
                    or kind = 'barrier'
                then null
                when coalesce(said."In msg nelems", said."Out msg nelems") is null
                then 'sizes not recorded'
                when size_bytes is null
                then 'bytes of the element type ' || coalesce(said.dtype, '(none)') || ' unknown'
                else 'sizes are no numbers'
            end,
            case
                when dur_ns is null and not is_kernel
                then 'the file has the call on the host, not the transfer'
                when dur_ns is null
                then 'no duration'
            end
        ),
        ''
    ) as reason
from keyed
