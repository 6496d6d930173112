-- purpose = "Kernels of a joined timeline have the matches of their launches."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "kernel_matches"
-- keys = ["name"]
-- needs = ["kernel_match", "kernel"]
-- upon = "joined_launch"
select
    name,
    sum(dur_ns) / (select sum(dur_ns) from joined_launch) as share_ratio,
    sum(if(match_kind is null, 0, launches)) / sum(launches) as matched_ratio,
    sum(dur_ns) as total_ns,
    sum(launches) as launch_count,
    sum(if(match_kind = 'sequence', launches, 0)) as sequence_count,
    sum(if(match_kind = 'shape', launches, 0)) as shape_count,
    sum(if(match_kind = 'name', launches, 0)) as name_count,
    max(fit_count) as fit_count,
    min(reason) as reason
from joined_launch
group by name
