-- purpose = "Kernels without floating-point work are those whose counters are zero."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "zero_ai_kernels"
-- keys = ["name", "event_id", "zero_ai_kind"]
-- options.by = ["name", "launch", "run"]
-- options.fp16_convention = ["arithmetic"]
-- upon = "chosen_work"
-- is_partial = true
select
    name,
    event_id,
    case
        when tensor_int > 0
        then 'integer'
        when fp16 = 0
        then 'measured_zero'
        when fma_count > 0 and fma_count >= add_count
        then 'moves'
        else 'conversions'
    end as zero_ai_kind,
    true as is_zero_ai,
    sum(launches) as launch_count,
    sum(launches) / (select sum(launches) from launch_work) as launch_share_ratio,
    sum(ns) as total_ns,
    sum(ns) / (select sum(ns) from launch_work) as time_share_ratio,
    sum(fp16) as fp16_flop,
    sum(dram) as dram_bytes
from chosen_work
where
    (select bool_and(ns is not null) from launch_work)
    and fp64 + fp32 + fp16_work + tensor = 0
    and fp16 is not null
    and dram is not null
group by all
