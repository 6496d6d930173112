-- purpose = "The kernels of a join are the launches of the run."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["kernel_matches", "joins"]
select
    'all kernels' as subject,
    'kernel_matches.launch_count, summed' as first_figure,
    kernels.n as first_value,
    'joins.launch_count' as second_figure,
    joins.launch_count as second_value
from (select sum(launch_count) as n from kernel_matches) as kernels, joins
where differs(kernels.n, joins.launch_count)
