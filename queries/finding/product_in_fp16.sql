-- purpose = "Time of matrix products and convolutions on FP16 units above what their operations
-- take on the tensor cores that the device has."
-- source = "NVIDIA, cuBLAS and cuDNN: FP16 products use tensor cores if sizes and alignment allow;
-- operations as modeled from shapes"
-- needs = ["attribution"]
-- depends = ["product_window", "device_peak", "time_at_peak", "whole_ns"]
-- parameters = "run_id phase"
-- columns = "name win_ns-products launch_count total_ns total_flop-products unknown_count-products
-- peak_factor elapsed_ns source_id-rank device_id"
-- peak_factor = "DOUBLE: FP16 peak of the tensor cores / that of the FP16 units; NULL if unknown"
-- finding.title = "Products of half precision do not use tensor cores"
-- finding.evidence = "{launch_count:launch} of {total_ns}, most in {name}[; the tensor cores of the
-- device are {peak_factor} times as fast][; the work of
-- {unknown_count:launch} is unknown, and not in this time]"
-- finding.action = "Make sizes multiples of 8, pointers and strides aligned to 16 bytes, and use a
-- current cuBLAS or cuDNN."
-- finding.command = "query ops --param by=shape"
-- finding.sums = ["launch_count", "total_ns", "total_flop", "unknown_count"]
-- finding.pool = "compute"
select
    products.name,
    whole_ns(
        sum(
            greatest(
                dur_ns - greatest(
                    time_at_peak(flop_count, tensor_fp16_flop_per_s),
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
    any_value(ratio(tensor_fp16_flop_per_s, fp16_flop_per_s)) as peak_factor,
    any_value(elapsed_ns) as elapsed_ns,
    products.source_id,
    products.device_id
from product_window($run_id, $phase) as products
join
    device_peak as peaks
    on peaks.run_id = $run_id
    and peaks.source_id = products.source_id
    and peaks.device_id is not distinct from products.device_id
where products.unit_name = 'fp16' and tensor_fp16_flop_per_s is not null
group by products.source_id, products.device_id, products.name
having win_ns > 0 or win_ns is null
order by win_ns desc nulls last, products.source_id, products.device_id, products.name
