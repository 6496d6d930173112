-- purpose = "Time of kernels near the roof of a memory above what their bytes take there: beyond
-- it, only fewer bytes help."
-- source = "Wang Y. 2020 (Time-Based Roofline), eq. 1; docs/metrics.md, section Findings"
-- needs = ["kernel_counter"]
-- depends = ["launch_at_roof", "max_share", "whole_ns"]
-- parameters = "run_id phase-counted"
-- columns = "name win_ns-roof launch_count-memory total_ns roof_ratio-memory nearest_name-memory
-- elapsed_ns source_id-rank device_id"
-- launch_count-memory = "BIGINT: launches at such a roof"
-- roof_ratio-memory = "DOUBLE: time at peak / time, over such launches"
-- nearest_name-memory = "VARCHAR: the memory"
-- finding.title = "Kernels are bound by the bandwidth of a memory"
-- finding.evidence = "{launch_count:launch}, {total_ns}; most in {name}, at {roof_ratio} of
-- {nearest_name}"
-- finding.action = "Beyond this, only fewer bytes help: fuse kernels that read what others wrote,
-- use smaller types, and reuse what is in caches."
-- finding.command = "roofline"
-- finding.sums = ["launch_count", "total_ns"]
-- finding.pool = "compute"
select
    name,
    whole_ns(sum(dur_ns * greatest(1 - near_roof_ratio, 0))) as win_ns,
    cast(sum(launch_count) as bigint) as launch_count,
    cast(sum(dur_ns) as bigint) as total_ns,
    ratio(sum(dur_ns * near_roof_ratio), sum(dur_ns)) as roof_ratio,
    arg_min(nearest_name, (- dur_ns, nearest_name)) as nearest_name,
    any_value(elapsed_ns) as elapsed_ns,
    source_id,
    device_id
from launch_at_roof($run_id, $phase)
where bound_kind = 'bandwidth' and near_roof_ratio <= max_share()
group by source_id, device_id, name
having win_ns > 0
order by win_ns desc, source_id, device_id, name
