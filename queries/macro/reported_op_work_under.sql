-- purpose = "Work of each operator that counts, compared with a compute peak of its
-- type and memory: intensity, rates and bound."
-- source = "Wang Y. E. 2020 (ParaDnn), sect. 4.2: roofline of operations; docs/metrics.md,
-- section Operators"
-- needs = ["op_stat"]
-- depends = ["reported_op_classed", "reported_op_source", "device_roof", "device_ceiling",
-- "is_vector_work", "ceilings_of_work", "max_share", "roof_of", "time_at_peak", "above_peak"]
-- parameters = "wanted_run wanted_ceiling"
-- columns = "run_id source_id-host event_id-record op_kind side_kind device_id-summed device_name
-- name-operator type_name category_name op_name program_name op_class class_rank occurrence_count
-- dur_ns-occurrences self_ns total_flop-occurrences flop_basis flop_reason
-- total_bytes-occurrences bytes_basis bytes_reason provenance_kind-reported work_source_name
-- intensity_flop_per_byte achieved_flop_per_s-op achieved_bytes_per_s-op ceiling_name
-- peak_flop_per_s peak_bytes_per_s ridge_flop_per_byte peak_basis-parts compute_ns bandwidth_ns
-- utilization_ratio-rate highest_flop_per_s bound_kind nearest_name roof_ratio bound_reason
-- is_impossible peak_reason reported_bound_name"
with
    worked as (
        select
            ops.*,
            -- what it contains is counted with the operators inside it
            op_class = 'control flow' and self_ns < dur_ns as is_container,
            -- the parser adds the instructions of a framework's operator up, and keeps no sum of
            -- some
            ops.op_kind = 'framework'
            and event_id is null
            and work_source_name is not null as is_partly_known,
            case
                when is_container
                then null
                when flop_count is not null
                then 'count'
                when reported_flop_per_s * dur_ns is not null
                then 'rate'
            end as flop_basis,
            case
                flop_basis
                when 'count'
                then cast(flop_count as double)
                when 'rate'
                then reported_flop_per_s * dur_ns * 1e-9
            end as total_flop,
            case
                when flop_basis is not null
                then null
                when is_container
                then 'counted with the operators inside it'
                when op_class = 'idle'
                then 'no operator'
                when reported_flop_per_s is not null
                then 'duration unknown'
                when is_partly_known
                then 'unknown for some instructions'
                else 'not_collected'
            end as flop_reason,
            -- what begins and what ends a copy are both said to move its bytes
            ops.op_kind = 'hlo'
            and name like '%-start%'
            and bool_or(name like '%-done%') over (
                partition by
                    ops.run_id,
                    ops.source_id,
                    ops.op_kind,
                    ops.side_kind,
                    device_id,
                    program_name,
                    regexp_replace(name, '-(start|done)', '')
            ) as is_begin,
            case
                when is_container or is_begin
                then null
                when dram_bytes is not null
                then 'dram'
                when accessed_bytes is not null
                then 'accessed'
                when reported_bytes_per_s * dur_ns is not null
                then 'rate'
            end as bytes_basis,
            case
                bytes_basis
                when 'dram'
                then cast(dram_bytes as double)
                when 'accessed'
                then cast(accessed_bytes as double)
                when 'rate'
                then reported_bytes_per_s * dur_ns * 1e-9
            end as total_bytes,
            case
                when bytes_basis is not null
                then null
                when is_container
                then 'counted with the operators inside it'
                when is_begin
                then 'counted with its -done'
                when op_class = 'idle'
                then 'no operator'
                when reported_bytes_per_s is not null
                then 'duration unknown'
                when is_partly_known
                then 'unknown for some instructions'
                else 'not_collected'
            end as bytes_reason
        from reported_op_classed(wanted_run) as ops
        join
            (
                from reported_op_source where wanted_run is null or run_id = wanted_run
            ) as reported_op_source
            on reported_op_source.run_id = ops.run_id
            and reported_op_source.source_id = ops.source_id
            and reported_op_source.op_kind is not distinct from ops.op_kind
            and reported_op_source.side_kind is not distinct from ops.side_kind
    ),
    ceilings as materialized(
        select
            run_id,
            source_id,
            device_id,
            list({'value':value, 'name':ceiling_name} order by value, ceiling_name) as all_peaks
        from device_ceiling
        where
            (wanted_run is null or run_id = wanted_run)
            and ceiling_kind = 'compute'
            and wanted_ceiling is null
        group by run_id, source_id, device_id
    ),
    able as (
        select
            worked.*,
            list_filter(
                all_peaks,
                lambda peak:list_contains(
                    case
                        when not is_vector_work(op_class, name, category_name)
                        then ceilings_of_work(precision_name, true, null, false)
                        when precision_name = 'fp64'
                        then ['fp64']
                        else ['fp32']
                    end,
                    peak['name']
                )
            ) as peaks,
            -- of the units that can do it, those that the work needs least of
            coalesce(
                list_filter(
                    peaks, lambda peak:total_flop * 1e9 <= peak['value'] * dur_ns * max_share()
                )[1],
                peaks[-1]
            ) as lowest
        from worked
        left join
            ceilings
            on ceilings.run_id = worked.run_id
            and ceilings.source_id = worked.source_id
            and ceilings.device_id is not distinct from worked.device_id
            and worked.side_kind = 'device'
    ),
    held as (
        select
            able.*,
            machine.device_name,
            coalesce(lowest['name'], machine.ceiling_name) as peak_name,
            coalesce(lowest['value'], machine.peak_flop_per_s) as peak,
            coalesce(peaks[-1]['value'], machine.peak_flop_per_s) as highest_flop_per_s,
            machine.peak_bytes_per_s as bandwidth,
            machine.peak_basis,
            above_peak(
                ratio(time_at_peak(total_flop, peak), dur_ns),
                'operations (reported)',
                'the peak ' || peak_name || ' (' || peak_basis || ')'
            ) as flop_impossible,
            above_peak(
                ratio(time_at_peak(total_bytes, bandwidth), dur_ns),
                'bytes (reported)',
                'the bandwidth of memory (' || peak_basis || ')'
            ) as bytes_impossible,
            time_at_peak(total_flop, peak) as compute_ns,
            time_at_peak(total_bytes, bandwidth) as bandwidth_ns,
            roof_of(compute_ns, bandwidth_ns, null, null, null, dur_ns, null, null) as roof,
            case
                when total_flop is null
                then 'operations: ' || flop_reason
                when total_flop = 0
                then 'no operations'
                when total_bytes is null
                then 'bytes: ' || bytes_reason
                when side_kind <> 'device'
                then 'no device'
                when (peak is null or bandwidth is null) and device_name is null
                then 'device unknown'
                when peak is null and wanted_ceiling is not null
                then 'no peak ' || wanted_ceiling || ' for this device'
                when peak is null
                then 'no peak for this device'
                when bandwidth is null
                then 'no bandwidth for this device'
                when dur_ns is null
                then 'duration unknown'
                when dur_ns = 0
                then 'duration of zero'
            end as bound_reason
        from able
        left join
            device_roof(wanted_run, wanted_ceiling) as machine
            on machine.run_id = able.run_id
            and machine.source_id = able.source_id
            and machine.device_id is not distinct from able.device_id
            and able.side_kind = 'device'
    )
