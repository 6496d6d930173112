-- purpose = "Operations per cycle of tensor cores on dense operands, from peak_sustained of the
-- counter of a type; NULL if it can be the sparse peak."
-- source = "NVIDIA Nsight Compute's counters: sparsity_off is dense. Those of all operands
-- (capability 9.0) have the sparse peak, twice the dense one: 8,192 a cycle of an H100's SM for
-- BF16, and 4,096 for op_hgmma_src_bf16_dst_fp32_sparsity_off"
-- parameters = "peak_per_cycle type_name generation"
-- peak_per_cycle = "DOUBLE: peak_sustained"
-- type_name = "VARCHAR: of the operands: tf32, bf16, fp16, fp8, fp4 or int8"
case
    when generation <= 8
    then peak_per_cycle
    when generation = 9 and type_name = 'fp8'
    then peak_per_cycle
    when generation = 9
    then 0.5 * peak_per_cycle
end
