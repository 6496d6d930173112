-- purpose = "An unknown answer has its reason, in reports that give reasons."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = []
select
    subject,
    report || '.' || column_name as first_figure,
    value as first_value,
    'its reason' as second_figure,
    cast(null as double) as second_value
from cell
where is_answer and gives_reasons and value is null and reason is null
