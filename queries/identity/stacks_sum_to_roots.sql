-- purpose = "The device time of stacks without their parts sums to that of the roots."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["stacks"]
select
    'all stacks' as subject,
    'stacks.self_device_ns, summed' as first_figure,
    parts.ns as first_value,
    'stacks.device_ns of roots, summed' as second_figure,
    roots.ns as second_value
from
    (select sum(self_device_ns) as ns from stacks) as parts,
    (select sum(device_ns) as ns from stacks where parent_index is null) as roots
where differs(parts.ns, roots.ns)
