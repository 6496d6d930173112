-- purpose = "Marked steps in a row fill the window of their source."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["steps", "overlap"]
with
    marked as (
        select source_id, sum(elapsed_ns) as elapsed_ns
        from steps
        cross join phase_asked
        where step_index is not null and step_kind <> 'detected' and (is_stable or phase = 'all')
        group by source_id
        having count(*) = max(step_index) - min(step_index) + 1
    )
select
    device_named(overlap.device_id, overlap.source_id) as subject,
    'steps.elapsed_ns, summed' as first_figure,
    marked.elapsed_ns as first_value,
    'overlap.elapsed_ns' as second_figure,
    overlap.elapsed_ns as second_value
from overlap
join marked on marked.source_id = overlap.source_id
where
    work_class = 'idle'
    and differs(marked.elapsed_ns, overlap.elapsed_ns)
    -- the stable phase of several sources is what they have in common
    and (select count(distinct source_id) from steps) = 1
