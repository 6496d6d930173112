-- purpose = "The precisions sum to at most the operations."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["cpu_work"]
select
    coalesce(name, '?') as subject,
    'cpu_work: fp64, fp32 and fp16 operations' as first_figure,
    coalesce(fp64_flop, 0) + coalesce(fp32_flop, 0) + coalesce(fp16_flop, 0) as first_value,
    'cpu_work.total_flop' as second_figure,
    total_flop as second_value
from cpu_work
where is_above(coalesce(fp64_flop, 0) + coalesce(fp32_flop, 0) + coalesce(fp16_flop, 0), total_flop)
