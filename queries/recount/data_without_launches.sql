-- purpose = "Kernels without a launch in the file take their share of the time."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "data_without_launches"
-- keys = ["source_id"]
-- needs = ["attribution"]
with
    kernels as (
        select source_id, dur_ns, launch_event_id is null as is_lacking, launch_reason
        from attribution
        where
            run_id = $run_id
            and work_kind = 'kernel'
            and start_ns + dur_ns is not null
            and coalesce(launch_reason, '') <> 'no correlation id'
    ),
    reasons as (
        select source_id, launch_reason, sum(dur_ns) as reason_ns
        from kernels
        where is_lacking
        group by all
    )
select
    source_id,
    sum(if(is_lacking, dur_ns, 0)) / sum(dur_ns) as unknown_ratio,
    sum(dur_ns) as total_ns,
    (
        select
            coalesce(
                first(launch_reason order by reason_ns desc, launch_reason),
                'launch not in the file'
            )
        from reasons
        where reasons.source_id = kernels.source_id
    ) as reason
from kernels
group by source_id
having unknown_ratio >= 0.1
