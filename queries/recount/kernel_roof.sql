-- purpose = "Kernels on a known device are as far from its peaks as their work and time say."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "kernel_figures"
-- keys = ["name", "event_id"]
-- options.by = ["name", "launch", "run"]
-- options.ceiling = ["own", "fp32"]
-- options.fp16_convention = ["arithmetic", "packed", "scalar"]
-- options.latency_below = []
-- needs = ["device"]
-- upon = "peak_sum"
-- is_partial = true
with
    held as (
        select
            *,
            if($ceiling = 'own', own_flop / own_peak_ns * 1e9, fp32_share) as share,
            if($ceiling = 'own', own_peak_ns, fp32_peak_ns) / total_ns as peak_flop_per_s,
            if($ceiling = 'own', own_name, 'fp32') as ceiling_name
        from peak_sum
    )
select
    name,
    event_id,
    if(share <= 1.05, share, null) as utilization_ratio,
    if(fp32_share <= 1.05, fp32_share, null) as fp32_utilization_ratio,
    peak_flop_per_s,
    ceiling_name,
    if(roof <= 1.05, roof, null) as roof_ratio,
    bound_kind,
    nearest_name
from held
where is_known
