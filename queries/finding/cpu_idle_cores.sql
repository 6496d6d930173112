-- purpose = "Time that a program would save at most if it kept all CPUs busy, if it uses few of
-- them."
-- source = "Amdahl 1967, with all work parallel; docs/metrics.md, sections Processor counters and
-- Findings"
-- needs = ["measurement"]
-- depends = ["cpu_active", "whole_ns"]
-- parameters = "run_id used_below"
-- used_below = {type = "DOUBLE", doc = "share of the CPUs in use below which they are idle",
-- default = 0.5}
-- columns = "name-program win_ns used_count cpu_count elapsed_ns-measured source_id-rank
-- device_id-none"
-- name-program = "VARCHAR: measured program"
-- win_ns = "elapsed time, times the share of the CPUs that are not in use"
-- used_count = "DOUBLE: CPU time / elapsed time"
-- cpu_count = "BIGINT: CPUs that are there"
-- finding.title = "Most CPUs are idle"
-- finding.evidence = "{used_count} of {cpu_count:CPU} in use[ by {name}]"
-- finding.action = "Run in parallel: threads, processes, a parallel library; or measure what one
-- thread waits for."
-- finding.command = "query cpu_utilization"
-- finding.pool = "steps"
with
    used as (
        select
            source_id,
            measurement_index,
            any_value(target_name) as name,
            any_value(dur_ns) as dur_ns,
            any_value(cpus) as cpu_count,
            ratio(any_value(active_ns), any_value(dur_ns)) as used_count,
            sum(any_value(dur_ns)) over (partition by source_id) as all_ns
        from cpu_active($run_id, 'measurement', null)
        where slot_name is null
        group by source_id, measurement_index
    )
select
    name,
    whole_ns(dur_ns * (1 - ratio(used_count, cpu_count))) as win_ns,
    used_count,
    cpu_count,
    cast(all_ns as bigint) as elapsed_ns,
    source_id,
    cast(null as bigint) as device_id
from used
where used_count < $used_below * cpu_count
order by win_ns desc, source_id, measurement_index
