-- purpose = "Processor work of each group of measurements: operations and traffic, their time at
-- peak, and the number of nodes."
-- source = "Javed 2019, sect. 3 (eq. 1) and 4; docs/metrics.md, section Processor counters"
-- needs = ["measurement"]
-- depends = ["counter_figures", "event_quantity", "device_ceiling", "cpu_known", "run_title",
-- "label_value", "whole_sum", "first_reason", "width_ceiling", "only_one", "shared_by_all"]
-- parameters = "wanted_run grouping_kind wanted_ceiling"
-- grouping_kind = "run, source, measurement, interval, scope or cgroup"
-- wanted_ceiling = "compute peak of the utilization: fp32, fp64, or of a width (fp32_avx2 …)"
-- columns = "run_id owner_id part_index slot_index slot_name title file_name target_name
-- device_name source_count node_count end_ns-interval dur_ns node_ns total_flop-any
-- total_low_flop total_high_flop fp64_flop-any fp32_flop-any fp16_flop fp64_scalar_flop
-- fp64_128_flop fp64_256_flop fp64_512_flop fp32_scalar_flop fp32_128_flop fp32_256_flop
-- fp32_512_flop ceiling_flop dram_bytes-cpu dram_low_bytes dram_high_bytes dram_read_bytes
-- dram_write_bytes ceiling_name ceiling_ns compute_ns-width bandwidth_ns flop_reason bytes_reason
-- time_reason ceiling_reason"
-- owner_id = "source; NULL for a run"
-- part_index = "BIGINT: measurement; NULL for a run or source"
-- target_name = "VARCHAR: what was measured, if the row is one measurement"
-- device_name = "processor; NULL if unknown, or files have different ones"
-- dur_ns = "elapsed time: of files the longest, of measurements of a file the sum"
-- node_ns = "DOUBLE: elapsed time of all nodes: dur_ns x node_count"
-- ceiling_flop = "DOUBLE: operations of the ceiling's precision"
-- ceiling_name = "compute peak; NULL if files have different ones"
-- ceiling_ns = "DOUBLE: operations of its precision at that peak, on one node after another"
-- ceiling_reason = "VARCHAR: why the ceiling or the operations of its precision are NULL"
with
    peaks as (
        select run_id, source_id, map_from_entries(list((ceiling_name, value))) as peak_of
        from device_ceiling
        where
            device_id is null
            and ceiling_kind in ('compute', 'bandwidth')
            and (wanted_run is null or run_id = wanted_run)
        group by run_id, source_id
    ),
    wanted as (
        select run_id, source_id, ceiling_name, value
        from device_ceiling
        where
            device_id is null
            and ceiling_kind = 'compute'
            and (wanted_run is null or run_id = wanted_run)
            and (ceiling_name = wanted_ceiling or starts_with(ceiling_name, wanted_ceiling || '_'))
        qualify
            row_number() over (
                partition by run_id, source_id
                order by ceiling_name <> wanted_ceiling, value desc, ceiling_name
            )
            = 1
    ),
    by_width as (
        select
            events.run_id,
            events.source_id,
            events.measurement_index,
            events.slot_key,
            events.precision_name || '_' || events.width_name as kind,
            events.quantity,
            case
                when events.quantity = 0
                then 0
                else
                    ratio(
                        events.quantity * 1e9,
                        peak_of[
                            width_ceiling(
                                events.precision_name, events.width_name, map_keys(peak_of)
                            )
                        ]
                    )
            end as peak_ns
        from
            event_quantity(
                wanted_run,
                case
                    when grouping_kind in ('interval', 'scope', 'cgroup')
                    then grouping_kind
                    else 'measurement'
                end,
                false
            ) as events
        left join peaks using (run_id, source_id)
        where events.quantity_kind = 'flop' and events.precision_name in ('fp64', 'fp32', 'fp16')
    ),
    widths as (
        select
            run_id,
            source_id,
            measurement_index,
            slot_key,
            map_from_entries(list((kind, quantity))) as flop_of,
            whole_sum(peak_ns) as peak_ns
        from
            (
                select
                    * exclude (quantity, peak_ns),
                    whole_sum(columns('^(quantity|peak_ns)$')) as "\0"
                from by_width
                group by all
            )
        group by all
    ),
    parts as (
        select
            figures.*,
            map{'fp64':fp64_flop, 'fp32':fp32_flop, 'fp16':fp16_flop}[
                split_part(wanted_ceiling, '_', 1)
            ] as ceiling_flop,
            map{'fp64':fp64_reason, 'fp32':fp32_reason, 'fp16':fp16_reason}[
                split_part(wanted_ceiling, '_', 1)
            ] as ceiling_reason,
            flop_of['fp64_scalar'] as fp64_scalar_flop,
            flop_of['fp64_128'] as fp64_128_flop,
            flop_of['fp64_256'] as fp64_256_flop,
            flop_of['fp64_512'] as fp64_512_flop,
            flop_of['fp32_scalar'] as fp32_scalar_flop,
            flop_of['fp32_128'] as fp32_128_flop,
            flop_of['fp32_256'] as fp32_256_flop,
            flop_of['fp32_512'] as fp32_512_flop,
            case when fp64_flop + fp32_flop is not null then widths.peak_ns end as peak_ns
        from
            counter_figures(
                wanted_run,
                case
                    when grouping_kind in ('interval', 'scope', 'cgroup')
                    then grouping_kind
                    else 'measurement'
                end
            ) as figures
        left join widths using (run_id, source_id, measurement_index, slot_key)
    ),
    of_source as (
        select
            run_id,
            source_id,
            case
                when grouping_kind not in ('run', 'source') then measurement_index
            end as part_index,
            slot_index,
            slot_name,
            max(end_ns) as end_ns,
            whole_sum(
                columns('^(dur|peak)_ns$|^(total|total_high|ceiling|fp.*)_flop$|_bytes$')
            ) as "\0",
            sum(total_low_flop) as total_low_flop,
            first_reason(total_reason, 'measurements') as flop_reason,
            first_reason(dram_reason, 'measurements') as bytes_reason,
            first_reason(
                case when dur_ns is null then 'the file has no elapsed time' end, 'measurements'
            ) as time_reason,
            first_reason(ceiling_reason, 'measurements') as ceiling_reason
        from parts
        group by all
    ),
    placed as (
        select
            of_source.* exclude (ceiling_reason),
            coalesce(
                ceiling_reason,
                case
                    when wanted.value is null
                    then 'no peak ' || wanted_ceiling || ' is known of the processor'
                end
            ) as ceiling_reason,
            cpu_known.device_name,
            wanted.ceiling_name,
            ratio(ceiling_flop * 1e9, wanted.value) as ceiling_ns,
            peak_ns as compute_ns,
            ratio(dram_bytes * 1e9, peak_of['dram']) as bandwidth_ns
        from of_source
        join
            (from cpu_known where wanted_run is null or run_id = wanted_run) as cpu_known using (
                run_id, source_id
            )
        left join wanted using (run_id, source_id)
        left join peaks using (run_id, source_id)
    ),
    grouped as (
        select
            run_id,
            case when grouping_kind <> 'run' then source_id end as owner_id,
            part_index,
            slot_index,
            slot_name,
            shared_by_all(device_name) as device_name,
            only_one(ceiling_name) as ceiling_name,
            count(*) as source_count,
            cast(max(end_ns) as bigint) as end_ns,
            cast(case when count(dur_ns) = count(*) then max(dur_ns) end as bigint) as dur_ns,
            whole_sum(
                columns(
                    '^(ceiling|compute|bandwidth)_ns$|^(total|total_high|ceiling|fp.*)_flop$|_bytes$'
                )
            ) as "\0",
            sum(total_low_flop) as total_low_flop,
            first_reason(columns('_reason$'), 'files') as "\0"
        from placed
        group by all
    ),
    file as (from source_file where wanted_run is null or run_id = wanted_run)
