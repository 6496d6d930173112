-- purpose = "Operators take the time of the work that they launch, or their own."
-- source = "docs/metrics.md, section Operators of a timeline"
-- report = "ops"
-- keys = ["name"]
-- upon = "op_time"
select
    coalesce(name, '(no operator)') as name,
    sum(total_ns) as total_ns,
    sum(total_ns) / nullif(sum(sum(total_ns)) over (), 0) as share_ratio,
    sum(call_count) as call_count,
    sum(if(call_count > 0, total_ns, null)) / sum(call_count) as mean_ns,
    sum(kernel_ns) as kernel_ns,
    sum(kernel_count) as kernel_count,
    sum(copy_count) as copy_count,
    sum(host_ns) as host_ns
from op_time
group by name
