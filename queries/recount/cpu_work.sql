-- purpose = "Operations of a processor are its instructions by width, its traffic reads and
-- writes."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "cpu_work"
-- keys = ["name"]
-- options.by = ["run", "source"]
-- needs = ["measurement", "counter"]
-- upon = "plain_event"
-- is_partial = true
-- skips_unknown = true
with
    instruction as (
        select
            value_of['fp_arith_inst_retired.scalar_double'] as double_1,
            value_of['fp_arith_inst_retired.128b_packed_double'] as double_2,
            value_of['fp_arith_inst_retired.256b_packed_double'] as double_4,
            value_of['fp_arith_inst_retired.512b_packed_double'] as double_8,
            value_of['fp_arith_inst_retired.scalar_single'] as single_1,
            value_of['fp_arith_inst_retired.128b_packed_single'] as single_4,
            value_of['fp_arith_inst_retired.256b_packed_single'] as single_8,
            value_of['fp_arith_inst_retired.512b_packed_single'] as single_16,
            value_of['uncore_imc/cas_count_read/'] as reads,
            value_of['uncore_imc/cas_count_write/'] as writes,
            if(
                $by = 'source',
                source_file.file_name,
                (select any_value(run_name) from run where run_id = $run_id)
            ) as name,
            measurement.dur_ns
        from plain_event
        join (from source_file where run_id = $run_id) as source_file using (source_id)
        join
            (from measurement where run_id = $run_id) as measurement using (
                source_id, measurement_index
            )
        where
            -- one measurement of each source, or of the run
            (select count(*) from measurement where run_id = $run_id) = (
                select if($by = 'source', count(distinct file_name), 1)
                from source_file
                where run_id = $run_id
            )
            and source_id in (
                select source_id
                from measurement
                where run_id = $run_id
                group by source_id
                having count(*) = 1
            )
            -- memory controllers that are counted one by one are no whole
            and not exists (
                from counter where run_id = $run_id and starts_with(pmu_name, 'uncore_imc_')
            )
    )
select
    name,
    double_1 as fp64_scalar_flop,
    2 * double_2 as fp64_128_flop,
    4 * double_4 as fp64_256_flop,
    8 * double_8 as fp64_512_flop,
    single_1 as fp32_scalar_flop,
    4 * single_4 as fp32_128_flop,
    8 * single_8 as fp32_256_flop,
    16 * single_16 as fp32_512_flop,
    fp64_scalar_flop + fp64_128_flop + fp64_256_flop + fp64_512_flop as fp64_flop,
    fp32_scalar_flop + fp32_128_flop + fp32_256_flop + fp32_512_flop as fp32_flop,
    fp64_flop + fp32_flop as total_flop,
    total_flop / nullif(dur_ns, 0) * 1e9 as achieved_flop_per_s,
    total_flop / nullif(reads + writes, 0) as intensity_flop_per_byte,
    reads as dram_read_bytes,
    writes as dram_write_bytes,
    reads + writes as dram_bytes,
    (reads + writes) / nullif(dur_ns, 0) * 1e9 as achieved_bytes_per_s,
    dur_ns
from instruction
