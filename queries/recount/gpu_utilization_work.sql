-- purpose = "Operations of kernels are unknown where no counter of their name is in the run."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "gpu_utilization"
-- keys = ["source_id", "device_id"]
-- needs = ["attribution"]
-- upon = "uncut_work"
-- is_partial = true
with
    counted as (
        select name
        from kernel_counter
        where run_id = $run_id
        group by name
        having
            bool_and(coalesce(fp32_flop, fadd_inst + fmul_inst + ffma_inst) is not null)
            and count(
                distinct coalesce(fp32_flop, fadd_inst + fmul_inst + 2 * ffma_inst)
                / coalesce(launch_count, 1)
            )
            = 1
    ),
    told as (
        select source_id, device_id, dur_ns, name in (select name from counted) as is_known
        from uncut_work
        where is_kernel
    )
select
    source_id,
    device_id,
    case
        when not bool_or(is_known)
        then 'operations: not_collected'
        else 'operations of ' || count_if(not is_known) || ' of ' || count(*) || ' kernels unknown'
    end as fp32_reason,
    if(
        bool_or(is_known), sum(dur_ns) filter (where is_known) / sum(dur_ns), null
    ) as fp32_known_ratio
from told
where not exists (from kernel_match where run_id = $run_id)
group by source_id, device_id
having not bool_and(is_known)
