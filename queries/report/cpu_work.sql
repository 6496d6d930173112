-- purpose = "Processor work: operations, memory traffic, intensity, rates and utilization by run,
-- file, measurement, interval, scope or control group."
-- source = "Javed 2019, sect. 3 (eq. 1) and 4; Zhu 2018 (TBD), eq. 2"
-- topic = "processors"
-- needs = ["measurement"]
-- depends = ["cpu_group", "possible_ratio", "above_peak"]
-- parameters = "run_id-all by ceiling"
-- by = {doc = "what a row is: run (files in parallel, their measurements in sequence), source (a
-- file), measurement, interval, scope (socket, core, thread …) or cgroup", default = "run",
-- choices = ["run", "source", "measurement", "interval", "scope", "cgroup"]}
-- ceiling = {type = "VARCHAR", doc = "compute peak for the utilization: fp32, fp64, or with a
-- width (fp32_avx2 …); fp32 and fp64 use the widest unit", default = "fp32", choices = ["fp32",
-- "fp64", "fp16", "fp32_scalar", "fp32_sse", "fp32_avx2", "fp32_avx512", "fp64_scalar",
-- "fp64_sse", "fp64_avx2", "fp64_avx512"]}
-- columns = "name-measured part_name interval_index end_ns-interval total_flop-any least_flop
-- dram_bytes-cpu intensity_flop_per_byte flop_reason bytes_reason dur_ns achieved_flop_per_s
-- achieved_bytes_per_s utilization_ratio ceiling_name bandwidth_ratio least_flop_per_s
-- reported_flop_per_s intensity_low_flop_per_byte
-- intensity_high_flop_per_byte time_reason utilization_reason fp64_flop-any fp32_flop-any
-- fp16_flop fp64_scalar_flop fp64_128_flop fp64_256_flop fp64_512_flop fp32_scalar_flop
-- fp32_128_flop fp32_256_flop fp32_512_flop dram_read_bytes dram_write_bytes source_count
-- node_count run_id"
-- least_flop = "DOUBLE: operations of the events that were collected, if total_flop is NULL: a
-- lower
-- bound"
-- least_flop_per_s = "DOUBLE: least_flop / elapsed time / node_count"
-- reported_flop_per_s = "DOUBLE: rate computed by perf (its metric GFLOPs) of the only
-- measurement of
-- the row"
-- intensity_flop_per_byte = "total_flop / dram_bytes"
-- achieved_flop_per_s = "total_flop / elapsed time / node_count: rate per node"
-- achieved_bytes_per_s = "dram_bytes / elapsed time / node_count: rate per node"
-- utilization_ratio = "operations of the ceiling's precision / (its peak x elapsed time x
-- node_count)"
-- ceiling_name = "peak of the processor with this name, or of its widest unit of this precision"
-- bandwidth_ratio = "achieved_bytes_per_s / peak of memory"
-- intensity_low_flop_per_byte = "DOUBLE: lower bound, from counters that ran part of the time,
-- the spread of repeats, and events that were not collected"
-- intensity_high_flop_per_byte = "DOUBLE: upper bound, likewise"
-- utilization_reason = "VARCHAR: why the utilization is NULL despite known operations and time"
with
    reported as (
        select
            measurement.run_id,
            case when $by <> 'run' then measurement.source_id end as owner_id,
            case when $by = 'measurement' then measurement.measurement_index end as part_index,
            case when count(*) = 1 then max(counter.value) * 1e9 end as reported_flop_per_s
        from measurement
        left join
            counter
            on counter.run_id = measurement.run_id
            and counter.source_id = measurement.source_id
            and counter.measurement_index = measurement.measurement_index
            and counter.record_kind = 'metric'
            and lower(counter.event_name) = 'gflops'
        where $by in ('run', 'source', 'measurement')
        group by all
    )
select
    case
        $by when 'run' then title when 'source' then file_name else coalesce(target_name, file_name)
    end as name,
    slot_name as part_name,
    slot_index as interval_index,
    end_ns,
    total_flop,
    case when total_flop is null then total_low_flop end as least_flop,
    dram_bytes,
    ratio(total_flop, dram_bytes) as intensity_flop_per_byte,
    flop_reason,
    bytes_reason,
    dur_ns,
    ratio(total_flop * 1e9, node_ns) as achieved_flop_per_s,
    ratio(dram_bytes * 1e9, node_ns) as achieved_bytes_per_s,
    possible_ratio(ceiling_ns, node_ns) as utilization_ratio,
    ceiling_name,
    possible_ratio(bandwidth_ns, node_ns) as bandwidth_ratio,
    ratio(least_flop * 1e9, node_ns) as least_flop_per_s,
    reported_flop_per_s,
    ratio(total_low_flop, dram_high_bytes) as intensity_low_flop_per_byte,
    ratio(total_high_flop, dram_low_bytes) as intensity_high_flop_per_byte,
    time_reason,
    case
        when (flop_reason is null or ceiling_flop is not null) and time_reason is null
        then
            coalesce(
                ceiling_reason,
                above_peak(
                    ratio(ceiling_ns, node_ns), 'operations (measured)', 'the peak ' || ceiling_name
                ),
                above_peak(
                    ratio(bandwidth_ns, node_ns), 'bytes (measured)', 'the bandwidth of memory'
                )
            )
    end as utilization_reason,
    fp64_flop,
    fp32_flop,
    fp16_flop,
    fp64_scalar_flop,
    fp64_128_flop,
    fp64_256_flop,
    fp64_512_flop,
    fp32_scalar_flop,
    fp32_128_flop,
    fp32_256_flop,
    fp32_512_flop,
    dram_read_bytes,
    dram_write_bytes,
    source_count,
    node_count,
    figures.run_id
from cpu_group($run_id, $by, $ceiling) as figures
left join
    reported
    on reported.run_id = figures.run_id
    and reported.owner_id is not distinct from figures.owner_id
    and reported.part_index is not distinct from figures.part_index
order by
    title, figures.run_id, file_name, figures.owner_id, figures.part_index, slot_index, slot_name
