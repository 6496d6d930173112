-- purpose = "A run on a known device is as far from its peaks as its launches together."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "application_summary"
-- options.by = ["run"]
-- options.fp16_convention = ["arithmetic", "packed", "scalar"]
-- options.latency_below = []
-- needs = ["device"]
-- upon = "peak_sum"
select
    fp32_share as fp32_utilization_ratio,
    roof as roof_ratio,
    bound_kind,
    null as reason,
    null as missing_metrics,
    $fp16_convention as fp16_convention
from peak_sum
where
    is_known
    and has_whole_levels
    and greatest(roof, fp32_share) <= 1.05
    and (select count(*) from launch_work) = (select count(*) from launch_peak)
