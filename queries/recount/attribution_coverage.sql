-- purpose = "Kernels with a known launch, operator and step are those of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "attribution_coverage"
-- keys = ["source_id", "link_kind"]
-- needs = ["attribution"]
-- is_partial = true
with
    linked as (
        unpivot (
            select
                source_id,
                dur_ns,
                launch_event_id is not null as launch,
                op_name is not null as op,
                step_index is not null as step
            from attribution
            where run_id = $run_id and work_kind = 'kernel'
        )
        on launch,
        op,
        step
        into name link_kind value is_known
    )
select
    source_id,
    link_kind,
    count(*) as kernel_count,
    count(*) filter (where is_known) as known_count,
    sum(dur_ns) as total_ns
from linked
group by source_id, link_kind
