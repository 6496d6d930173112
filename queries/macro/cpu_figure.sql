-- purpose = "perf stat metrics of each measurement, interval, scope or control group, one per
-- row: clock, instructions per cycle, miss rates, faults, top-down."
-- source = "tools/perf/util/stat-shadow.c: the same quotients; docs/metrics.md, section Processor
-- counters"
-- needs = ["measurement"]
-- depends = ["counter_slot", "event_quantity"]
-- parameters = "wanted_run slot_kind"
-- columns = "run_id source_id measurement_index slot_key core_name figure_name value
-- running_ratio is_by_perf missing_name reason"
-- core_name = "VARCHAR: kind of the cores, if two kinds counted; NULL: all cores"
-- figure_name = "VARCHAR: clock, ipc, branch_miss …"
-- running_ratio = "lowest share of the time that an event of it ran; NULL if perf computed it"
-- is_by_perf = "BOOLEAN: perf computed it, and its events are not in the file"
-- missing_name = "VARCHAR: missing event, the reason that the value is NULL"
-- reason = "why the value is NULL although its events were collected"
with
    -- a figure is `over`, or `over` / `under` x factor; or a metric of perf's
    figures as (
        select *
        from
            (
                values
                    ('clock', 'cycle', 'clock', 1e9, ['Hz', '/sec', 'cycles_frequency']),
                    -- of a program whose elapsed time the file does not say; the time itself is
                    -- no count
                    ('used_cpu', 'elapsed', null, 1, ['CPUs utilized', 'CPUs_utilized']),
                    (
                        'ipc',
                        'instruction',
                        'cycle',
                        1,
                        [
                            'insn per cycle',
                            'insns per cycle',
                            'insn_per_cycle',
                            'IPC',
                            'ipc',
                            'tma_info_thread_ipc'
                        ]
                    ),
                    (
                        'branch_miss',
                        'branch_miss',
                        'branch',
                        1,
                        ['of all branches', 'branch-misses of all branches', 'branch_miss_rate']
                    ),
                    (
                        'cache_miss',
                        'cache_miss',
                        'cache_access',
                        1,
                        ['of all cache refs', 'cache-misses of all cache refs']
                    ),
                    (
                        'l1d_miss',
                        'l1d_miss',
                        'l1d_access',
                        1,
                        ['of all L1-dcache accesses', 'of all L1-dcache hits', 'l1d_miss_rate']
                    ),
                    (
                        'llc_miss',
                        'llc_miss',
                        'llc_access',
                        1,
                        ['of all LL-cache accesses', 'of all LL-cache hits', 'llc_miss_rate']
                    ),
                    (
                        'dtlb_miss',
                        'dtlb_miss',
                        'dtlb_access',
                        1,
                        ['of all dTLB cache accesses', 'of all dTLB cache hits', 'dtlb_miss_rate']
                    ),
                    ('page_fault', 'page_fault', null, 1, []),
                    ('context_switch', 'context_switch', null, 1, []),
                    (
                        'retiring',
                        'topdown_retiring',
                        'topdown',
                        1,
                        ['Retiring', 'retiring', 'tma_retiring']
                    ),
                    (
                        'bad_speculation',
                        'topdown_bad_speculation',
                        'topdown',
                        1,
                        ['Bad Speculation', 'bad speculation', 'tma_bad_speculation']
                    ),
                    (
                        'frontend',
                        'topdown_frontend',
                        'topdown',
                        1,
                        ['Frontend Bound', 'frontend bound', 'tma_frontend_bound']
                    ),
                    (
                        'backend',
                        'topdown_backend',
                        'topdown',
                        1,
                        ['Backend Bound', 'backend bound', 'tma_backend_bound']
                    )
            ) as figure(figure_name, over_kind, under_kind, factor, metric_names)
    ),
    counted as (
        select
            run_id,
            source_id,
            measurement_index,
            slot_key,
            core_name,
            event_name,
            quantity,
            running_ratio,
            mode_name,
            case when quantity is null then event_name || ': ' || reason end as reason,
            case
                when quantity_kind in ('task_clock', 'cpu_clock') then 'clock' else quantity_kind
            end as quantity_kind
        from event_quantity(wanted_run, slot_kind, true)
        qualify
            row_number() over (
                partition by
                    run_id,
                    source_id,
                    measurement_index,
                    slot_key,
                    core_name,
                    case
                        when quantity_kind in ('task_clock', 'cpu_clock')
                        then 'clock'
                        else quantity_kind
                    end
                order by quantity_kind = 'cpu_clock', event_name
            )
            = 1
    ),
    amounts as (
        from counted
        union all by name
        -- all slots of the processor: a part of the four is not the whole
        select
            run_id,
            source_id,
            measurement_index,
            slot_key,
            core_name,
            'topdown' as quantity_kind,
            'topdown-*' as event_name,
            case when count(quantity) = 4 then sum(quantity) end as quantity,
            min(running_ratio) as running_ratio,
            case
                when count(quantity) < 4 then 'not all four top-down events were counted'
            end as reason,
            case
                when count(distinct coalesce(mode_name, '')) = 1
                then any_value(mode_name)
                else 'mixed'
            end as mode_name
        from counted
        where starts_with(quantity_kind, 'topdown_')
        group by run_id, source_id, measurement_index, slot_key, core_name
    ),
    cores as (
        select
            run_id,
            source_id,
            measurement_index,
            slot_key,
            list(distinct core_name order by core_name) filter (
                where core_name is not null
            ) as kinds,
            list(distinct core_name) filter (
                where core_name is not null and quantity is not null
            ) as working
        from counted
        group by all
    ),
    -- a row of all cores, and one of each kind where two kinds counted
    owners as (
        select
            slot.run_id,
            slot.source_id,
            slot.measurement_index,
            slot.slot_key,
            cast(null as varchar) as core_name,
            case
                when len(cores.working) = 1
                then cores.working[1]
                when cores.working is null
                then cores.kinds[1]
            end as counting_name,
            coalesce(len(cores.working) > 1, false) as is_apart
        from counter_slot(wanted_run, slot_kind) as slot
        left join cores using (run_id, source_id, measurement_index, slot_key)
        union all
        select
            run_id,
            source_id,
            measurement_index,
            slot_key,
            core_name,
            core_name as counting_name,
            false as is_apart
        from
            (
                select * exclude (kinds, working), unnest(working) as core_name
                from cores
                where len(working) > 1
            )
    ),
    worked_out as (
        select
            run_id,
            source_id,
            measurement_index,
            concat_ws(
                ' ',
                case when starts_with(slot_kind, 'interval') then interval_index end,
                case
                    when ends_with(slot_kind, 'scope')
                    then scope_name
                    when slot_kind = 'cgroup'
                    then cgroup_name
                end
            ) as slot_key,
            case
                when pmu_name in ('cpu_core', 'cpu_atom', 'cpu_lowpower') then pmu_name
            end as core_name,
            event_name as metric_name,
            any_value(value) as value,
            count(*) as value_count
        from counter
        where
            record_kind = 'metric'
            and (wanted_run is null or run_id = wanted_run)
            and starts_with(slot_kind, 'interval') = (interval_index is not null)
            and (ends_with(slot_kind, 'scope') or scope_name is null)
            and (slot_kind = 'cgroup' or cgroup_name is null)
            -- other cycles have a frequency too
            and (
                event_name not in ('Hz', '/sec')
                or coalesce(
                    regexp_matches(metric_event_name, '(^|/)(cpu-)?cycles([/:]|$)'),
                    event_name = 'Hz'
                )
            )
        group by all
    ),
    said as (
        select
            owners.run_id,
            owners.source_id,
            owners.measurement_index,
            owners.slot_key,
            owners.core_name,
            figures.figure_name,
            any_value(worked_out.value) as value
        from figures, owners
        join
            worked_out
            on worked_out.run_id = owners.run_id
            and worked_out.source_id = owners.source_id
            and worked_out.measurement_index = owners.measurement_index
            and worked_out.slot_key = owners.slot_key
            and coalesce(worked_out.core_name = owners.counting_name, not owners.is_apart)
        where
            list_contains(figures.metric_names, worked_out.metric_name)
            and worked_out.value_count = 1
        group by all
        having count(*) = 1
    ),
    quotients as (
        select
            owners.*,
            figures.figure_name,
            case
                when figures.under_kind is null
                then above.quantity
                else ratio(above.quantity * figures.factor, below.quantity)
            end as quotient,
            least(above.running_ratio, below.running_ratio) as running_ratio,
            case
                when is_apart and figures.under_kind is not null
                then null
                when above.event_name is null
                then missing_above.event_name
                when figures.under_kind is not null and below.event_name is null
                then missing_below.event_name
            end as missing_name,
            case
                when missing_name is not null
                then null
                when figures.under_kind is null and owners.core_name is not null
                then 'counted on all cores together'
                when owners.is_apart and above.event_name is null and figures.under_kind is not null
                then 'counted on cores of two kinds, which have rows of their own'
                when above.quantity is null
                then above.reason
                when below.quantity is null and figures.under_kind is not null
                then below.reason
                when
                    figures.under_kind not in ('clock')
                    and (
                        above.mode_name is distinct from below.mode_name
                        or above.mode_name = 'mixed'
                    )
                then
                    'one is counted in mode '
                    || coalesce(above.mode_name, 'all')
                    || ', the other in '
                    || coalesce(below.mode_name, 'all')
                when below.quantity = 0
                then below.event_name || ': none were counted'
                when ends_with(figures.figure_name, '_miss') and above.quantity > below.quantity
                then
                    'more misses than accesses, counted for '
                    || round(100 * least(above.running_ratio, below.running_ratio), 2)
                    || ' % of the time'
            end as reason
        from owners
        cross join figures
        left join
            (
                values
                    ('elapsed', 'task-clock'),
                    ('cycle', 'cycles'),
                    ('instruction', 'instructions'),
                    ('branch_miss', 'branch-misses'),
                    ('cache_miss', 'cache-misses'),
                    ('l1d_miss', 'L1-dcache-load-misses'),
                    ('llc_miss', 'LLC-load-misses'),
                    ('dtlb_miss', 'dTLB-load-misses'),
                    ('page_fault', 'page-faults'),
                    ('context_switch', 'context-switches'),
                    ('topdown_retiring', 'topdown-*'),
                    ('topdown_bad_speculation', 'topdown-*'),
                    ('topdown_frontend', 'topdown-*'),
                    ('topdown_backend', 'topdown-*')
            ) as missing_above(quantity_kind, event_name)
            on missing_above.quantity_kind = figures.over_kind
        left join
            (
                values
                    ('clock', 'task-clock'),
                    ('cycle', 'cycles'),
                    ('branch', 'branches'),
                    ('cache_access', 'cache-references'),
                    ('l1d_access', 'L1-dcache-loads'),
                    ('llc_access', 'LLC-loads'),
                    ('dtlb_access', 'dTLB-loads'),
                    ('topdown', 'topdown-*')
            ) as missing_below(quantity_kind, event_name)
            on missing_below.quantity_kind = figures.under_kind
        left join
            amounts as above
            on above.run_id = owners.run_id
            and above.source_id = owners.source_id
            and above.measurement_index = owners.measurement_index
            and above.slot_key = owners.slot_key
            and above.quantity_kind = figures.over_kind
            and coalesce(above.core_name = owners.counting_name, above.core_name is null)
        left join
            amounts as below
            on below.run_id = owners.run_id
            and below.source_id = owners.source_id
            and below.measurement_index = owners.measurement_index
            and below.slot_key = owners.slot_key
            and below.quantity_kind = figures.under_kind
            and coalesce(below.core_name = owners.counting_name, below.core_name is null)
    )
select
    quotients.run_id,
    quotients.source_id,
    quotients.measurement_index,
    quotients.slot_key,
    quotients.core_name,
    quotients.figure_name,
    case
        when missing_name is not null then said.value when reason is null then quotient
    end as value,
    case when missing_name is null and reason is null then running_ratio end as running_ratio,
    missing_name is not null and said.value is not null as is_by_perf,
    case when said.value is null then missing_name end as missing_name,
    reason
from quotients
left join
    said
    on said.run_id = quotients.run_id
    and said.source_id = quotients.source_id
    and said.measurement_index = quotients.measurement_index
    and said.slot_key = quotients.slot_key
    and said.figure_name = quotients.figure_name
    and said.core_name is not distinct from quotients.core_name
