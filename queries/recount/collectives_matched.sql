-- purpose = "Collectives that are recorded on all ranks transfer for as long as on the quickest."
-- source = "NVIDIA nccl-tests, doc/PERFORMANCE.md"
-- report = "collectives"
-- keys = ["collective_kind", "size_bytes", "group_size_count", "reason"]
-- options.by = ["size", "kind"]
-- needs = ["kernel"]
-- is_partial = true
-- skips_unknown = true
with
    told as (
        select
            kernel.* replace (least(kernel.dur_ns, possible_ns) as dur_ns),
            args_json::json as args,
            coalesce(of_file.rank_index, of_device.rank_index) as call_rank,
            map{
                'allreduce':'allreduce',
                '_allgather_base':'allgather',
                'allgather':'allgather',
                'allgather_into_tensor_coalesced':'allgather',
                '_reduce_scatter_base':'reduce_scatter',
                'reduce_scatter':'reduce_scatter',
                'reduce_scatter_tensor_coalesced':'reduce_scatter',
                'all_to_all':'all_to_all',
                'all_to_allv':'all_to_all',
                'broadcast':'broadcast',
                'reduce':'reduce',
                'gather':'gather',
                'barrier':'barrier',
                'coalesced':''
            }[collective_name] as kind,
            args ->> 'Process Group Name' || (args ->> 'Process Group Ranks') as group_text,
            (args ->> 'Group size')::bigint as group_size,
            (args ->> 'Seq')::bigint as number,
            if(
                kind = 'barrier',
                null,
                greatest(
                    (args ->> 'In msg nelems')::bigint,
                    (args ->> 'Out msg nelems')::bigint
                ) * case
                    args ->> 'dtype'
                    when 'Float'
                    then 4
                    when 'BFloat16'
                    then 2
                    when 'Half'
                    then 2
                    when 'Byte'
                    then 1
                    when 'Long'
                    then 8
                    when 'Int'
                    then 4
                end
            ) as bytes
        from kernel
        left join
            (
                select source_id, event_id, dur_ns as possible_ns
                from attribution
                where run_id = $run_id
            ) as work using (source_id, event_id)
        left join (from source_file where run_id = $run_id) as of_file using (source_id)
        left join
            (
                select source_id, device_id, min(rank_index) as rank_index
                from device
                where run_id = $run_id
                group by source_id, device_id
            ) as of_device using (source_id, device_id)
        where
            kernel.run_id = $run_id and (collective_name is not null or kernel.name ilike '%nccl%')
        -- all are recorded, and each rank has one file
        qualify
            bool_and(
                kind is not null
                and call_rank is not null
                and group_text is not null
                and group_size is not null
                and number is not null
            ) over ()
            and count(*) over () = count(distinct(call_rank, group_text, number)) over ()
    ),
    one as (
        select
            group_text,
            number,
            any_value(nullif(kind, '')) as kind,
            any_value(group_size) as group_size,
            max(bytes) as bytes,
            count(*) as calls,
            count(dur_ns) as timed,
            min(dur_ns) as least_ns,
            max(dur_ns) as most_ns,
            sum(dur_ns) as sum_ns,
            case
                when calls < any_value(group_size)
                then calls || ' of ' || any_value(group_size) || ' ranks are in the run'
                when timed < calls
                then 'a rank has no time'
            end as apart
        from told
        group by group_text, number
        having count(distinct kind) = 1 and calls <= any_value(group_size)
    ),
    summed as (
        select
            kind,
            if($by = 'kind', null, bytes) as bytes,
            bool_or(bytes is not null) as has_bytes,
            group_size,
            apart,
            if(apart is null, count(*), sum(calls)) as call_count,
            sum(if(apart is null, least_ns, null)) as quickest_ns,
            sum(bytes) as moved_bytes,
            sum(timed) as timed_count,
            min(least_ns) as min_ns,
            max(most_ns) as max_ns,
            sum(sum_ns) as total_ns
        from one
        group by 1, 2, group_size, apart
    )
select
    kind as collective_kind,
    bytes as size_bytes,
    group_size as group_size_count,
    coalesce(
        apart,
        case
            when kind = 'barrier'
            then 'moves nothing'
            when quickest_ns = 0
            then 'shorter than the clock can tell'
            when kind is null
            then 'no factor for this kind'
        end
    ) as reason,
    call_count,
    moved_bytes / nullif(quickest_ns, 0) * 1e9 as algorithm_bytes_per_s,
    algorithm_bytes_per_s * case
        when kind = 'allreduce'
        then 2 - 2 / group_size
        when kind in ('broadcast', 'reduce')
        then 1
        when kind is not null
        then 1 - 1 / group_size
    end as bus_bytes_per_s,
    quickest_ns / call_count as transfer_ns,
    total_ns / timed_count as mean_ns,
    min_ns,
    max_ns,
    total_ns,
    total_ns - quickest_ns * group_size as wait_ns,
    wait_ns / nullif(total_ns, 0) as wait_ratio
from summed
where has_bytes or kind = 'barrier'