select
    run_id,
    source_id,
    event_id,
    op_kind,
    side_kind,
    device_id,
    device_name,
    name,
    type_name,
    category_name,
    op_name,
    program_name,
    op_class,
    class_rank,
    occurrence_count,
    dur_ns,
    self_ns,
    total_flop,
    flop_basis,
    flop_reason,
    total_bytes,
    bytes_basis,
    bytes_reason,
    'reported' as provenance_kind,
    work_source_name,
    case when total_flop > 0 then ratio(total_flop, total_bytes) end as intensity_flop_per_byte,
    ratio(total_flop * 1e9, dur_ns) as achieved_flop_per_s,
    ratio(total_bytes * 1e9, dur_ns) as achieved_bytes_per_s,
    peak_name as ceiling_name,
    peak as peak_flop_per_s,
    bandwidth as peak_bytes_per_s,
    ratio(peak, bandwidth) as ridge_flop_per_byte,
    peak_basis,
    compute_ns,
    bandwidth_ns,
    case
        when flop_impossible is null then ratio(total_flop * 1e9, peak * dur_ns)
    end as utilization_ratio,
    highest_flop_per_s,
    case when bound_reason is null then roof['bound_kind'] end as bound_kind,
    case when bound_reason is null then roof['nearest_name'] end as nearest_name,
    case
        when coalesce(bound_reason, flop_impossible, bytes_impossible) is null
        then roof['roof_ratio']
    end as roof_ratio,
    coalesce(bound_reason, flop_impossible, bytes_impossible) as bound_reason,
    coalesce(flop_impossible, bytes_impossible) is not null as is_impossible,
    case
        when peak < highest_flop_per_s and total_flop > 0
        then 'units unknown: ' || peak_name || ' to ' || peaks[-1]['name']
    end as peak_reason,
    bound_name as reported_bound_name
from held
