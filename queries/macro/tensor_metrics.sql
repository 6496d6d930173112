-- purpose = "Counters of tensor operations on given types: a list with all names that make up
-- each type."
-- source = "metrics of each chip as NVIDIA's CUPTI 13.5 lists them (of 7.x: 12.9); Nsight Compute
-- 2025.3 on an H100"
-- parameters = "capability generation kinds"
-- kinds = "VARCHAR: list of types: fp64, tf32, bf16, fp16, fp8, fp4, int8; NULL for none"
case
    when len(kinds) = 0
    then []
    when capability is null
    then ['regex:^sm__ops_path_tensor_src_']
    -- the operations are 512 times that there; older versions have no other counter of it
    when capability = '7.0'
    then ['sm__inst_executed_pipe_tensor.sum']
    else
        list_transform(
            list_sort(
                list_distinct(
                    flatten(
                        list_transform(
                            kinds,
                            lambda kind: case
                                when kind in ('bf16', 'tf32')
                                then [kind || '_dst_fp32']
                                when kind = 'fp16' and capability = '7.5'
                                then ['fp16_dst_fp16', 'fp16_bf16_tf32_dst_fp32']
                                when kind = 'fp16' and generation <> 9
                                then ['fp16_dst_fp16', 'fp16_dst_fp32']
                                when kind = 'fp8' and generation = 9
                                then ['fp8_sparsity_off']
                                when kind = 'fp8' and (capability = '10.0' or generation = 11)
                                then ['fp4_fp6_fp8_dst_fp16', 'fp4_fp6_fp8_dst_fp32']
                                when kind = 'fp8' and generation > 9
                                then ['fp8_dst_fp16', 'fp8_dst_fp32']
                                when kind = 'fp4' and (capability = '10.0' or generation = 11)
                                then
                                    ['fp4_dst_fp32', 'fp4_fp6_fp8_dst_fp16', 'fp4_fp6_fp8_dst_fp32']
                                when kind = 'fp4'
                                then ['fp4_dst_fp32', 'fp4_fp6_dst_fp16', 'fp4_fp6_dst_fp32']
                                else [kind]
                            end
                        )
                    )
                )
            ),
            lambda path:'sm__ops_path_tensor_src_' || path || '.sum'
        )
end
