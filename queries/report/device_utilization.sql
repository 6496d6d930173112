-- purpose = "Utilization of each device during the profile: time, operations and traffic over
-- their peaks, by device or host (whose TPUs form a board)."
-- source = "Wang Y. E. 2020 (ParaDnn), sect. 4.1: average FLOPS / peak FLOPS, of a core and of a
-- board (sect. 3); Zhu 2018 (TBD), eq. 1; docs/metrics.md, section Operators"
-- topic = "time"
-- needs = ["op_stat or kernel"]
-- answered_if = "exists (from op_stat where run_id = $run_id and side_kind = 'device') or exists
-- (from device_interval where run_id = $run_id and work_class in ('compute', 'communication'))"
-- depends = ["reported_op_work_under", "device_roof", "device_interval", "whole_sum", "only_one",
-- "possible_ratio", "above_peak"]
-- parameters = "run_id by ceiling"
-- by = {doc = "what a row is: device (a core of a TPU v2 or v3) or host (all devices of a source:
-- four TPU chips form a board)", default = "device", choices = ["device", "host"]}
-- columns = "source_id-host device_id device_name busy_ratio flop_utilization_ratio
-- bandwidth_utilization_ratio busy_ns window_ns window_basis total_flop total_bytes
-- known_time_ratio device_count ceiling_name peak_flop_per_s peak_bytes_per_s scope_name
-- peak_basis reason"
-- answer = "busy_ratio flop_utilization_ratio bandwidth_utilization_ratio"
-- device_id = "device; NULL for by=host, and if the dump sums devices"
-- busy_ratio = "busy_ns / window_ns"
-- flop_utilization_ratio = "DOUBLE: operations / (peak_flop_per_s x window_ns)"
-- bandwidth_utilization_ratio = "DOUBLE: bytes / (peak_bytes_per_s x window_ns)"
-- busy_ns = "time with a kernel running (union); without a timeline, time in operators; for a
-- host, the sum over its devices"
-- window_ns = "BIGINT: time of the profile; for a host, multiplied by its devices"
-- window_basis = "VARCHAR: timeline (first start to last end of anything in the source) or
-- operators (their time and the idle time, of all devices in the dump's sums)"
-- known_time_ratio = "share of the operator time with known operations; unknown ones count as zero"
-- device_count = "BIGINT: devices with work; NULL if the dump sums devices"
-- peak_flop_per_s = "peak; for a host, that of its board if known, else the sum of its devices"
-- peak_bytes_per_s = "peak of device memory, by the same rule"
-- scope_name = "VARCHAR: unit of the peaks: core, package, board …, 8 x core, or TPU v3 board;
-- reported: the profiler's device"
with
    ops as (
        select *
        from reported_op_work_under($run_id, $ceiling)
        where side_kind = 'device'
        -- the same time stands under both
        qualify
            op_kind = case
                when bool_or(op_kind = 'hlo') over (partition by source_id)
                then 'hlo'
                else 'framework'
            end
    ),
    work as (
        select
            source_id,
            device_id,
            sum(total_flop) as total_flop,
            sum(total_bytes) as total_bytes,
            sum(self_ns) filter (where op_class <> 'idle') as op_ns,
            sum(self_ns) filter (where op_class = 'idle') as idle_ns,
            sum(self_ns) filter (where total_flop is not null) as known_ns
        from ops
        group by source_id, device_id
    ),
    -- where the dump adds up what ran, it says how long nothing did
    idles as (
        select source_id, cast(sum(value) as bigint) as idle_ns
        from counter
        where
            run_id = $run_id
            and event_name = 'IDLE'
            and record_kind = 'metric'
            and scope_name = 'Device'
            and unit = 'ns'
        group by source_id
    ),
    reached as (
        select
            source_id,
            device_id,
            start_ns,
            end_ns,
            max(end_ns) over (
                partition by source_id, device_id
                order by start_ns, end_ns
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from device_interval
        where run_id = $run_id and work_class in ('compute', 'communication')
    ),
    busy as (
        select
            source_id,
            device_id,
            sum(greatest(end_ns - greatest(start_ns, coalesce(reach_ns, start_ns)), 0)) as busy_ns
        from reached
        group by source_id, device_id
    ),
    spans as (
        select source_id, start_ns, start_ns + dur_ns as end_ns
        from slice
        where run_id = $run_id
        union all
        select source_id, start_ns, start_ns + dur_ns
        from step
        where run_id = $run_id
        union all
        select source_id, start_ns, end_ns
        from device_interval
        where run_id = $run_id
    ),
    windows as (
        select source_id, max(end_ns) - min(start_ns) as window_ns
        from spans
        where end_ns is not null and source_id in (select source_id from busy)
        group by source_id
    ),
    devices as (
        select
            coalesce(work.source_id, busy.source_id) as source_id,
            coalesce(work.device_id, busy.device_id) as device_id,
            work.* exclude (source_id, device_id),
            busy.busy_ns as union_ns
        from work
        full join
            busy
            on busy.source_id = work.source_id
            and busy.device_id is not distinct from work.device_id
    ),
    timed as (
        select
            devices.* exclude (union_ns, idle_ns),
            coalesce(devices.idle_ns, idles.idle_ns) as idle_ns,
            machine.device_name,
            machine.model_name,
            machine.scope_kind,
            machine.ceiling_name,
            machine.peak_flop_per_s,
            machine.peak_bytes_per_s,
            machine.peak_basis,
            case
                when windows.window_ns is not null
                then 'timeline'
                when coalesce(devices.idle_ns, idles.idle_ns) is not null
                then 'operators'
            end as window_basis,
            case
                window_basis
                when 'timeline'
                then windows.window_ns
                when 'operators'
                then coalesce(op_ns, 0) + coalesce(devices.idle_ns, idles.idle_ns)
            end as window_ns,
            case
                window_basis when 'timeline' then union_ns when 'operators' then coalesce(op_ns, 0)
            end as busy_ns
        from devices
        left join windows using (source_id)
        left join idles using (source_id)
        left join
            device_roof($run_id, $ceiling) as machine
            on machine.source_id = devices.source_id
            and machine.device_id is not distinct from devices.device_id
    ),
    boards as (
        select
            model_name as board_name,
            any_value(value) filter (where ceiling_kind = 'compute') as board_flop_per_s,
            any_value(value) filter (where ceiling_name = 'dram') as board_bytes_per_s,
            any_value(ceiling_name) filter (where ceiling_kind = 'compute') as board_ceiling,
            string_agg(distinct origin_kind, ', ' order by origin_kind desc) as board_basis
        from model_ceiling
        where model_name glob 'TPU* board' and ceiling_name in ('tensor_bf16', 'dram')
        group by model_name
    ),
    added as (
        select
            source_id,
            case when $by = 'device' then device_id end as place,
            only_one(device_name) as device_name,
            case when bool_and(device_id is not null) then count(*) end as device_count,
            sum(busy_ns) as busy_ns,
            whole_sum(window_ns) as window_ns,
            min(window_basis) as window_basis,
            sum(total_flop) as total_flop,
            sum(total_bytes) as total_bytes,
            sum(known_ns) as known_ns,
            sum(op_ns) as op_ns,
            only_one(ceiling_name) as ceiling_name,
            whole_sum(peak_flop_per_s) as peak_flop_per_s,
            whole_sum(peak_bytes_per_s) as peak_bytes_per_s,
            only_one(peak_basis) as peak_basis,
            case
                when count(distinct coalesce(scope_kind, 'reported')) = 1
                then
                    coalesce(
                        any_value(scope_kind),
                        case when min(peak_basis) = 'reported' then 'reported' end
                    )
            end as scope_kind,
            only_one(model_name) as model_name
        from timed
        group by source_id, place
    ),
    scoped as (
        select
            added.* exclude (peak_flop_per_s, peak_bytes_per_s, peak_basis, scope_kind, model_name),
            -- the board of the chips, unless the user says other of them
            $by = 'host'
            and device_count is not null
            and boards.board_name is not null
            and ceiling_name = board_ceiling
            and not contains(peak_basis, 'user') as is_board,
            case when is_board then board_flop_per_s else peak_flop_per_s end as peak_flop_per_s,
            case when is_board then board_bytes_per_s else peak_bytes_per_s end as peak_bytes_per_s,
            case when is_board then board_basis else peak_basis end as peak_basis,
            case
                when is_board
                then board_name
                when $by = 'host' and device_count > 1
                then device_count || ' x ' || coalesce(scope_kind, 'device')
                else scope_kind
            end as scope_name,
            case
                when $by = 'host' and device_count > 0
                then ratio(window_ns, device_count)
                else window_ns
            end as elapsed_ns
        from added
        left join boards on boards.board_name = added.model_name || ' board'
    )
select
    source_id,
    place as device_id,
    device_name,
    ratio(busy_ns, window_ns) as busy_ratio,
    possible_ratio(total_flop * 1e9, peak_flop_per_s * elapsed_ns) as flop_utilization_ratio,
    possible_ratio(total_bytes * 1e9, peak_bytes_per_s * elapsed_ns) as bandwidth_utilization_ratio,
    cast(busy_ns as bigint) as busy_ns,
    cast(window_ns as bigint) as window_ns,
    window_basis,
    total_flop,
    total_bytes,
    ratio(known_ns, op_ns) as known_time_ratio,
    device_count,
    ceiling_name,
    peak_flop_per_s,
    peak_bytes_per_s,
    scope_name,
    peak_basis,
    case
        when window_ns is null
        then 'neither a timeline nor idle time'
        when total_flop is null
        then 'operations: not_collected'
        when total_bytes is null
        then 'bytes: not_collected'
        when peak_flop_per_s is null and device_name is null
        then 'device unknown'
        when peak_flop_per_s is null
        then 'no peak for this device'
        when peak_bytes_per_s is null
        then 'no bandwidth for this device'
        else
            coalesce(
                above_peak(
                    ratio(total_flop * 1e9, peak_flop_per_s * elapsed_ns),
                    'operations (reported)',
                    'the peak ' || ceiling_name || ' (' || peak_basis || ')'
                ),
                above_peak(
                    ratio(total_bytes * 1e9, peak_bytes_per_s * elapsed_ns),
                    'bytes (reported)',
                    'the bandwidth of memory (' || peak_basis || ')'
                )
            )
    end as reason
from scoped
order by source_id, device_id nulls first
