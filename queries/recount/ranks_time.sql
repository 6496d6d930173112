-- purpose = "Time of a rank is that which work of each kind adds to the work before it."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "ranks"
-- keys = ["source_id", "device_id"]
-- needs = ["attribution"]
-- upon = "covered_time"
-- is_partial = true
-- skips_unknown = true
select
    source_id,
    device_id,
    any_value(covered_time.elapsed_ns) as elapsed_ns,
    any_value(covered_time.elapsed_ns) as recorded_ns,
    sum(more_compute_ns) as compute_ns,
    sum(more_collective_ns) as communication_ns,
    sum(more_kernel_ns) - sum(more_compute_ns) as exposed_communication_ns,
    sum(more_ns) - sum(more_kernel_ns) as exposed_copy_ns,
    any_value(covered_time.elapsed_ns) - sum(more_ns) as idle_ns,
    sum(more_ns) / any_value(covered_time.elapsed_ns) as busy_ratio,
    1
    - (sum(more_kernel_ns) - sum(more_compute_ns))
    / nullif(sum(more_collective_ns), 0) as hidden_ratio,
    count(*) filter (where is_kernel) as kernel_count,
    if(source_id in (select source_id from step where run_id = $run_id), null, 0) as step_count,
    if(
        source_id
        in (select source_id from device where run_id = $run_id and rank_index is not null),
        null,
        any_value(source_file.event_count)
    ) as event_count,
    any_value(source_file.rank_index) as rank_index
from covered_time
left join (from source_file where run_id = $run_id) as source_file using (source_id)
group by source_id, device_id
having any_value(covered_time.elapsed_ns) > 0
