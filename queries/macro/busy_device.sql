-- purpose = "Busy time of each device in some steps, and FP32 operations of its kernels (joined
-- counters, else those of the run)."
-- source = "Zhu 2018 (TBD), eq. 1 and 2; docs/metrics.md, section gpu_utilization"
-- needs = ["attribution"]
-- depends = ["work_in_window", "device_time", "work_by_name", "joined_bound", "device_peak",
-- "whole_sum"]
-- parameters = "wanted_run wanted_phase"
-- columns = "run_id source_id-rank device_id elapsed_ns busy_ns busy_with_transfers_ns
-- compute_ns-busy sum_ns-kernels overlapping_count kernel_count-timed fp32_flop-run
-- fp32_flop_per_s fp32_reason-utilization fp32_known_ratio peak_ns"
-- peak_ns = "DOUBLE: time of all operations at the peak of their precision (joined counters);
-- NULL unless all known"
with
    busy as (
        select
            run_id,
            source_id,
            device_id,
            any_value(elapsed_ns) as elapsed_ns,
            cast(
                sum(exposed_ns) filter (where work_class in ('compute', 'communication')) as bigint
            ) as busy_ns,
            cast(sum(exposed_ns) as bigint) as busy_with_transfers_ns,
            any_value(union_ns) filter (where work_class = 'compute') as compute_ns,
            cast(
                sum(sum_ns) filter (where work_class in ('compute', 'communication')) as bigint
            ) as sum_ns,
            cast(sum(overlapping_count) as bigint) as overlapping_count,
            cast(
                sum(work_count) filter (where work_class in ('compute', 'communication')) as bigint
            ) as kernel_count
        from device_time(wanted_run, wanted_phase)
        group by run_id, source_id, device_id
    ),
    -- of a launch that was joined to counters by these, else by the counters of its name in the
    -- same run
    worked as (
        select
            here.run_id,
            here.source_id,
            here.device_id,
            sum(coalesce(joined.fp32_flop, work.fp32_flop)) as known_flop,
            count(*) filter (
                where coalesce(joined.fp32_flop, work.fp32_flop) is null
            ) as unknown_count,
            sum(here.end_ns - here.start_ns) filter (
                where coalesce(joined.fp32_flop, work.fp32_flop) is not null
            ) as known_ns,
            sum(here.end_ns - here.start_ns) as all_ns,
            bool_or(joined.is_matched) as is_joined,
            whole_sum(joined.compute_ns) as peak_ns
        from work_in_window(wanted_run, wanted_phase) as here
        left join
            (from joined_bound where wanted_run is null or run_id = wanted_run) as joined
            on joined.run_id = here.run_id
            and joined.source_id = here.source_id
            and joined.event_id = here.event_id
        left join
            work_by_name(wanted_run) as work
            on work.run_id = here.run_id
            and work.name = here.name
            and joined.event_id is null
        where here.work_class in ('compute', 'communication')
        group by here.run_id, here.source_id, here.device_id
    ),
    held as (
        select
            busy.*,
            case
                when worked.unknown_count = 0 or worked.is_joined then worked.known_flop
            end as fp32_flop,
            device_peak.fp32_flop_per_s,
            case
                when worked.known_flop is null
                then 'operations: not_collected'
                when worked.unknown_count > 0
                then
                    case
                        when worked.is_joined and device_peak.fp32_flop_per_s is not null
                        then 'at least: '
                        else ''
                    end
                    || 'operations of '
                    || worked.unknown_count
                    || ' of '
                    || busy.kernel_count
                    || ' kernels unknown'
                when device_peak.fp32_flop_per_s is null
                then 'no peak for this device'
            end as fp32_reason,
            case
                when worked.known_flop is not null then ratio(worked.known_ns, worked.all_ns)
            end as fp32_known_ratio,
            worked.peak_ns
        from busy
        -- without kernels their time is not known, not 0
        join
            worked
            on worked.run_id = busy.run_id
            and worked.source_id = busy.source_id
            and worked.device_id is not distinct from busy.device_id
        left join
            (from device_peak where wanted_run is null or run_id = wanted_run) as device_peak
            on device_peak.run_id = busy.run_id
            and device_peak.source_id = busy.source_id
            and device_peak.device_id is not distinct from busy.device_id
    )
from held
