-- purpose = "Kernels are held to the peak of their kind, and to the average of all."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "kernel_figures"
-- keys = ["name"]
-- options.by = ["name"]
-- options.fp16_convention = ["arithmetic", "packed", "scalar"]
-- needs = ["device"]
-- upon = "launch_peak"
-- is_partial = true
with
    kernel_sum as (
        select
            name,
            sum(sum(top_flop)) over () / sum(sum(top_peak * ns)) over () * 1e9 as average_ratio,
            min(top_text) as peak_source,
            1.0 as known_time_ratio,
            sum(top_flop) / sum(top_peak * ns) * 1e9 as share,
            greatest(sum(compute_ns), sum(dram_ns), sum(l2_ns), sum(l1_ns)) / sum(ns) as roof,
            count(distinct top_text) as text_count,
            bool_and(
                bool_and(compute_ns + dram_ns + top_peak is not null and coalesce(ns, 0) > 0)
            ) over () as is_known
        from launch_peak
        group by name
    )
select name, average_ratio, peak_source, known_time_ratio, null as reason, null as bound_reason
from kernel_sum
where
    is_known
    and text_count = 1
    and greatest(share, roof) <= 1.05
    and (select count(*) from launch_work) = (select count(*) from launch_peak)
