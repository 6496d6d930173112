-- purpose = "The times of annotations without those inside sum to at most all."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["annotations"]
select
    'all annotations' as subject,
    'annotations.self_ratio, summed' as first_figure,
    share as first_value,
    '1' as second_figure,
    1 as second_value
from (select sum(self_ratio) as share from annotations)
where is_above(share, 1)
