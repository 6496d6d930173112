-- purpose = "Operators of a timeline by calling context: device time, calls and work (joined
-- counters, else modeled), compared with the device peaks."
-- source = "docs/metrics.md, section Operators of a timeline"
-- needs = ["attribution", "calling_context", "op_call"]
-- depends = ["step_window", "work_by_context", "device_ceiling", "device_known",
-- "ceilings_of_work", "unit_of_kernel", "max_share", "above_peak", "time_at_peak", "joined_bound",
-- "shared_by_all"]
-- parameters = "wanted_run wanted_phase wanted_provenance"
-- wanted_provenance = "VARCHAR: measured, modelled or best: measured if all kernels have
-- counters, else modeled"
-- columns = "run_id source_id context_id name family_name input_dims input_types module_path
-- phase_kind basis total_ns kernel_ns kernel_count copy_count call_count-work host_ns total_flop
-- total_bytes is_whole work_ns is_known is_impossible provenance_kind reason device_name-several
-- ceiling_name-lowest peak_flop_per_s highest_flop_per_s peak_bytes_per_s compute_ns bandwidth_ns
-- fp32_flop fp32_roof peak_reason"
-- context_id = "unit_context_id of work_by_context; NULL without a context"
-- name = "operator; NULL without one"
-- module_path = "VARCHAR: module that calls it"
-- basis = "source of total_ns: kernels (with copies and memsets), or host operators without
-- kernels"
-- total_ns = "sum of the durations of the kernels, copies and memsets; of host operators host_ns"
-- kernel_ns = "time of the kernels; NULL for host operators"
-- total_bytes = "measured: bytes of device memory; modelled: minimum bytes read and written"
-- is_whole = "BOOLEAN: operations and bytes cover all of its kernels"
-- work_ns = "BIGINT: part of total_ns that operations and bytes cover: less if some kernels lack
-- counters"
-- is_known = "BOOLEAN: operations and bytes are known"
-- reason = "why operations or bytes are unknown or incomplete"
-- peak_flop_per_s = "compute peak; NULL if unknown, impossible, or not equal on all its devices"
-- peak_bytes_per_s = "peak of device memory; NULL if unknown, or impossible"
-- fp32_flop = "DOUBLE: FP32 operations of the kernels with counters and a known peak"
-- fp32_roof = "DOUBLE: the FP32 operations, times 1e9, that these could do in their time"
-- peak_reason = "VARCHAR: why one of these is NULL if the work is known, or a range"
with
    steps as materialized(from step_window(wanted_run, wanted_phase)),
    contexts as materialized(
        select
            work.*,
            context.context_kind = 'op' as is_op,
            context.input_dims,
            context.input_types,
            context.module_path,
            context.phase_kind,
            -- the last argument of a convolution of cuDNN
            context.name in ('aten::cudnn_convolution', 'aten::cudnn_convolution_transpose')
            and regexp_matches(context.concrete_inputs, '"False"\s*\]\s*$') as is_tf32_off
        from work_by_context(wanted_run) as work
        join
            (from calling_context where wanted_run is null or run_id = wanted_run) as context
            on context.run_id = work.run_id
            and context.source_id = work.source_id
            and context.context_id = work.context_id
    ),
    kernel_units as materialized(
        select name, unit_of_kernel(name) as unit_name
        from
            (
                select distinct name
                from attribution
                where (wanted_run is null or run_id = wanted_run) and work_kind = 'kernel'
            )
        where unit_name is not null
    ),
    -- by step first: to hold every row against the bounds of the steps takes ten times as long
    ran as (
        select
            work.run_id,
            work.source_id,
            context_id,
            work.device_id,
            step_index,
            sum(work.dur_ns) as device_ns,
            count(*) filter (where work_kind = 'kernel') as kernel_count,
            case
                when kernel_count = 0
                then 0
                else sum(work.dur_ns) filter (where work_kind = 'kernel')
            end as kernel_ns,
            count(*) filter (where work_kind <> 'kernel') as copy_count,
            arg_min(op_reason, (- coalesce(work.dur_ns, 0), op_reason)) as op_reason,
            bool_or(capture_event_id is not null) as is_replayed,
            arg_min(unit_name, (- coalesce(work.dur_ns, 0), unit_name)) filter (
                where unit_name is not null
            ) as unit_name,
            count(counted.total_flop) as with_flop_count,
            count(counted.dram_bytes) as with_bytes_count,
            count(*) filter (where is_counted) as counted_count,
            sum(work.dur_ns) filter (where is_counted) as counted_ns,
            sum(counted.total_flop) as all_flop,
            sum(counted.dram_bytes) as all_bytes,
            sum(counted.total_flop) filter (where is_counted) as counted_flop,
            sum(counted.dram_bytes) filter (where is_counted) as counted_bytes,
            count(*) filter (
                where is_counted and (counted.compute_ns is null or counted.dram_ns is null)
            ) as unheld_count,
            sum(counted.compute_ns) filter (where is_counted) as compute_ns,
            sum(counted.dram_ns) filter (where is_counted) as bandwidth_ns,
            arg_min(counted.ceiling_name, (- counted.total_flop, counted.ceiling_name)) filter (
                where counted.total_flop is not null
            ) as ceiling_name,
            max(counted.fp32_flop_per_s) as fp32_flop_per_s,
            sum(counted.fp32_flop) filter (
                where counted.fp32_flop_per_s is not null and counted.dur_ns > 0
            ) as fp32_flop,
            sum(counted.fp32_flop_per_s * counted.dur_ns) filter (
                where counted.fp32_flop is not null
            ) as fp32_roof
        from (from attribution where wanted_run is null or run_id = wanted_run) as work
        left join
            (
                select *, total_flop is not null and dram_bytes is not null as is_counted
                from joined_bound
                where
                    (wanted_run is null or run_id = wanted_run) and wanted_provenance <> 'modelled'
            ) as counted
            on counted.run_id = work.run_id
            and counted.source_id = work.source_id
            and counted.event_id = work.event_id
            and work.work_kind = 'kernel'
        left join kernel_units on kernel_units.name = work.name and work.work_kind = 'kernel'
        group by work.run_id, work.source_id, context_id, work.device_id, step_index
    ),
    kernel_sources as (
        select distinct run_id, source_id, true as has_kernels from ran where kernel_count > 0
    ),
    called as (
        select
            run_id,
            source_id,
            context_id,
            step_index,
            count(*) as call_count,
            count(*) filter (where work_count > 0) as launching_count,
            sum(self_ns) as self_ns
        from op_call
        where wanted_run is null or run_id = wanted_run
        group by run_id, source_id, context_id, step_index
    ),
    on_devices as (
        select
            ran.run_id,
            ran.source_id,
            coalesce(contexts.unit_context_id, ran.context_id) as context_id,
            ran.device_id,
            sum(
                columns(
                    '^(device|kernel|counted|compute|bandwidth)_ns$|^(all|counted)_(flop|bytes)$'
                )
            ) as "\0",
            sum(
                columns(
                    '^(kernel|copy|counted|unheld|with_flop|with_bytes)_count$|^fp32_(flop|roof)$'
                )
            ) as "\0",
            max(fp32_flop_per_s) as fp32_flop_per_s,
            arg_min(op_reason, (- coalesce(device_ns, 0), op_reason)) as op_reason,
            bool_or(is_replayed) as is_replayed,
            arg_min(unit_name, (- coalesce(kernel_ns, 0), unit_name)) filter (
                where unit_name is not null
            ) as unit_name,
            arg_min(ran.ceiling_name, (- all_flop, ran.ceiling_name)) as counted_ceiling_name
        from ran
        join steps on steps.run_id = ran.run_id and steps.source_id = ran.source_id
        left join
            contexts
            on contexts.run_id = ran.run_id
            and contexts.source_id = ran.source_id
            and contexts.context_id = ran.context_id
        where first_step_index is null or step_index between first_step_index and last_step_index
        group by all
    ),
    host_parts as (
        select
            called.run_id,
            called.source_id,
            coalesce(contexts.unit_context_id, called.context_id) as context_id,
            sum(call_count) filter (
                where contexts.unit_context_id = called.context_id
            ) as call_count,
            sum(launching_count) filter (
                where contexts.unit_context_id = called.context_id
            ) as launching_count,
            sum(self_ns) as host_ns
        from called
        join steps on steps.run_id = called.run_id and steps.source_id = called.source_id
        left join
            contexts
            on contexts.run_id = called.run_id
            and contexts.source_id = called.source_id
            and contexts.context_id = called.context_id
        where first_step_index is null or step_index between first_step_index and last_step_index
        group by all
    ),
    ceilings as materialized(
        select
            run_id,
            source_id,
            device_id,
            list({'value':value, 'name':ceiling_name, 'origin':origin_kind}) filter (
                where ceiling_kind = 'compute'
            ) as peaks,
            any_value({'value':value, 'origin':origin_kind}) filter (
                where ceiling_kind = 'bandwidth' and ceiling_name = 'dram'
            ) as memory
        from device_ceiling
        where wanted_run is null or run_id = wanted_run
        group by run_id, source_id, device_id
    ),
    able as (
        select
            parts.*,
            ceilings_of_work(precision_name, is_heavy, unit_name, is_tf32_off) as ceiling_names
        from on_devices as parts
        left join
            contexts
            on contexts.run_id = parts.run_id
            and contexts.source_id = parts.source_id
            and contexts.context_id = parts.context_id
    ),
    device_parts as (
        select
            parts.run_id,
            parts.source_id,
            parts.context_id,
            sum(
                columns(
                    '^(device|kernel|counted|compute|bandwidth)_ns$|^(all|counted)_(flop|bytes)$'
                )
            ) as "\0",
            sum(
                columns(
                    '^(kernel|copy|counted|unheld|with_flop|with_bytes)_count$|^fp32_(flop|roof)$'
                )
            ) as "\0",
            max(fp32_flop_per_s) as fp32_flop_per_s,
            arg_min(op_reason, (- coalesce(device_ns, 0), op_reason)) as op_reason,
            bool_or(is_replayed) as is_replayed,
            arg_min(unit_name, (- coalesce(kernel_ns, 0), unit_name)) filter (
                where unit_name is not null
            ) as unit_name,
            arg_min(
                counted_ceiling_name, (- all_flop, counted_ceiling_name)
            ) as counted_ceiling_name,
            shared_by_all(known.device_name) as device_name,
            -- calls are not told by device
            case
                when count(*) > 1 then 'one for all of its devices' else 'for this device'
            end as device_words,
            shared_by_all(
                list_sort(
                    list_filter(peaks, lambda peak:list_contains(ceiling_names, peak['name']))
                )
            ) as peaks,
            shared_by_all(memory) as memory
        from able as parts
        left join
            (from device_known where wanted_run is null or run_id = wanted_run) as known
            on known.run_id = parts.run_id
            and known.source_id = parts.source_id
            and known.device_id = parts.device_id
        left join
            ceilings
            on ceilings.run_id = parts.run_id
            and ceilings.source_id = parts.source_id
            and ceilings.device_id = parts.device_id
        group by parts.run_id, parts.source_id, parts.context_id
    ),
    parts as (
        select *
        from device_parts
        union all by name
        select *
        from host_parts
    ),
    units as (
        select
            run_id,
            source_id,
            context_id,
            coalesce(any_value(has_kernels), false) as has_kernels,
            max(case when has_kernels then device_ns else host_ns end) as total_ns,
            coalesce(bool_or(is_replayed), false) as is_replayed,
            nullif(
                max(case when has_kernels then launching_count else call_count end), 0
            ) as call_count,
            coalesce(max(counted_count), 0) as counted_count,
            max(
                columns(
                    * exclude (
                        run_id,
                        source_id,
                        context_id,
                        has_kernels,
                        is_replayed,
                        call_count,
                        launching_count,
                        counted_count
                    )
                )
            ) as "\0"
        from parts
        left join kernel_sources using (run_id, source_id)
        group by run_id, source_id, context_id
        having any_value(has_kernels) is null or max(kernel_count) is not null
    ),
    worked as (
        select
            units.* exclude (compute_ns, bandwidth_ns),
            case when is_op then name end as name,
            family_name,
            input_dims,
            input_types,
            module_path,
            phase_kind,
            precision_name,
            ceilings_of_work(precision_name, is_heavy, unit_name, is_tf32_off) as ceiling_names,
            cast(contexts.flop_count as double) * units.call_count as modelled_flop,
            cast(accessed_bytes as double) * units.call_count as modelled_bytes,
            modelled_flop is not null and modelled_bytes is not null as is_modelled,
            kernel_count > 0 and counted_count = kernel_count as is_measured,
            case
                wanted_provenance
                when 'modelled'
                then false
                when 'measured'
                then true
                else
                    is_measured
                    or (
                        not is_modelled
                        and (
                            counted_count > 0
                            or with_flop_count = kernel_count
                            or with_bytes_count = kernel_count
                        )
                        and kernel_count > 0
                    )
            end as is_by_counters,
            case
                when is_modelled
                then null
                when is_op is not true
                then coalesce(op_reason, 'no operator')
                when is_replayed
                then 'replayed by a graph: only the shapes of the capture are in the file'
                when units.call_count is null
                then 'calls not in the file, or not in these steps'
                else reason
            end as model_reason,
            case
                when counted_count = kernel_count and copy_count > 0
                then 'copies and sets have no counters'
                when counted_count = kernel_count
                then null
                when counted_count > 0
                then
                    'counters of '
                    || counted_count
                    || ' of '
                    || kernel_count
                    || ' kernels: operations and bytes are theirs'
                when with_flop_count > 0
                then 'bytes were not counted'
                when with_bytes_count > 0
                then 'operations were not counted'
                else 'no counters'
            end as counter_reason,
            kernel_count > 0
            and case when is_by_counters then is_measured else is_modelled end as is_whole,
            case
                when counted_count > 0
                then counted_flop
                when with_flop_count = kernel_count
                then all_flop
            end as measured_flop,
            case
                when counted_count > 0
                then counted_bytes
                when with_bytes_count = kernel_count
                then all_bytes
            end as measured_bytes,
            case when counted_count > 0 then counted_ns else kernel_ns end as measured_ns,
            case
                when unheld_count = 0 and counted_count > 0 then compute_ns
            end as measured_compute_ns,
            case
                when unheld_count = 0 and counted_count > 0 then bandwidth_ns
            end as measured_bandwidth_ns
        from units
        left join
            contexts
            on contexts.run_id = units.run_id
            and contexts.source_id = units.source_id
            and contexts.context_id = units.context_id
    ),
    -- one set of figures for each: by counters, or modelled
    chosen as (
        select
            *,
            case when is_by_counters then measured_flop else modelled_flop end as total_flop,
            case when is_by_counters then measured_bytes else modelled_bytes end as total_bytes,
            case when is_by_counters then measured_ns else total_ns end as work_ns,
            total_flop is not null and total_bytes is not null as is_known,
            case when is_by_counters then 'measured' else 'modeled' end as work_kind,
            case when is_by_counters then counter_reason else model_reason end as reason,
            -- of those that the units can have: the lowest that the rate is not above
            coalesce(
                list_filter(
                    peaks, lambda peak:modelled_flop * 1e9 <= max_share() * peak['value'] * total_ns
                )[1],
                peaks[-1]
            ) as lowest,
            case
                when is_by_counters
                then counted_ceiling_name
                else coalesce(lowest['name'], ceiling_names[1])
            end as ceiling_name,
            -- what all precisions together can do at most
            case
                when not is_by_counters
                then lowest['value']
                when measured_flop > 0
                then ratio(measured_flop * 1e9, measured_compute_ns)
                else fp32_flop_per_s
            end as peak_flop_per_s,
            case
                when is_by_counters then peak_flop_per_s else peaks[-1]['value']
            end as highest_flop_per_s,
            case
                when is_by_counters
                then measured_compute_ns
                else time_at_peak(modelled_flop, lowest['value'])
            end as compute_ns,
            case
                when is_by_counters
                then measured_bandwidth_ns
                else time_at_peak(modelled_bytes, memory['value'])
            end as bandwidth_ns
        from worked
    ),
    judged as (
        select
            *,
            above_peak(
                ratio(compute_ns, work_ns),
                'operations (' || work_kind || ')',
                'the peak '
                || ceiling_name
                || case when is_by_counters then '' else ' (' || lowest['origin'] || ')' end
            ) as compute_reason,
            above_peak(
                ratio(bandwidth_ns, work_ns),
                'bytes (' || work_kind || ')',
                'the bandwidth of memory (' || memory['origin'] || ')'
            ) as memory_reason,
            nullif(concat_ws('; ', compute_reason, memory_reason), '') as impossible_reason
        from chosen
    )
