-- purpose = "Times at which device work without a record can have run, as intervals that do not
-- overlap."
-- source = "docs/metrics.md, section unrecorded_launches"
-- needs = ["unrecorded_launch"]
-- depends = ["work_total"]
-- empty_without = ["unrecorded_launch"]
-- columns = "run_id source_id device_id start_ns end_ns-unrecorded"
-- end_ns-unrecorded = "BIGINT: end; NULL if nothing recorded ends it"
with
    -- on one device of several, each may be the one
    devices as (select distinct run_id, source_id, device_id from work_total),
    possible as (
        select
            here.run_id,
            here.source_id,
            coalesce(here.device_id, devices.device_id) as device_id,
            possible_start_ns as start_ns,
            coalesce(possible_end_ns, 9223372036854775807) as end_ns
        from unrecorded_launch as here
        left join
            devices
            on devices.run_id = here.run_id
            and devices.source_id = here.source_id
            and here.device_id is null
        where possible_end_ns is null or possible_start_ns < possible_end_ns
    ),
    reached as (
        select
            *,
            max(end_ns) over (
                partition by run_id, source_id, device_id
                order by start_ns, end_ns
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from possible
    ),
    parts as (
        select
            *,
            sum(cast(reach_ns is null or start_ns > reach_ns as bigint)) over (
                partition by run_id, source_id, device_id
                order by start_ns, end_ns
                rows unbounded preceding
            ) as part_index
        from reached
    )
select
    run_id,
    source_id,
    device_id,
    min(start_ns) as start_ns,
    nullif(max(end_ns), 9223372036854775807) as end_ns
from parts
group by run_id, source_id, device_id, part_index
