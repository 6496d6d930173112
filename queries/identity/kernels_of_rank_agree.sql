-- purpose = "A rank has the kernels of its device."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["ranks", "gpu_utilization"]
select
    'rank '
    || coalesce(cast(ranks.rank_index as varchar), '?')
    || ' of source '
    || ranks.source_id as subject,
    'ranks.kernel_count' as first_figure,
    ranks.kernel_count as first_value,
    'gpu_utilization.kernel_count' as second_figure,
    gpu_utilization.kernel_count as second_value
from ranks
join
    gpu_utilization
    on gpu_utilization.source_id = ranks.source_id
    and gpu_utilization.device_id is not distinct from ranks.device_id
where differs(ranks.kernel_count, gpu_utilization.kernel_count)
