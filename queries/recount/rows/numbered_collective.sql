-- purpose = "Collectives whose number, group and bytes are recorded, of runs that record them of
-- all."
-- upon = "kernel_kind"
with
    told as (
        select
            kernel.* replace (least(kernel.dur_ns, possible_ns) as dur_ns),
            args_json::json as args,
            coalesce(of_file.rank_index, of_device.rank_index) as rank_index
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
                group by all
            ) as of_device using (source_id, device_id)
        where
            kernel.run_id = $run_id and (collective_name is not null or kernel.name ilike '%nccl%')
    )
select
    source_id,
    device_id,
    event_id,
    start_ns,
    dur_ns,
    rank_index,
    case
        when collective_name ilike '%allreduce%'
        then 'allreduce'
        when collective_name ilike '%gather%'
        then 'allgather'
        else 'reduce_scatter'
    end as collective_kind,
    args ->> 'Process Group Name' || (args ->> 'Process Group Ranks') as group_text,
    (args ->> 'Group size')::bigint as group_size,
    (args ->> 'Seq')::bigint as number,
    greatest((args ->> 'In msg nelems')::bigint, (args ->> 'Out msg nelems')::bigint) * case
        args ->> 'dtype' when 'Float' then 4 when 'BFloat16' then 2 when 'Half' then 2
    end as size_bytes
from told
qualify
    bool_and(
        collective_name is not null
        and regexp_matches(collective_name, '(?i)allreduce|_?allgather|reduce_scatter')
        and rank_index is not null
        and group_text is not null
        and number is not null
        and size_bytes is not null
        and dur_ns > 0
    ) over ()