select
    run_id,
    source_id,
    context_id,
    name,
    family_name,
    input_dims,
    input_types,
    module_path,
    phase_kind,
    case when has_kernels then 'kernels' else 'host operators' end as basis,
    cast(total_ns as bigint) as total_ns,
    -- of an operator that launched copies only, no kernel is measured, not unknown
    cast(kernel_ns as bigint) as kernel_ns,
    cast(kernel_count as bigint) as kernel_count,
    cast(copy_count as bigint) as copy_count,
    cast(call_count as bigint) as call_count,
    cast(host_ns as bigint) as host_ns,
    total_flop,
    total_bytes,
    is_whole,
    cast(work_ns as bigint) as work_ns,
    is_known,
    impossible_reason is not null as is_impossible,
    case
        when coalesce(total_flop, total_bytes) is not null
        then case when is_by_counters then 'measured' else 'modelled' end
    end as provenance_kind,
    reason,
    device_name,
    ceiling_name,
    case when compute_reason is null then peak_flop_per_s end as peak_flop_per_s,
    case when compute_reason is null then highest_flop_per_s end as highest_flop_per_s,
    case when memory_reason is null then memory['value'] end as peak_bytes_per_s,
    case when compute_reason is null then compute_ns end as compute_ns,
    case when memory_reason is null then bandwidth_ns end as bandwidth_ns,
    cast(fp32_flop as double) as fp32_flop,
    fp32_roof,
    case
        when not is_known
        then null
        when not has_kernels
        then 'operators of the host are held to no peak'
        when impossible_reason is not null
        then impossible_reason
        when is_by_counters and (compute_ns is null or bandwidth_ns is null)
        then 'no peak ' || device_words
        when is_by_counters
        then null
        when total_flop > 0 and ceiling_name is null
        then 'no peak for ' || precision_name
        when total_flop > 0 and peak_flop_per_s is null
        then 'no peak ' || ceiling_name || ' ' || device_words
        when memory['value'] is null
        then 'no bandwidth of memory ' || device_words
        when lowest['value'] < highest_flop_per_s
        then 'units unknown: ' || lowest['name'] || ' to ' || peaks[-1]['name']
    end as peak_reason
from judged
