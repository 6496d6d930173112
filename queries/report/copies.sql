-- purpose = "Copies and memsets by direction, host memory and size: number, time, bytes and
-- bandwidth."
-- source = "NVIDIA CUDA C++ Best Practices Guide, sect. Data Transfer Between Host and Device
-- (pinned memory, batching of small transfers); docs/metrics.md, section copies"
-- topic = "time"
-- needs = ["transfer"]
-- depends = ["chosen_step", "whole_sum", "kernel_launch", "mended_time"]
-- parameters = "run_id phase by"
-- phase = "all, stable or N..M: only copies launched in these steps"
-- by = {doc = "what a row is: size (direction, host memory and size class) or direction
-- (direction and host memory)", default = "size", choices = ["size", "direction"]}
-- columns = "direction_kind host_memory_kind size_class achieved_bytes_per_s total_ns
-- transfer_count share_ratio work_share_ratio fastest_bytes_per_s mean_ns min_ns max_ns
-- total_bytes unknown_count
-- reason"
-- answer = "achieved_bytes_per_s total_ns share_ratio"
-- direction_kind = "VARCHAR: host_to_device, device_to_host, device_to_device, host_to_host or
-- memset; NULL if unknown"
-- host_memory_kind = "VARCHAR: pageable, pinned or managed memory of the host; NULL if unknown,
-- or without host memory"
-- size_class = "VARCHAR: size of one copy, from the first value to below the second; NULL if
-- unknown, or for by=direction"
-- total_ns = "sum of the durations; copies that overlap each count in full"
-- work_share_ratio = "DOUBLE: total_ns / sum of the durations of all kernels, copies and memsets
-- of the run
-- or of these steps"
-- achieved_bytes_per_s = "bytes / time, over copies with known size and duration"
-- fastest_bytes_per_s = "DOUBLE: bandwidth of the fastest copy in the row"
-- total_bytes = "BIGINT: bytes moved or set; NULL unless all sizes are known"
-- unknown_count = "copies with unknown size or duration: not in the bandwidth"
-- reason = "why there is no bandwidth"
with
    of_steps as (
        select source_id, event_id
        from attribution
        join chosen_step($run_id, $phase) using (run_id, source_id)
        where run_id = $run_id and step_index between first_step_index and last_step_index
    ),
    copies as (
        select
            case
                when transfer_kind = 'memset' then 'memset' else direction_kind
            end as direction_kind,
            case
                when contains(direction_kind, 'host')
                then
                    nullif(
                        lower(
                            regexp_extract(
                                concat_ws(' ', name, args_json),
                                '(?i)(?:\(|-> |memtype":")(pageable|pinned|managed)\b',
                                1
                            )
                        ),
                        ''
                    )
            end as host_memory_kind,
            case
                when $by = 'direction' or size_bytes is null
                then null
                when size_bytes < 4096
                then 0
                when size_bytes < 65536
                then 1
                when size_bytes < 1048576
                then 2
                when size_bytes < 16777216
                then 3
                else 4
            end as class_index,
            size_bytes,
            dur_ns,
            coalesce(transfer_count, 1) as row_count,
            case when row_count = 1 then dur_ns else min_ns end as shortest_ns,
            case when row_count = 1 then dur_ns else max_ns end as longest_ns,
            size_bytes is not null and dur_ns is not null as is_known
        from
            (
                select
                    transfer.* replace (
                        case
                            when is_mended then mended_time.dur_ns else transfer.dur_ns
                        end as dur_ns
                    )
                from transfer
                left join mended_time using (run_id, source_id, event_id)
                where run_id = $run_id
            )
        where
            $phase = 'all' or (source_id, event_id) in (select (source_id, event_id) from of_steps)
        -- a summary beside a timeline has the same copies again
        qualify transfer_count is null or not bool_or(transfer_count is null) over ()
    ),
    kernels as (
        select sum(dur_ns) as kernel_ns
        from kernel_launch
        where
            run_id = $run_id
            and (
                $phase = 'all'
                or (source_id, event_id) in (select (source_id, event_id) from of_steps)
            )
    ),
    grouped as (
        select
            direction_kind,
            host_memory_kind,
            class_index,
            cast(sum(row_count) as bigint) as transfer_count,
            cast(sum(dur_ns) as bigint) as total_ns,
            ratio(sum(dur_ns), sum(row_count) filter (where dur_ns is not null)) as mean_ns,
            min(shortest_ns) as min_ns,
            max(longest_ns) as max_ns,
            cast(whole_sum(size_bytes) as bigint) as total_bytes,
            cast(
                coalesce(sum(row_count) filter (where not is_known), 0) as bigint
            ) as unknown_count,
            sum(size_bytes) filter (where is_known) as known_bytes,
            sum(dur_ns) filter (where is_known) as known_ns,
            max(ratio(size_bytes * 1e9, dur_ns)) filter (where row_count = 1) as fastest_bytes_per_s
        from copies
        group by direction_kind, host_memory_kind, class_index
    )
select
    direction_kind,
    host_memory_kind,
    ['0 B to 4 KiB', '4 KiB to 64 KiB', '64 KiB to 1 MiB', '1 MiB to 16 MiB', '16 MiB and more'][
        class_index + 1
    ] as size_class,
    ratio(known_bytes * 1e9, known_ns) as achieved_bytes_per_s,
    total_ns,
    transfer_count,
    ratio(total_ns, sum(total_ns) over ()) as share_ratio,
    ratio(total_ns, sum(total_ns) over () + coalesce(kernel_ns, 0)) as work_share_ratio,
    fastest_bytes_per_s,
    mean_ns,
    min_ns,
    max_ns,
    total_bytes,
    unknown_count,
    case
        when known_bytes is null
        then 'no copy with known size and duration'
        when known_ns = 0
        then 'shorter than the clock can tell'
    end as reason
from grouped
cross join kernels
order by
    direction_kind is not distinct from 'memset',
    sum(total_ns) over (partition by direction_kind, host_memory_kind) desc nulls last,
    direction_kind,
    host_memory_kind,
    class_index
