-- purpose = "Idle time of each device by cause and by the operator that launched the next work,
-- with what the host did in the longest gap; of devices with at least a tenth of the work of the
-- busiest."
-- source = "docs/metrics.md, section gaps"
-- needs = ["attribution"]
-- depends = ["gap_part", "device_work", "work_total"]
-- is_kept = true
-- parameters = "wanted_run-one wanted_phase"
-- columns = "source_id-rank device_id elapsed_ns-steps idle_kind op_name gap_count part_ns
-- longest_ns host_name reason"
-- idle_kind = "VARCHAR: data_loading, compile, synchronisation, host, launch and not_recorded as in
-- gap_part; stall: host, for 1 ms or more; slow_launch: in a launch call, for 1 ms or more;
-- between:
-- queued in time, before work below 10 µs; queued: before longer work; unexplained: unknown, or
-- queued in time for 1 ms or more"
-- op_name = "operator that launched the next work; without one, that work"
-- gap_count = "BIGINT: gaps with this cause before it"
-- part_ns = "BIGINT: their idle time of this cause"
-- longest_ns = "BIGINT: idle time of this cause in the longest of them"
-- host_name = "VARCHAR: what the launching thread was in, in the middle of the longest: the
-- innermost slice with a name of its own; NULL if none"
-- reason = "for unexplained: why, for most of the time"
with
    limits as (select 1000000 as long_ns, 10000 as short_ns),
    -- a device that hardly works would be the one with the most idle time
    used as (
        select source_id, device_id
        from
            (
                select source_id, device_id, sum(work_count) as device_work_count
                from work_total
                where run_id = wanted_run
                group by source_id, device_id
            )
        qualify 10 * device_work_count >= max(device_work_count) over ()
    ),
    told as (
        select
            parts.source_id,
            parts.device_id,
            parts.elapsed_ns,
            parts.gap_kind,
            parts.part_start_ns,
            parts.part_ns,
            parts.reason,
            coalesce(work.op_name, work.name) as op_name,
            work.launch_thread_id,
            work.end_ns - work.start_ns as next_ns,
            parts.call_ns,
            parts.part_ns - parts.call_ns as delay_ns,
            long_ns,
            short_ns
        from gap_part(wanted_run, wanted_phase) as parts
        cross join limits
        semi join
            used
            on used.source_id = parts.source_id
            and used.device_id is not distinct from parts.device_id
        left join
            device_work as work
            on work.run_id = wanted_run
            and work.source_id = parts.source_id
            and work.event_id = parts.next_event_id
    ),
    parts as (
        select
            * exclude (part_ns, reason),
            case
                when gap_kind = 'launch' and call_ns >= long_ns then call_ns else part_ns
            end as part_ns,
            case
                when gap_kind = 'host' and part_ns >= long_ns
                then 'stall'
                when gap_kind = 'launch' and call_ns >= long_ns
                then 'slow_launch'
                when
                    gap_kind in (
                        'data_loading',
                        'compile',
                        'synchronisation',
                        'host',
                        'launch',
                        'not_recorded'
                    )
                then gap_kind
                when gap_kind = 'unknown' or part_ns >= long_ns
                then 'unexplained'
                when next_ns < short_ns
                then 'between'
                else 'queued'
            end as idle_kind,
            case
                when idle_kind = 'unexplained'
                then coalesce(reason, 'launched before the gap began')
            end as reason,
            part_start_ns
            + (case when idle_kind = 'slow_launch' then call_ns else part_ns end >> 1) as middle_ns
        from told
        union all by name
        select
            * exclude (part_ns, reason), delay_ns as part_ns, 'launch' as idle_kind, null as reason
        from told
        where gap_kind = 'launch' and call_ns >= long_ns
    ),
    grouped as materialized(
        select
            source_id,
            device_id,
            any_value(elapsed_ns) as elapsed_ns,
            idle_kind,
            op_name,
            count(*) as gap_count,
            cast(sum(part_ns) as bigint) as part_ns,
            max(part_ns) as longest_ns,
            arg_min(launch_thread_id, (- part_ns, middle_ns)) as thread_id,
            arg_min(middle_ns, (- part_ns, middle_ns)) as middle_ns,
            arg_min(reason, (- part_ns, middle_ns, reason)) as reason
        from parts
        where part_ns > 0
        group by source_id, device_id, idle_kind, op_name
    ),
    -- few: each is looked for among all slices
    longest as (
        select *
        from grouped
        where idle_kind in ('stall', 'data_loading', 'compile', 'synchronisation', 'slow_launch')
        qualify
            row_number() over (
                partition by source_id, device_id order by longest_ns desc, idle_kind, op_name
            )
            <= 8
    ),
    hosts as (
        select
            longest.source_id,
            longest.device_id,
            longest.idle_kind,
            longest.op_name,
            arg_max(slice.name, (slice.start_ns, - slice.dur_ns, slice.event_id)) as host_name
        from longest
        join
            slice
            on slice.run_id = wanted_run
            and slice.source_id = longest.source_id
            and slice.thread_id = longest.thread_id
            and slice.start_ns <= longest.middle_ns
            and slice.start_ns + slice.dur_ns > longest.middle_ns
        where slice.slice_kind in ('op', 'annotation', 'python', 'runtime', 'driver')
        group by longest.source_id, longest.device_id, longest.idle_kind, longest.op_name
    )
select
    grouped.source_id,
    grouped.device_id,
    grouped.elapsed_ns,
    grouped.idle_kind,
    grouped.op_name,
    grouped.gap_count,
    grouped.part_ns,
    grouped.longest_ns,
    hosts.host_name,
    grouped.reason
from grouped
left join
    hosts
    on hosts.source_id = grouped.source_id
    and hosts.device_id is not distinct from grouped.device_id
    and hosts.idle_kind = grouped.idle_kind
    and hosts.op_name is not distinct from grouped.op_name
