-- purpose = "Processor work: operations, memory traffic, intensity, rates and utilization by run,
-- file, measurement, interval, scope or control group."
-- source = "Javed 2019, sect. 3 (eq. 1) and 4; Zhu 2018 (TBD), eq. 2"
-- topic = "processors"
-- needs = ["measurement"]
-- depends = ["cpu_group"]
-- parameters = "run_id-all by ceiling"
-- by = {doc = "what a row is: run (files in parallel, their measurements in sequence), source (a
-- file), measurement, interval, scope (socket, core, thread …) or cgroup", default = "run",
-- choices = ["run", "source", "measurement", "interval", "scope", "cgroup"]}
-- ceiling = {type = "VARCHAR", doc = "compute peak for the utilization: fp32, fp64, or with a
-- width (fp32_avx2 …); fp32 and fp64 use the widest unit", default = "fp32", choices = ["fp32",
-- "fp64", "fp16", "fp32_scalar", "fp32_sse", "fp32_avx2", "fp32_avx512", "fp64_scalar",
-- "fp64_sse", "fp64_avx2", "fp64_avx512"]}
-- columns = "name-measured part_name interval_index end_ns-interval total_flop-any dram_bytes-cpu
-- intensity_flop_per_byte flop_reason bytes_reason dur_ns achieved_flop_per_s
-- achieved_bytes_per_s utilization_ratio ceiling_name bandwidth_ratio intensity_low_flop_per_byte
-- intensity_high_flop_per_byte time_reason utilization_reason fp64_flop-any fp32_flop-any
-- fp16_flop fp64_scalar_flop fp64_128_flop fp64_256_flop fp64_512_flop fp32_scalar_flop
-- fp32_128_flop fp32_256_flop fp32_512_flop dram_read_bytes dram_write_bytes source_count
-- node_count run_id"
-- intensity_flop_per_byte = "total_flop / dram_bytes"
-- achieved_flop_per_s = "total_flop / elapsed time / node_count: rate per node"
-- achieved_bytes_per_s = "dram_bytes / elapsed time / node_count: rate per node"
-- utilization_ratio = "operations of the ceiling's precision / (its peak x elapsed time x
-- node_count)"
-- ceiling_name = "peak of the processor with this name, or of its widest unit of this precision"
-- bandwidth_ratio = "achieved_bytes_per_s / peak of memory"
-- intensity_low_flop_per_byte = "DOUBLE: lower bound, from counters that ran part of the time and
-- the spread of repeats"
-- intensity_high_flop_per_byte = "DOUBLE: upper bound, likewise"
-- utilization_reason = "VARCHAR: why the utilization is NULL despite known operations and time"
select
    case
        $by when 'run' then title when 'source' then file_name else coalesce(target_name, file_name)
    end as name,
    slot_name as part_name,
    slot_index as interval_index,
    end_ns,
    total_flop,
    dram_bytes,
    ratio(total_flop, dram_bytes) as intensity_flop_per_byte,
    flop_reason,
    bytes_reason,
    dur_ns,
    ratio(total_flop * 1e9, node_ns) as achieved_flop_per_s,
    ratio(dram_bytes * 1e9, node_ns) as achieved_bytes_per_s,
    ratio(ceiling_ns, node_ns) as utilization_ratio,
    ceiling_name,
    ratio(bandwidth_ns, node_ns) as bandwidth_ratio,
    ratio(total_low_flop, dram_high_bytes) as intensity_low_flop_per_byte,
    ratio(total_high_flop, dram_low_bytes) as intensity_high_flop_per_byte,
    time_reason,
    case
        when (flop_reason is null or ceiling_flop is not null) and time_reason is null
        then ceiling_reason
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
    run_id
from cpu_group($run_id, $by, $ceiling)
order by title, run_id, file_name, owner_id, part_index, slot_index, slot_name
