-- purpose = "Processor events as operations, bytes or cycles, with their possible error: for a
-- measurement, an interval, a scope or a control group."
-- source = "Javed 2019, sect. 3 (eq. 1); docs/metrics.md, section Processor counters"
-- needs = ["measurement"]
-- depends = ["cut_interval", "event_meaning", "event_value"]
-- parameters = "wanted_run slot_kind by_core"
-- by_core = "BOOLEAN: whether each kind of core (cpu_core, cpu_atom) has its own rows"
-- columns = "run_id source_id measurement_index slot_index slot_name slot_key core_name
-- event_name quantity_kind precision_name width_name quantity low_quantity high_quantity amount
-- reason unit_count running_ratio mode_name"
-- core_name = "VARCHAR: kind of the cores that counted; NULL if kinds are not separate, or there
-- is one"
-- quantity = "DOUBLE: operations, bytes or cycles; NULL if a part of it was not counted"
-- low_quantity = "DOUBLE: lower limit"
-- high_quantity = "DOUBLE: upper limit"
-- amount = "DOUBLE: operations, bytes or cycles for one count"
-- unit_count = "BIGINT: numbered units of the processor that counted, e.g. memory controllers"
-- mode_name = "VARCHAR: counted modes: u (user mode) and others of ukhGH; NULL: everything"
with
    met as (
        select
            event_value.run_id,
            event_value.source_id,
            event_value.measurement_index,
            event_value.event_id,
            event_value.interval_index,
            event_value.scope_name,
            event_value.cgroup_name,
            event_value.pmu_name,
            event_value.running_ratio,
            event_value.modifier_name,
            ratio(event_value.stddev, abs(event_value.value)) as spread_ratio,
            meaning.event_name,
            meaning.quantity_kind,
            meaning.precision_name,
            meaning.width_name,
            meaning.amount,
            case
                when starts_with(slot_kind, 'interval') then event_value.interval_index
            end as slot_index,
            case
                when ends_with(slot_kind, 'scope')
                then event_value.scope_name
                when slot_kind = 'cgroup'
                then event_value.cgroup_name
            end as slot_name,
            case
                when event_value.status_kind not in ('ok', 'scaled')
                then event_value.status_kind
                when regexp_full_match(event_value.modifier_name, '[^u]*[kh][^u]*')
                then 'counted in the kernel only'
                when
                    meaning.quantity_kind = 'context_switch'
                    and regexp_full_match(event_value.modifier_name, '[^kh]*u[^kh]*')
                then 'they are of the kernel, which :u leaves out'
                when meaning.amount is null
                then 'the vector length is unknown'
            end as trouble,
            case
                when trouble is null
                then
                    event_value.value
                    * case when event_value.unit = 'byte' then 1 else meaning.amount end
            end as quantity
        from event_value(wanted_run) as event_value
        join event_meaning(wanted_run) as meaning using (run_id, source_id, event_key)
        where not starts_with(slot_kind, 'interval') or event_value.interval_index is not null
    ),
    -- a summary behind the intervals is their sum
    summed as (
        select *
        from met
        where
            starts_with(slot_kind, 'interval')
            or interval_index is null
            or (run_id, source_id, measurement_index, interval_index) not in (
                select (run_id, source_id, measurement_index, interval_index)
                from cut_interval(wanted_run)
            )
        qualify
            starts_with(slot_kind, 'interval')
            or interval_index is null
            or not bool_or(interval_index is null) over (
                partition by run_id, source_id, measurement_index
            )
    ),
    -- an event that was asked for twice is there twice
    single as (
        select
            *,
            (1 - coalesce(running_ratio, 1)) + coalesce(spread_ratio, 0) as doubt_ratio,
            try_cast(regexp_extract(pmu_name, '_(\d+)$', 1) as bigint) as unit_index,
            nullif(
                regexp_replace(coalesce(modifier_name, ''), '[^ukhGH]', '', 'g'), ''
            ) as mode_name
        from summed
        qualify
            row_number() over (
                partition by
                    run_id,
                    source_id,
                    measurement_index,
                    interval_index,
                    scope_name,
                    cgroup_name,
                    pmu_name,
                    event_name
                order by
                    quantity is null,
                    modifier_name is not null,
                    running_ratio desc nulls first,
                    event_id
            )
            = 1
    ),
    added as (
        select
            run_id,
            source_id,
            measurement_index,
            slot_index,
            slot_name,
            case
                when by_core and pmu_name in ('cpu_core', 'cpu_atom', 'cpu_lowpower') then pmu_name
            end as core_name,
            event_name,
            any_value(quantity_kind) as quantity_kind,
            any_value(precision_name) as precision_name,
            any_value(width_name) as width_name,
            any_value(amount) as amount,
            sum(quantity) as quantity,
            sum(quantity * greatest(0, 1 - doubt_ratio)) as low_quantity,
            sum(quantity * (1 + doubt_ratio)) as high_quantity,
            coalesce(
                arg_min(
                    concat_ws(': ', pmu_name, trouble), (coalesce(event_id, 0), pmu_name, trouble)
                ) filter (where quantity is null),
                case
                    when slot_kind <> 'cgroup' and count(distinct coalesce(cgroup_name, '')) > 1
                    then 'it is of several control groups, and one may hold another: take by=cgroup'
                    when
                        not by_core
                        and bool_or(pmu_name = 'cpu_core')
                        and not bool_or(pmu_name = 'cpu_atom')
                    then 'cpu_atom: not_collected'
                    when
                        not by_core
                        and bool_or(pmu_name = 'cpu_atom')
                        and not bool_or(pmu_name = 'cpu_core')
                    then 'cpu_core: not_collected'
                    when max(unit_index) + 1 > count(distinct pmu_name)
                    then
                        'a unit is missing: '
                        || count(distinct pmu_name)
                        || ' of at least '
                        || max(unit_index)
                        + 1
                end
            ) as reason,
            count(distinct unit_index) as unit_count,
            min(running_ratio) as running_ratio,
            -- of two modes it is not known which it is
            case
                when count(distinct coalesce(mode_name, '')) = 1
                then any_value(mode_name)
                else 'mixed'
            end as mode_name
        from single
        group by run_id, source_id, measurement_index, slot_index, slot_name, core_name, event_name
    )
select
    run_id,
    source_id,
    measurement_index,
    slot_index,
    slot_name,
    concat_ws(' ', slot_index, slot_name) as slot_key,
    core_name,
    event_name,
    quantity_kind,
    precision_name,
    width_name,
    case when reason is null then quantity end as quantity,
    case when reason is null then low_quantity end as low_quantity,
    case when reason is null then high_quantity end as high_quantity,
    amount,
    reason,
    unit_count,
    running_ratio,
    mode_name
from added
