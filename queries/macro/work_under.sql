-- purpose = "Launches with their operations by an FP16 convention and of one compute ceiling, and
-- its peak; with all columns of kernel_bound."
-- source = "Zhu 2018 (TBD), eq. 2; docs/metrics.md, sections Ceilings and FP16 operations on the
-- ordinary pipes"
-- needs = ["kernel_counter"]
-- depends = ["kernel_bound", "of_ceiling", "main_ceiling"]
-- parameters = "wanted_ceiling-launches convention"
-- convention = "arithmetic: FP16 instructions with work, two operations each; packed: all, two
-- each; scalar: all, one each"
-- columns = "fp16_flop all_flop other_fp16_flop other_flop compute_ns ceiling_name work_flop
-- work_reason peak"
-- fp16_flop = "BIGINT: FP16 operations by the convention"
-- all_flop = "BIGINT: operations of all precisions; NULL unless each was counted"
-- other_fp16_flop = "BIGINT: FP16 operations by the other convention: packed for arithmetic,
-- arithmetic for the others"
-- other_flop = "BIGINT: operations of all precisions by the other convention"
-- ceiling_name = "ceiling; NULL for own unless all operations are known"
-- work_flop = "BIGINT: operations of that kind; NULL if they were not counted"
-- work_reason = "why they are NULL"
-- peak = "DOUBLE: ceiling of the device, else of the launch [FLOP/s]; NULL if neither is known"
with
    counted as (
        select
            * replace (
                case
                    when convention = 'arithmetic' then compute_ns else compute_ns + fp16_beside_ns
                end as compute_ns
            ),
            case
                convention
                when 'arithmetic'
                then fp16_arithmetic_flop
                when 'packed'
                then fp16_packed_flop
                else fp16_scalar_flop
            end as fp16_flop,
            case
                convention
                when 'arithmetic'
                then total_arithmetic_flop
                when 'packed'
                then total_packed_flop
                else total_scalar_flop
            end as all_flop,
            case
                convention when 'arithmetic' then fp16_packed_flop else fp16_arithmetic_flop
            end as other_fp16_flop,
            case
                convention when 'arithmetic' then total_packed_flop else total_arithmetic_flop
            end as other_flop
        from kernel_bound
    ),
    held as (
        select
            *,
            case
                when wanted_ceiling <> 'own'
                then cast(wanted_ceiling as varchar)
                when all_flop is not null
                then
                    main_ceiling(
                        fp64_flop,
                        fp32_flop,
                        fp16_flop,
                        tensor_fp64_flop,
                        tensor_tf32_flop,
                        tensor_bf16_flop,
                        tensor_fp16_flop,
                        tensor_fp8_flop,
                        tensor_fp4_flop,
                        tensor_mixed_flop,
                        tensor_int_flop
                    )
            end as ceiling_name
        from counted
    )
select
    *,
    of_ceiling(
        ceiling_name,
        fp64_flop,
        fp32_flop,
        fp16_flop,
        tensor_fp64_flop,
        tensor_tf32_flop,
        tensor_bf16_flop,
        tensor_fp16_flop,
        tensor_fp8_flop,
        tensor_fp4_flop,
        tensor_int_flop
    ) as work_flop,
    case
        when work_flop is not null
        then null
        when ceiling_name is null
        then total_reason
        when ceiling_name = 'tensor_mixed'
        then 'tensor: types not distinguished'
        else
            coalesce(
                case
                    ceiling_name
                    when 'fp64'
                    then fp64_reason
                    when 'fp32'
                    then fp32_reason
                    when 'fp16'
                    then fp16_reason
                    else tensor_reason
                end,
                'not_collected'
            )
    end as work_reason,
    of_ceiling(
        ceiling_name,
        fp64_flop_per_s,
        fp32_flop_per_s,
        fp16_flop_per_s,
        tensor_fp64_flop_per_s,
        tensor_tf32_flop_per_s,
        tensor_bf16_flop_per_s,
        tensor_fp16_flop_per_s,
        tensor_fp8_flop_per_s,
        tensor_fp4_flop_per_s,
        tensor_int8_flop_per_s
    )
    * case when ceiling_name = 'fp16' and convention = 'scalar' then 0.5 else 1 end as peak
from held
