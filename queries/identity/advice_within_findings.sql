-- purpose = "advise claims no more time for a finding than its rows do."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["advise"]
select
    finding_name as subject,
    'advise.win_ns' as first_figure,
    advise.win_ns as first_value,
    finding_name || '.win_ns, summed' as second_figure,
    rows.win_ns as second_value
from advise
join
    (
        select report, sum(value) as win_ns from cell where column_name = 'win_ns' group by report
    ) as rows
    on rows.report = finding_name
where is_above(advise.win_ns, coalesce(rows.win_ns, 0))