select
    grouped.run_id,
    owner_id,
    part_index,
    slot_index,
    slot_name,
    run_title.title,
    file.file_name,
    measurement.target_name,
    grouped.device_name,
    source_count,
    ratio(
        source_count,
        case when label_value.label_number > 0 then label_value.label_number else 1 end
    ) as node_count,
    end_ns,
    grouped.dur_ns,
    grouped.dur_ns * node_count as node_ns,
    total_flop,
    total_low_flop,
    total_high_flop,
    fp64_flop,
    fp32_flop,
    fp16_flop,
    columns('^fp(64|32)_(scalar|128|256|512)_flop$'),
    ceiling_flop,
    dram_bytes,
    dram_low_bytes,
    dram_high_bytes,
    dram_read_bytes,
    dram_write_bytes,
    ceiling_name,
    ceiling_ns,
    compute_ns,
    bandwidth_ns,
    flop_reason,
    bytes_reason,
    time_reason,
    ceiling_reason
from grouped
join (from run_title where wanted_run is null or run_id = wanted_run) as run_title using (run_id)
left join
    (from label_value where wanted_run is null or run_id = wanted_run) as label_value
    on grouping_kind = 'run'
    and label_value.run_id = grouped.run_id
    and label_value.label_name = 'ranks_per_node'
left join file on file.run_id = grouped.run_id and file.source_id = grouped.owner_id
left join
    (from measurement where wanted_run is null or run_id = wanted_run) as measurement
    on measurement.run_id = grouped.run_id
    and measurement.source_id = grouped.owner_id
    and measurement.measurement_index = grouped.part_index
