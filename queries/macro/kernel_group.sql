-- purpose = "Groups of launches with counters, for reports about kernels: the one place where
-- metrics of launches become those of a group."
-- source = "Zhu 2018 (TBD), eq. 2; Wang Y. 2020 (Time-Based Roofline), eq. 1 and sect. II to IV"
-- needs = ["kernel_counter"]
-- depends = ["grouped_launch", "device_ceiling", "roof_of", "busy_what", "exceeds", "whole_sum",
-- "possible_ratio", "above_peak", "roof_reason"]
-- parameters = "wanted_run wanted_phase grouping_kind-launches wanted_label convention
-- wanted_ceiling-launches
-- wanted_level given_launch_ns latency_below"
-- wanted_level = "VARCHAR: the memory that intensity is at: dram, l2 or l1"
-- given_launch_ns = "DOUBLE: time of one launch; NULL for the time of the device"
-- latency_below = "DOUBLE: share of the time below which no roof limits"
-- columns = "group_name-launches owner_id launch_event launch_index-launch group_number
-- launch_count kernel_count-names total_ns mean_ns share_ratio work_flop utilization_ratio
-- average_ratio is_below_average known_time_ratio ceiling_name-mixed peak_flop_per_s-mean
-- peak_source reason fp32_utilization_ratio total_flop other_flop total_bytes-level
-- intensity_flop_per_byte-known achieved_flop_per_s achieved_bytes_per_s tensor_share_ratio
-- zero_launch_count zero_ns is_known unknown_time_ratio compute_ns dram_ns overhead_ns
-- overhead_time_ratio bound_kind-launches nearest_name-launches roof_ratio-overhead
-- bound_reason-longest missing_metrics-launches occupancy_ratio-mean
-- compute_throughput_ratio-mean memory_throughput_ratio-mean"
-- work_flop = "operations of the ceiling's kind that are known"
-- is_below_average = "BOOLEAN: utilization_ratio < average_ratio, not by rounding alone"
-- is_known = "BOOLEAN: all operations of all launches are known"
with
    -- worked out once, as the expressions of work are long
    chosen as materialized(
        select
            *,
            case
                wanted_level
                when 'dram'
                then dram_bytes
                when 'l2'
                then coalesce(l2_paper_bytes, l2_vendor_bytes)
                else coalesce(l1_paper_bytes, l1_vendor_bytes)
            end as traffic_bytes,
            case
                when work_flop is null
                then work_reason
                when dur_ns is null
                then 'duration: ' || dur_reason
                when dur_ns = 0
                then 'duration of zero'
                when peak is null and device_name is null
                then 'device unknown'
                when peak is null
                then 'no peak for this device'
            end as reason
        from
            grouped_launch(
                wanted_run, wanted_phase, grouping_kind, wanted_label, wanted_ceiling, convention
            )
    ),
    parts as (
        select
            run_id,
            source_id,
            device_id,
            name,
            group_name,
            owner_id,
            launch_event,
            ceiling_name,
            any_value(group_number) as group_number,
            any_value(launch_index) as launch_index,
            sum(launch_count) as launch_count,
            sum(dur_ns) as total_ns,
            sum(launch_count) filter (where dur_ns is not null) as timed_launch_count,
            bool_and(dur_ns is not null) as is_timed,
            bool_and(all_flop is not null) as is_known,
            cast(sum(all_flop) as double) as total_flop,
            cast(sum(other_flop) as double) as other_flop,
            cast(sum(tensor_flop) as double) as tensor_flop,
            cast(sum(traffic_bytes) as double) as total_bytes,
            cast(sum(all_flop) filter (where traffic_bytes > 0) as double) as moving_flop,
            cast(sum(traffic_bytes) filter (where all_flop is not null) as double) as working_bytes,
            cast(sum(all_flop) filter (where dur_ns > 0) as double) as timed_flop,
            sum(dur_ns) filter (where all_flop is not null) as flop_ns,
            cast(sum(traffic_bytes) filter (where dur_ns > 0) as double) as timed_bytes,
            sum(dur_ns) filter (where traffic_bytes is not null) as bytes_ns,
            sum(launch_count) filter (where all_flop = 0) as zero_launch_count,
            sum(dur_ns) filter (where all_flop = 0) as zero_ns,
            cast(sum(work_flop) as double) as work_flop,
            cast(sum(work_flop) filter (where reason is null) as double) as known_flop,
            sum(peak * dur_ns) filter (where reason is null) as roof,
            sum(dur_ns) filter (where reason is null) as known_ns,
            arg_min(reason, (- coalesce(dur_ns, 0), reason)) as reason,
            max(coalesce(dur_ns, 0)) filter (where reason is not null) as reason_ns,
            cast(
                sum(fp32_flop) filter (where fp32_flop_per_s is not null and dur_ns > 0) as double
            ) as fp32_flop,
            sum(fp32_flop_per_s * dur_ns) filter (where fp32_flop is not null) as fp32_roof,
            whole_sum(columns('^(compute|dram|l2|l1|overhead)_ns$')) as "\0",
            arg_min(bound_reason, (- coalesce(dur_ns, 0), bound_reason)) filter (
                where bound_kind is null
            ) as bound_reason,
            max(coalesce(dur_ns, 0)) filter (where bound_kind is null) as bound_reason_ns,
            arg_min(missing_metrics, (- coalesce(dur_ns, 0), missing_metrics)) as missing_metrics,
            sum(occupancy_ratio * dur_ns) as occupancy_sum,
            sum(dur_ns) filter (where occupancy_ratio is not null) as occupancy_ns,
            sum(compute_throughput_ratio * dur_ns) as compute_throughput_sum,
            sum(dur_ns) filter (
                where compute_throughput_ratio is not null
            ) as compute_throughput_ns,
            sum(memory_throughput_ratio * dur_ns) as memory_throughput_sum,
            sum(dur_ns) filter (where memory_throughput_ratio is not null) as memory_throughput_ns
        from chosen
        group by
            run_id, source_id, device_id, name, group_name, owner_id, launch_event, ceiling_name
    ),
    sourced as (
        select
            parts.*,
            case
                when device_ceiling.value is not null
                then device_ceiling.source_text
                when parts.roof is not null
                then 'the report: peak_sustained x clock'
            end as peak_source
        from parts
        left join
            device_ceiling
            on device_ceiling.run_id = parts.run_id
            and device_ceiling.source_id = parts.source_id
            and device_ceiling.device_id is not distinct from parts.device_id
            and device_ceiling.ceiling_kind = 'compute'
            and device_ceiling.ceiling_name = parts.ceiling_name
            and (wanted_run is null or device_ceiling.run_id = wanted_run)
    ),
    grouped as (
        select
            group_name,
            owner_id,
            launch_event,
            any_value(group_number) as group_number,
            case when grouping_kind = 'launch' then any_value(launch_index) end as launch_index,
            cast(sum(launch_count) as bigint) as launch_count,
            count(distinct name) as kernel_count,
            cast(sum(total_ns) as bigint) as total_ns,
            ratio(sum(total_ns), sum(timed_launch_count)) as mean_ns,
            bool_and(is_timed) as is_timed,
            bool_and(is_known) as is_known,
            sum(total_flop) as total_flop,
            sum(other_flop) as other_flop,
            sum(total_bytes) as total_bytes,
            ratio(sum(moving_flop), sum(working_bytes)) as intensity_flop_per_byte,
            ratio(sum(timed_flop) * 1e9, sum(flop_ns)) as achieved_flop_per_s,
            ratio(sum(timed_bytes) * 1e9, sum(bytes_ns)) as achieved_bytes_per_s,
            case
                when bool_and(is_known) then ratio(sum(tensor_flop), sum(total_flop))
            end as tensor_share_ratio,
            cast(sum(zero_launch_count) as bigint) as zero_launch_count,
            cast(sum(zero_ns) as bigint) as zero_ns,
            ratio(sum(total_ns) - coalesce(sum(flop_ns), 0), sum(total_ns)) as unknown_time_ratio,
            sum(work_flop) as work_flop,
            sum(known_flop) as known_flop,
            sum(roof) as roof,
            sum(known_ns) as known_ns,
            arg_min(reason, (- reason_ns, reason)) as reason,
            -- that of launches that did nothing is no other one
            coalesce(
                case
                    when count(distinct ceiling_name) filter (where work_flop > 0) > 1 then 'mixed'
                end,
                min(ceiling_name) filter (where work_flop > 0),
                min(ceiling_name)
            ) as ceiling_name,
            coalesce(
                arg_min(peak_source, (- total_ns, peak_source)) filter (where work_flop > 0),
                arg_min(peak_source, (- coalesce(total_ns, 0), peak_source))
            ) as peak_source,
            ratio(sum(fp32_flop) * 1e9, sum(fp32_roof)) as fp32_utilization_ratio,
            whole_sum(columns('^(compute|dram|l2|l1)_ns$')) as "\0",
            coalesce(given_launch_ns * sum(launch_count), whole_sum(overhead_ns)) as overhead_ns,
            arg_min(bound_reason, (- bound_reason_ns, bound_reason)) as bound_reason,
            arg_min(missing_metrics, (- bound_reason_ns, missing_metrics)) as missing_metrics,
            ratio(sum(occupancy_sum), sum(occupancy_ns)) as occupancy_ratio,
            ratio(
                sum(compute_throughput_sum), sum(compute_throughput_ns)
            ) as compute_throughput_ratio,
            ratio(sum(memory_throughput_sum), sum(memory_throughput_ns)) as memory_throughput_ratio
        from sourced
        group by group_name, owner_id, launch_event
    ),
    compared as (
        select
            *,
            ratio(known_flop * 1e9, roof) as utilization_ratio,
            ratio(sum(known_flop) over () * 1e9, sum(roof) over ()) as average_ratio,
            ratio(total_ns, sum(total_ns) over ()) as share_ratio,
            case when is_timed then total_ns end as timed_ns,
            busy_what(compute_throughput_ratio, memory_throughput_ratio, latency_below) as busy_name
        from grouped
    ),
    bounded as (
        select
            *,
            unnest(
                roof_of(
                    compute_ns,
                    dram_ns,
                    l2_ns,
                    l1_ns,
                    overhead_ns,
                    timed_ns,
                    busy_name,
                    latency_below
                )
            )
        from compared
    )
