-- purpose = "Lower and upper bounds of launch overhead from the timeline, and N launches x the
-- time of one launch."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II and III: launch overhead N L;
-- docs/metrics.md, section launch_bounds"
-- topic = "time"
-- needs = ["attribution"]
-- depends = ["device_work", "step_window", "recorded_gap", "work_place", "work_by_name",
-- "device_peak",
-- "device_rank", "whole_sum", "shared_by_all", "missing_launches"]
-- parameters = "run_id phase by launch_overhead_ns"
-- by = {doc = "what a row is: device (per source) or name (a kernel, over all devices and
-- sources)", default = "device", choices = ["device", "name"]}
-- columns = "rank_index device_id name lower_ratio upper_ratio lower_ns upper_ns launch_count
-- coverage_ratio mean_launch_ns launches_per_step mean_queue_depth max_queue_depth mean_delay_ns
-- call_ns delay_ns overhead_ns-launches per_launch_ns kernel_count graph_launch_count
-- coverage_time_ratio negative_delay_count disagreeing_count elapsed_ns total_flop
-- overhead_ceiling_flop_per_s reason overhead_reason source_id-rank"
-- answer = "lower_ratio upper_ratio"
-- name = "for by=name: kernel; a graph launch counts for its first kernel"
-- lower_ratio = "DOUBLE: lower_ns / elapsed_ns"
-- upper_ratio = "DOUBLE: upper_ns / elapsed_ns; above 1 if calls overlap with work or each other"
-- lower_ns = "BIGINT: device idle time during the launch call of the next kernel, without time in
-- which work without a record can have run"
-- upper_ns = "BIGINT: call_ns + delay_ns"
-- launch_count = "N: launch calls; a graph launch counts once"
-- coverage_ratio = "DOUBLE: share of the kernels with a launch in the file"
-- mean_launch_ns = "DOUBLE: call_ns / launch_count"
-- launches_per_step = "DOUBLE: launch calls in steps / steps with launches"
-- mean_delay_ns = "DOUBLE: mean time from the end of a call to the start of its first kernel,
-- including waits for other work; without negative delays"
-- call_ns = "BIGINT: sum of the durations of the launch calls"
-- delay_ns = "BIGINT: time from the end of a call to the start of its first kernel, while the
-- device was idle"
-- graph_launch_count = "BIGINT: calls that launched several kernels, copies or memsets"
-- coverage_time_ratio = "DOUBLE: share of the kernel time with a launch in the file"
-- negative_delay_count = "BIGINT: calls whose first kernel started before they returned (no delay)"
-- disagreeing_count = "BIGINT: calls whose first kernel started before the call: host and device
-- clocks disagree"
-- elapsed_ns = "time of the steps; for by=name, summed over devices"
-- total_flop = "operations, FP16 packed, by counters of the run; NULL unless known for every
-- kernel"
-- overhead_reason = "VARCHAR: why overhead_ns or the ceiling is NULL"
with
    windows as materialized(select * from step_window($run_id, $phase)),
    kernels as materialized(
        select
            kernel.source_id,
            kernel.device_id,
            kernel.event_id,
            kernel.name,
            kernel.start_ns,
            kernel.end_ns,
            kernel.launch_event_id,
            kernel.launch_start_ns,
            kernel.launch_end_ns,
            kernel.launch_work_count,
            kernel.step_index,
            devices.place_index as device_index,
            windows.end_ns - windows.start_ns as elapsed_ns,
            case
                when kernel.launch_end_ns is not null
                then greatest(kernel.launch_end_ns, windows.start_ns)
            end as queued_ns,
            case when $by = 'device' then kernel.source_id end as place_source,
            case when $by = 'device' then kernel.device_id end as place_device,
            case when $by = 'name' then kernel.name end as place_name
        from device_work as kernel
        join windows on windows.source_id = kernel.source_id
        join
            work_place($run_id) as devices
            on devices.source_id = kernel.source_id
            and devices.device_id is not distinct from kernel.device_id
        where
            kernel.run_id = $run_id
            and kernel.work_kind = 'kernel'
            and (
                windows.first_step_index is null
                or (kernel.start_ns >= windows.start_ns and kernel.start_ns < windows.end_ns)
            )
    ),
    -- a number for what a row stands for: names are long
    places as materialized(
        select *, row_number() over () as place_index
        from (select distinct place_source, place_device, place_name from kernels)
    ),
    timed as materialized(
        select kernels.*, places.place_index, idle.call_ns as in_flight_ns, idle.delay_ns
        from kernels
        join
            places
            on places.place_source is not distinct from kernels.place_source
            and places.place_device is not distinct from kernels.place_device
            and places.place_name is not distinct from kernels.place_name
        left join
            (
                select
                    source_id,
                    next_event_id,
                    sum(call_ns) as call_ns,
                    sum(gap_end_ns - host_end_ns - call_ns) filter (
                        where rest_kind = 'launch'
                    ) as delay_ns
                from recorded_gap($run_id, $phase)
                where rest_kind <> 'not_recorded'
                group by source_id, next_event_id
            ) as idle
            on idle.source_id = kernels.source_id
            and idle.next_event_id = kernels.event_id
    ),
    -- the first kernel of a graph stands for its launch
    graphs as (
        select
            source_id,
            device_id,
            launch_event_id,
            arg_min(event_id, (start_ns, event_id)) as first_event_id,
            sum(in_flight_ns) as in_flight_ns
        from timed
        where launch_work_count > 1
        group by source_id, device_id, launch_event_id
    ),
    launched as (
        select
            timed.* replace (coalesce(graphs.in_flight_ns, timed.in_flight_ns) as in_flight_ns),
            timed.launch_event_id is not null
            and coalesce(graphs.first_event_id, timed.event_id) = timed.event_id as is_first,
            timed.start_ns - timed.launch_end_ns as wait_ns,
            work.total_flop,
            device_peak.launch_overhead_ns
        from timed
        left join
            graphs
            on graphs.source_id = timed.source_id
            and graphs.device_id is not distinct from timed.device_id
            and graphs.launch_event_id = timed.launch_event_id
        left join work_by_name($run_id) as work on work.name = timed.name
        left join
            device_peak
            on device_peak.run_id = $run_id
            and device_peak.source_id = timed.source_id
            and device_peak.device_id is not distinct from timed.device_id
    ),
    added as (
        select
            place_index,
            count(*) as kernel_count,
            count(launch_event_id) as known_count,
            sum(end_ns - start_ns) as kernel_ns,
            sum(end_ns - start_ns) filter (where launch_event_id is not null) as known_ns,
            count(*) filter (where is_first) as launch_count,
            count(*) filter (where is_first and launch_work_count > 1) as graph_launch_count,
            count(*) filter (where is_first and step_index is not null) as step_launch_count,
            count(distinct(source_id, step_index)) filter (
                where is_first and step_index is not null
            ) as step_count,
            sum(launch_end_ns - launch_start_ns) filter (where is_first) as call_ns,
            -- NULL where the clocks agree on no call: then nothing is known of them
            sum(coalesce(in_flight_ns, 0)) filter (
                where is_first and start_ns >= launch_start_ns
            ) as lower_ns,
            sum(coalesce(delay_ns, 0)) filter (
                where is_first and start_ns >= launch_start_ns
            ) as delay_ns,
            avg(wait_ns) filter (where is_first and wait_ns >= 0) as mean_delay_ns,
            count(*) filter (where is_first and wait_ns < 0) as negative_delay_count,
            count(*) filter (where is_first and start_ns < launch_start_ns) as disagreeing_count,
            sum(greatest(start_ns - queued_ns, 0)) filter (
                where start_ns >= launch_start_ns
            ) as queued_ns,
            any_value(elapsed_ns) as elapsed_ns,
            whole_sum(total_flop) as total_flop,
            coalesce(
                cast($launch_overhead_ns as double), shared_by_all(launch_overhead_ns)
            ) as per_launch_ns
        from launched
        group by place_index
    ),
    changes as (
        select
            device_index,
            place_index,
            unnest([queued_ns, start_ns]) as time_ns,
            unnest([1, -1]) as change
        from timed
        where start_ns > queued_ns
    ),
    depths as (
        select
            place_index,
            sum(change) over (
                -- not by partitions, which take longer: after the last start, nothing waits
                order by device_index, place_index, time_ns, change
                rows between unbounded preceding and current row
            ) as depth
        from changes
    ),
    deepest as (select place_index, max(depth) as max_queue_depth from depths group by place_index),
    devices as (
        select sum(elapsed_ns) as elapsed_ns
        from (select distinct source_id, device_id, elapsed_ns from kernels)
    ),
    measured as (
        select
            places.*,
            added.* exclude (place_index) replace (
                cast(
                    case
                        when $by = 'device' then added.elapsed_ns else devices.elapsed_ns
                    end as bigint
                ) as elapsed_ns
            ),
            case
                when added.queued_ns is not null then coalesce(deepest.max_queue_depth, 0)
            end as max_queue_depth,
            case
                when added.launch_count > 0 then added.launch_count * added.per_launch_ns
            end as overhead_ns
        from added
        cross join devices
        join places on places.place_index = added.place_index
        left join deepest on deepest.place_index = added.place_index
    )
