-- purpose = "Findings about exposed communication and copies win what overlap calls exposed."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["exposed_communication", "exposed_copy", "overlap"]
select
    device_named(told.device_id, told.source_id) as subject,
    told.finding_name || '.' || unnest(['win_ns', 'work']) as first_figure,
    unnest([coalesce(found.win_ns, 0), coalesce(found.work_count, 0)]) as first_value,
    unnest(['overlap.exposed_ns', 'overlap.work_count']) as second_figure,
    unnest([told.exposed_ns, told.work_count]) as second_value
from
    (
        select
            source_id,
            device_id,
            case
                work_class when 'communication' then 'exposed_communication' else 'exposed_copy'
            end as finding_name,
            sum(exposed_ns) as exposed_ns,
            sum(work_count) as work_count
        from overlap
        where work_class in ('communication', 'memcpy', 'memset')
        group by all
        having sum(exposed_ns) > 0
    ) as told
left join
    (
        select 'exposed_communication' as finding_name, source_id, device_id, win_ns, kernel_count
        from exposed_communication
        union all
        select 'exposed_copy', source_id, device_id, win_ns, copy_count
        from exposed_copy
    ) as found(finding_name, source_id, device_id, win_ns, work_count)
    on found.finding_name = told.finding_name
    and found.source_id = told.source_id
    and found.device_id is not distinct from told.device_id
where
    differs(coalesce(found.win_ns, 0), told.exposed_ns)
    or differs(coalesce(found.work_count, 0), told.work_count)
