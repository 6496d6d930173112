-- purpose = "Kernels with a known launch, operator, module, phase and step are those of the rows,
-- as are the others of the reason that most time has."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "attribution_coverage"
-- keys = ["source_id", "link_kind"]
-- needs = ["attribution"]
with
    kernel_row as (
        select work.*, module_path, phase_kind
        from (from attribution where run_id = $run_id and work_kind = 'kernel') as work
        left join calling_context using (run_id, source_id, context_id)
    ),
    linked as (
        select
            source_id,
            dur_ns,
            unnest(['launch', 'op', 'module', 'phase', 'step']) as link_kind,
            unnest(
                [launch_event_id::varchar, op_name, module_path, phase_kind, step_index::varchar]
            )
            is not null as is_known,
            unnest(
                [
                    launch_reason,
                    op_reason,
                    module_reason,
                    phase_reason,
                    if(coalesce(launch_event_id, op_event_id) is null, launch_reason, 'in no step')
                ]
            ) as reason
        from kernel_row
    ),
    apart as (
        select source_id, link_kind, reason, count(*) as kernels, sum(dur_ns) as ns
        from linked
        where not is_known
        group by source_id, link_kind, reason
    ),
    main as (
        select source_id, link_kind, max(coalesce(ns, -1)) as most_ns
        from apart
        group by source_id, link_kind
    ),
    first as (
        select
            source_id,
            link_kind,
            -- reasons with the same time are sorted by their kernels, then by their texts
            max(kernels) as kernels,
            min_by(reason, (- kernels, reason)) as reason,
            any_value(nullif(most_ns, -1)) as ns
        from apart
        join main using (source_id, link_kind)
        where coalesce(ns, -1) = most_ns
        group by source_id, link_kind
    )
select
    source_id,
    link_kind,
    count(*) as kernel_count,
    count(*) filter (where is_known) as known_count,
    count(*) filter (where is_known) / count(*) as known_ratio,
    sum(dur_ns) as total_ns,
    if(count_if(is_known) > 0, sum(dur_ns) filter (where is_known), 0) as known_ns,
    known_ns / nullif(total_ns, 0) as known_time_ratio,
    any_value(first.kernels) as reason_count,
    any_value(first.reason) as reason,
    any_value(first.ns) as reason_ns,
    (
        select rank_index
        from source_file
        where run_id = $run_id and source_file.source_id = linked.source_id
    ) as rank_index
from linked
left join first using (source_id, link_kind)
group by source_id, link_kind