select
    group_name,
    owner_id,
    launch_event,
    launch_index,
    group_number,
    launch_count,
    kernel_count,
    total_ns,
    mean_ns,
    share_ratio,
    work_flop,
    possible_ratio(known_flop * 1e9, roof) as utilization_ratio,
    average_ratio,
    exceeds(average_ratio, utilization_ratio) as is_below_average,
    ratio(known_ns, total_ns) as known_time_ratio,
    ceiling_name,
    ratio(roof, known_ns) as peak_flop_per_s,
    peak_source,
    case
        when bounded.utilization_ratio is null
        then reason
        else
            above_peak(
                bounded.utilization_ratio,
                'operations (measured)',
                'the peak ' || ceiling_name || coalesce(' (' || peak_source || ')', '')
            )
    end as reason,
    possible_ratio(fp32_utilization_ratio, 1) as fp32_utilization_ratio,
    total_flop,
    other_flop,
    total_bytes,
    intensity_flop_per_byte,
    achieved_flop_per_s,
    achieved_bytes_per_s,
    tensor_share_ratio,
    zero_launch_count,
    zero_ns,
    is_known,
    unknown_time_ratio,
    compute_ns,
    dram_ns,
    overhead_ns,
    ratio(overhead_ns, timed_ns) as overhead_time_ratio,
    nearest_name,
    bound_kind,
    possible_ratio(bounded.roof_ratio, 1) as roof_ratio,
    case
        when bound_kind is not null
        then roof_reason(bounded.roof_ratio, nearest_name, timed_ns)
        when compute_ns is null
        then coalesce(bound_reason, 'no peak for this device')
        else coalesce(bound_reason, 'duration unknown')
    end as bound_reason,
    missing_metrics,
    occupancy_ratio,
    compute_throughput_ratio,
    memory_throughput_ratio
from bounded
