-- purpose = "Times of two runs by what they are compared by, per source and step."
-- source = "docs/metrics.md, section Comparing runs"
-- needs = ["source_file"]
-- depends = ["compared_source", "kernel_launch", "net_measurement", "work_class"]
-- parameters = "a_run b_run grouping_kind"
-- columns = "side basis_kind amount_kind source_id step_index name module_path owner_name
-- owner_dims dur_ns work_count unknown_count"
-- amount_kind = "VARCHAR: step (or outside of all steps), recording (all of it) or iteration (the
-- mean)"
-- source_id = "source; NULL if the launches of several are one recording"
-- name = "kernel, operator, layer …; NULL if unknown"
-- module_path = "VARCHAR: if the other run has another name: module"
-- owner_name = "VARCHAR: if the other run has another name: operator of the kernel, or caller of
-- the operator"
-- owner_dims = "VARCHAR: if the other run has another name: input shapes of the owner"
-- work_count = "launches, calls or occurrences"
with
    sources as materialized(from compared_source(a_run, b_run, grouping_kind)),
    contexts as materialized(
        select
            source_id,
            context_id,
            parent_context_id,
            context_kind,
            name,
            module_path,
            phase_kind,
            -- profilers write the same shapes with other spaces
            regexp_replace(input_dims, '\s', '', 'g') as input_dims
        from calling_context
        where run_id in (a_run, b_run)
    ),
    owned as materialized(
        select
            own.source_id,
            own.context_id,
            own.module_path,
            own.phase_kind,
            case
                when grouping_kind = 'kernel' and own.context_kind = 'op'
                then own.name
                when grouping_kind = 'op' and parent.context_kind = 'op'
                then parent.name
            end as owner_name,
            case
                grouping_kind when 'kernel' then own.input_dims when 'op' then parent.input_dims
            end as owner_dims
        from contexts as own
        left join
            contexts as parent
            on parent.source_id = own.source_id
            and parent.context_id = own.parent_context_id
    ),
    layers as materialized(
        from layer_stat
        join net_measurement as net using (run_id, source_id, net_index)
        where run_id in (a_run, b_run)
    ),
    said as (
        select source_id, event_id, collective_name, category_name
        from kernel
        where
            run_id in (a_run, b_run)
            and grouping_kind = 'category'
            and (collective_name is not null or category_name is not null)
    ),
    on_device as (
        select
            source_id,
            step_index,
            context_id,
            op_name,
            case
                when grouping_kind = 'kernel'
                then name
                when grouping_kind = 'category'
                then work_class(work_kind, name, collective_name, category_name)
            end as own_name,
            sum(dur_ns) as dur_ns,
            count(*) as work_count,
            count(*) - count(dur_ns) as unknown_count
        from (from attribution where run_id in (a_run, b_run))
        left join said using (source_id, event_id)
        group by all
    ),
    on_host as (
        select
            source_id,
            step_index,
            context_id,
            name as op_name,
            null as own_name,
            sum(self_ns) as dur_ns,
            count(*) as work_count,
            count(*) - count(self_ns) as unknown_count
        from op_call
        where
            run_id in (a_run, b_run)
            and source_id in (select source_id from sources where basis_kind = 'host')
        group by all
    ),
    works as (
        select
            sources.run_id,
            sources.basis_kind,
            'step' as amount_kind,
            worked.source_id,
            worked.step_index,
            case
                grouping_kind
                when 'op'
                then worked.op_name
                when 'layer'
                then owned.module_path
                when 'phase'
                then owned.phase_kind
                else worked.own_name
            end as name,
            owned.module_path,
            coalesce(
                owned.owner_name, case when grouping_kind = 'kernel' then worked.op_name end
            ) as owner_name,
            owned.owner_dims,
            worked.dur_ns,
            worked.work_count,
            worked.unknown_count
        from
            (
                from on_device
                union all
                from on_host
            ) as worked
        join sources on sources.source_id = worked.source_id
        left join
            owned on owned.source_id = worked.source_id and owned.context_id = worked.context_id
        union all
        select
            run_id,
            basis.basis_kind,
            'recording',
            null,
            null,
            case
                when grouping_kind = 'kernel' then name else work_class('kernel', name, null, null)
            end,
            null,
            null,
            null,
            sum(dur_ns),
            sum(launch_count),
            coalesce(sum(launch_count) filter (where dur_ns is null), 0)
        from
            (
                from kernel_launch
                where run_id = a_run
                union all
                from kernel_launch
                where run_id = b_run and b_run <> a_run
            )
        join
            (
                select distinct run_id, basis_kind
                from sources
                where basis_kind in ('kernels', 'counters', 'summary')
            ) as basis using (run_id)
        group by all
        union all
        select
            run_id,
            sources.basis_kind,
            'recording',
            source_id,
            null,
            case
                when grouping_kind = 'category'
                then coalesce(category_name, type_name)
                when op_kind = 'hlo'
                then coalesce(op_name, name)
                else name
            end,
            null,
            null,
            null,
            sum(self_ns),
            sum(occurrence_count),
            count(*) - count(self_ns)
        from (from op_stat where run_id in (a_run, b_run))
        join sources using (run_id, source_id)
        where sources.basis_kind = op_kind || ' (' || side_kind || ')'
        group by all
        union all
        select
            run_id,
            'layers',
            'iteration',
            source_id,
            null,
            case
                when grouping_kind = 'phase'
                then phase_kind
                when max(measured_net_index) over (partition by source_id) > 0
                then coalesce(net_name, 'net ' || measured_net_index) || '/' || name
                else name
            end,
            null,
            null,
            null,
            -- of a net that was measured several times, the mean
            round(
                ratio(
                    dur_ns,
                    case statistic_kind when 'sum' then iteration_count else 1 end
                    * measurement_count
                )
            ),
            case when net_index = measured_net_index then 1 else 0 end,
            case when dur_ns is null then 1 else 0 end
        from layers
        where
            name is not null
            and statistic_kind in ('mean', 'sum')
            and source_id in (select source_id from sources where basis_kind = 'layers')
    ),
    sides as (
        select 'a' as side, a_run as run_id
        union all
        select 'b', b_run
    )
select
    sides.side,
    works.basis_kind,
    works.amount_kind,
    works.source_id,
    works.step_index,
    works.name,
    works.module_path,
    works.owner_name,
    works.owner_dims,
    cast(works.dur_ns as bigint) as dur_ns,
    cast(works.work_count as bigint) as work_count,
    cast(works.unknown_count as bigint) as unknown_count
from works
join sides on sides.run_id = works.run_id
