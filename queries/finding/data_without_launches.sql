-- purpose = "Runs of host and device with kernels whose launches are not in the file, so that idle
-- time and operators cannot be explained."
-- source = "docs/metrics.md, sections Attribution and Findings"
-- needs = ["attribution"]
-- depends = ["device_work"]
-- parameters = "run_id lacking_ratio"
-- columns = "win_ns-none unknown_ratio-launches total_ns-kernels reason-launch elapsed_ns-none
-- source_id-rank device_id-none"
-- unknown_ratio-launches = "DOUBLE: share of total_ns in kernels without a launch"
-- reason-launch = "VARCHAR: why the launch is unknown, for most of the time"
-- finding.title = "Launches are not in the file"
-- finding.evidence = "{unknown_ratio} of the kernel time ({total_ns}): {reason}"
-- finding.action = "Record the host as well (activities CPU and CUDA), and begin before the first
-- launch."
-- finding.command = "query attribution_coverage"
-- finding.pool = "none"
with
    kernels as (
        select
            source_id,
            launch_event_id is not null as is_known,
            launch_reason,
            sum(end_ns - start_ns) as sum_ns
        from device_work
        where
            run_id = $run_id
            and work_kind = 'kernel'
            -- of a profiler that has no such ids, nothing can be recorded better
            and launch_reason is distinct from 'no correlation id'
        group by all
    )
select
    cast(null as bigint) as win_ns,
    ratio(coalesce(sum(sum_ns) filter (where not is_known), 0), sum(sum_ns)) as unknown_ratio,
    cast(sum(sum_ns) as bigint) as total_ns,
    coalesce(
        arg_min(launch_reason, (- sum_ns, launch_reason)) filter (where not is_known),
        'launch not in the file'
    ) as reason,
    cast(null as bigint) as elapsed_ns,
    source_id,
    cast(null as bigint) as device_id
from kernels
group by source_id
having unknown_ratio >= $lacking_ratio
order by unknown_ratio desc, source_id
