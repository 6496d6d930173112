-- purpose = "The processes of a file have at most its events."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["ranks", "run_summary"]
select
    file_name as subject,
    'ranks.event_count, sum of the file' as first_figure,
    n as first_value,
    'run_summary.event_count' as second_figure,
    event_count as second_value
from
    (
        select source_id, sum(event_count) as n
        from (select distinct source_id, rank_index, event_count from ranks)
        group by source_id
    )
join run_summary using (source_id)
where n > event_count