select
    device_rank.rank_index,
    measured.place_device as device_id,
    measured.place_name as name,
    ratio(measured.lower_ns, measured.elapsed_ns) as lower_ratio,
    ratio(measured.call_ns + measured.delay_ns, measured.elapsed_ns) as upper_ratio,
    cast(measured.lower_ns as bigint) as lower_ns,
    cast(measured.call_ns + measured.delay_ns as bigint) as upper_ns,
    measured.launch_count,
    ratio(measured.known_count, measured.kernel_count) as coverage_ratio,
    ratio(measured.call_ns, measured.launch_count) as mean_launch_ns,
    ratio(measured.step_launch_count, measured.step_count) as launches_per_step,
    ratio(measured.queued_ns, measured.elapsed_ns) as mean_queue_depth,
    cast(measured.max_queue_depth as bigint) as max_queue_depth,
    measured.mean_delay_ns,
    cast(measured.call_ns as bigint) as call_ns,
    cast(measured.delay_ns as bigint) as delay_ns,
    measured.overhead_ns,
    measured.per_launch_ns,
    measured.kernel_count,
    measured.graph_launch_count,
    ratio(coalesce(measured.known_ns, 0), measured.kernel_ns) as coverage_time_ratio,
    measured.negative_delay_count,
    measured.disagreeing_count,
    measured.elapsed_ns,
    measured.total_flop,
    ratio(measured.total_flop * 1e9, measured.overhead_ns) as overhead_ceiling_flop_per_s,
    nullif(
        concat_ws(
            '; ',
            missing_launches(measured.known_count, measured.kernel_count),
            case
                when measured.disagreeing_count > 0
                then
                    'clocks disagree: '
                    || measured.disagreeing_count
                    || ' of '
                    || measured.launch_count
                    || ' calls begin after their kernel'
            end
        ),
        ''
    ) as reason,
    case
        when measured.launch_count = 0
        then 'launches not in the file'
        when measured.per_launch_ns is null
        then 'launch overhead of this device unknown; give launch_overhead_ns'
        when measured.total_flop is null
        then 'operations of the kernels unknown'
    end as overhead_reason,
    measured.place_source as source_id
from measured
left join
    device_rank
    on device_rank.run_id = $run_id
    and device_rank.source_id = measured.place_source
    and device_rank.device_id is not distinct from measured.place_device
order by
    device_rank.rank_index nulls last,
    measured.place_source,
    measured.place_device nulls last,
    measured.lower_ns desc nulls last,
    measured.kernel_count desc,
    measured.place_name
