-- purpose = "Time of matrix products and convolutions on FP32 units above what their operations
-- take on the tensor cores that the device has."
-- source = "NVIDIA, cuBLAS and PyTorch (allow_tf32, autocast): FP32 products can use tensor cores
-- as TF32, BF16 or FP16; operations as modeled from shapes"
-- needs = ["attribution"]
-- depends = ["product_window", "device_peak", "time_at_peak", "whole_ns"]
-- parameters = "run_id phase"
-- columns = "name win_ns-products launch_count total_ns total_flop-products unknown_count-products
-- tensor_name peak_factor elapsed_ns source_id-rank device_id"
-- tensor_name = "VARCHAR: type of the tensor cores: TF32, else BF16, else FP16: the first with a
-- higher peak than FP32"
-- peak_factor = "DOUBLE: their peak / the FP32 peak of the device"
-- finding.title = "Matrix products run on FP32 units, not on tensor cores"
-- finding.evidence = "{launch_count:launch} of {total_ns}, most in {name}; the {tensor_name} peak
-- of the device is {peak_factor} times its FP32 peak[; the
-- work of {unknown_count:launch} is unknown, and not in this time]"
-- finding.action = "For TF32, torch.set_float32_matmul_precision('high'); for BF16 or FP16,
-- autocast; if the model bears it."
-- finding.command = "query ops --param by=shape"
-- finding.sums = ["launch_count", "total_ns", "total_flop", "unknown_count"]
-- finding.pool = "compute"
with
    peaks as (
        select
            source_id,
            device_id,
            fp32_flop_per_s,
            dram_bytes_per_s,
            -- the first that is faster: TF32 is not on every device that has it
            case
                when tensor_tf32_flop_per_s > fp32_flop_per_s
                then 'TF32'
                when tensor_bf16_flop_per_s > fp32_flop_per_s
                then 'BF16'
                when tensor_fp16_flop_per_s > fp32_flop_per_s
                then 'FP16'
            end as tensor_name,
            case
                tensor_name
                when 'TF32'
                then tensor_tf32_flop_per_s
                when 'BF16'
                then tensor_bf16_flop_per_s
                else tensor_fp16_flop_per_s
            end as tensor_flop_per_s
        from device_peak
        where run_id = $run_id
    )
select
    products.name,
    whole_ns(
        sum(
            greatest(
                dur_ns - greatest(
                    time_at_peak(flop_count, tensor_flop_per_s),
                    time_at_peak(accessed_bytes, dram_bytes_per_s)
                ),
                0
            )
        ) filter (where flop_count is not null)
    ) as win_ns,
    count(*) as launch_count,
    cast(sum(dur_ns) as bigint) as total_ns,
    cast(sum(flop_count) as bigint) as total_flop,
    nullif(count(*) filter (where flop_count is null), 0) as unknown_count,
    any_value(tensor_name) as tensor_name,
    any_value(ratio(tensor_flop_per_s, fp32_flop_per_s)) as peak_factor,
    any_value(elapsed_ns) as elapsed_ns,
    products.source_id,
    products.device_id
from product_window($run_id, $phase) as products
join
    peaks
    on peaks.source_id = products.source_id
    and peaks.device_id is not distinct from products.device_id
where products.unit_name = 'fp32' and tensor_name is not null
group by products.source_id, products.device_id, products.name
having win_ns > 0 or win_ns is null
order by win_ns desc nulls last, products.source_id, products.device_id, products.name
