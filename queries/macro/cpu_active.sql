-- purpose = "Active time of CPUs in each measurement, interval, scope or control group: from the
-- clock of the program, its user and system time, or cycles awake."
-- source = "Zhu 2018 (TBD), eq. 3: active time; Linux include/uapi/linux/perf_event.h: task-clock"
-- needs = ["measurement"]
-- depends = ["counter_slot", "event_quantity", "cpu_known"]
-- parameters = "wanted_run slot_kind wanted_cpus"
-- wanted_cpus = "BIGINT: CPUs per node; NULL: from the file, else the cores of the processor"
-- columns = "run_id source_id measurement_index slot_index slot_name slot_key target_name dur_ns
-- end_ns-interval cpus cpu_basis active_basis active_ns is_of_all running_ratio reason"
-- target_name = "VARCHAR: what was measured"
-- cpus = "BIGINT: CPUs that are there"
-- is_of_all = "BOOLEAN: the clocks are of all CPUs, whether they work or not"
-- reason = "why the active time, or the elapsed time, is NULL"
with
    -- measurements may have no events
    slots as (
        select
            measurement.run_id,
            measurement.source_id,
            measurement.measurement_index,
            measurement.target_name,
            measurement.target_kind,
            measurement.aggregation_kind,
            measurement.user_ns,
            measurement.system_ns,
            measurement.cpu_count,
            slot.slot_index,
            slot.slot_name,
            coalesce(slot.slot_key, '') as slot_key,
            slot.end_ns,
            case when slot.slot_key is null then measurement.dur_ns else slot.dur_ns end as dur_ns
        from (from measurement where wanted_run is null or run_id = wanted_run) as measurement
        left join
            counter_slot(wanted_run, slot_kind) as slot using (run_id, source_id, measurement_index)
        where slot.slot_key is not null or slot_kind = 'measurement'
    ),
    clocks as (
        select
            run_id,
            source_id,
            measurement_index,
            slot_key,
            arg_min(quantity, event_name) filter (where quantity_kind = 'task_clock') as task_ns,
            arg_min(running_ratio, event_name) filter (
                where quantity_kind = 'task_clock' and quantity is not null
            ) as task_ratio,
            bool_or(quantity_kind = 'task_clock') as has_task_clock,
            bool_or(quantity_kind = 'cpu_clock') as has_cpu_clock,
            ratio(
                arg_min(quantity, event_name) filter (where quantity_kind = 'active_cycle'),
                arg_min(quantity, event_name) filter (where quantity_kind = 'reference_cycle')
            ) as awake_ratio,
            min(running_ratio) filter (
                where quantity_kind in ('active_cycle', 'reference_cycle') and quantity is not null
            ) as cycle_ratio
        from event_quantity(wanted_run, slot_kind, false)
        where quantity_kind in ('task_clock', 'cpu_clock', 'active_cycle', 'reference_cycle')
        group by all
    ),
    -- the unit of a clock is not what it seems
    doubted as (
        select distinct run_id, source_id
        from ingest_issue
        where code = 'clock_contradicts_time' and (wanted_run is null or run_id = wanted_run)
    ),
    measured as (
        select
            slots.run_id,
            slots.source_id,
            slots.measurement_index,
            slots.slot_index,
            slots.slot_name,
            slots.slot_key,
            slots.target_name,
            slots.dur_ns,
            slots.end_ns,
            -- the clocks of all CPUs run whether they work or not
            coalesce(
                slots.target_kind in ('system', 'cpu')
                or (
                    slots.aggregation_kind not in ('total', 'thread')
                    and slots.aggregation_kind is not null
                )
                or (coalesce(has_cpu_clock, false) and not coalesce(has_task_clock, false)),
                false
            ) as is_of_all,
            coalesce(wanted_cpus, slots.cpu_count, cpu_known.core_count) as cpus,
            case
                when wanted_cpus is not null
                then 'given'
                when slots.cpu_count is not null
                then 'file'
                when cpu_known.core_count is not null
                then 'processor'
            end as cpu_basis,
            case
                when awake_ratio is not null and slot_kind in ('measurement', 'interval')
                then 'mperf'
                when is_of_all
                then null
                when task_ns is not null
                then 'task-clock'
                when
                    slot_kind = 'measurement'
                    and slots.user_ns is not null
                    and slots.system_ns is not null
                then 'times'
            end as active_basis,
            case
                active_basis
                when 'mperf'
                then awake_ratio * cpus * slots.dur_ns
                when 'task-clock'
                then task_ns
                when 'times'
                then slots.user_ns + slots.system_ns
            end as said_ns,
            case
                active_basis when 'mperf' then cycle_ratio when 'task-clock' then task_ratio
            end as running_ratio,
            has_task_clock,
            active_basis = 'task-clock' and doubted.run_id is not null as is_doubted
        from slots
        left join clocks using (run_id, source_id, measurement_index, slot_key)
        join
            (from cpu_known where wanted_run is null or run_id = wanted_run) as cpu_known using (
                run_id, source_id
            )
        left join doubted using (run_id, source_id)
    )
select
    run_id,
    source_id,
    measurement_index,
    slot_index,
    slot_name,
    slot_key,
    target_name,
    dur_ns,
    end_ns,
    cpus,
    cpu_basis,
    active_basis,
    case when not coalesce(is_doubted, false) then said_ns end as active_ns,
    is_of_all,
    running_ratio,
    case
        when is_doubted
        then 'task-clock contradicts the elapsed time, see tracekit issues'
        when active_basis is null and is_of_all
        then 'of all CPUs the clocks run on while they sleep: measure msr/mperf/ and msr/tsc/'
        when active_basis is null and has_task_clock
        then 'task-clock was not counted all the time'
        when active_basis is null
        then 'task-clock was not collected'
        when dur_ns is null
        then 'the file has no elapsed time'
    end as reason
from measured
