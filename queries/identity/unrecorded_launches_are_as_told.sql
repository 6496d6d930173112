-- purpose = "Launches without a record are counted alike by the finding and the report."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["data_without_records", "unrecorded_launches"]
select
    found.source_id as subject,
    'data_without_records.' || unnest(['unrecorded_count', 'call_count']) as first_figure,
    unnest([found.unrecorded_count, found.call_count]) as first_value,
    'unrecorded_launches.' || unnest(['unrecorded_count', 'call_count']) as second_figure,
    unnest([sum(told.unrecorded_count), sum(told.call_count)]) as second_value
from data_without_records as found
left join unrecorded_launches as told on told.source_id = found.source_id
group by found.source_id, found.unrecorded_count, found.call_count
having
    differs(found.unrecorded_count, coalesce(sum(told.unrecorded_count), 0))
    or is_above(coalesce(sum(told.call_count), 0), found.call_count)
union all
select
    source_id,
    'data_without_records: rows',
    0,
    'unrecorded_launches.unrecorded_count, summed, of more than 1 % of the calls',
    sum(unrecorded_count)
from unrecorded_launches
where source_id not in (select source_id from data_without_records)
group by source_id
having sum(unrecorded_count) > 0.01 * sum(call_count)
