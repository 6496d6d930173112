-- purpose = "Devices wait for input as long as the parts of their steps say, the operations in
-- them, or the table of results."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "infeed"
-- keys = ["source_id", "device_id"]
with
    parts as (
        select
            source_id,
            device_id,
            step_index,
            sum(dur_ns) filter (where part_kind in ('infeed', 'host_to_device')) as wait_ns
        from step_part
        where run_id = $run_id
        group by source_id, device_id, step_index
    ),
    lengths as (
        select
            source_id,
            device_id,
            step_index,
            arg_max_null(
                dur_ns, case step_kind when 'reported' then 2 when 'device' then 1 else 0 end
            ) as step_ns
        from step
        where run_id = $run_id
        group by source_id, device_id, step_index
    ),
    tables as (
        select source_id, coalesce(any_value(unit), if(max(value) > 1, '%', null)) as table_unit
        from configuration_value
        where run_id = $run_id and role_kind = 'metric' and column_name = 'infeed'
        group by source_id
    ),
    infeeds as (
        select
            source_id,
            kernel.device_id,
            kernel.start_ns,
            kernel.start_ns + least(kernel.dur_ns, attribution.dur_ns) as end_ns
        from kernel
        left join attribution using (run_id, source_id, event_id)
        where run_id = $run_id and kernel.name like 'infeed%'
    ),
    waits as (
        select
            step.source_id,
            step.event_id,
            sum(
                least(kernel.end_ns, step.start_ns + step.dur_ns)
                - greatest(kernel.start_ns, step.start_ns)
            ) as wait_ns
        from step
        join
            infeeds as kernel
            on kernel.source_id = step.source_id
            and kernel.device_id is not distinct from step.device_id
            and kernel.start_ns < step.start_ns + step.dur_ns
            and kernel.end_ns > step.start_ns
        where step.run_id = $run_id and step_kind = 'device'
        group by step.source_id, step.event_id
    ),
    -- they record every wait
    recording as (
        select distinct source_id, device_id, 0 as no_ns
        from kernel
        join device using (run_id, source_id, device_id)
        where run_id = $run_id and device_kind = 'tpu'
    ),
    steps as (
        select
            parts.source_id,
            parts.device_id,
            'parts' as basis_kind,
            step_ns,
            wait_ns,
            null as table_share
        from parts
        left join
            lengths
            on lengths.source_id = parts.source_id
            and lengths.step_index = parts.step_index
            and lengths.device_id is not distinct from parts.device_id
        union all
        select
            source_id,
            step.device_id,
            'timeline',
            step.dur_ns,
            coalesce(wait_ns, no_ns + 0 * (step.start_ns + step.dur_ns)),
            null
        from step
        left join waits using (source_id, event_id)
        left join recording using (source_id, device_id)
        where
            run_id = $run_id
            and step_kind = 'device'
            and source_id not in (select source_id from parts)
        union all
        select
            source_id,
            null,
            'table',
            null,
            null,
            case table_unit when '%' then value / 100 when 'ratio' then value end
        from configuration
        join tables using (source_id)
        left join
            configuration_value as given
            on given.run_id = $run_id
            and given.source_id = configuration.source_id
            and given.event_id = configuration.event_id
            and column_name = 'infeed'
            and role_kind = 'metric'
            and status_kind is distinct from 'failed'
        where configuration.run_id = $run_id
    ),
    shared as (
        select
            *,
            coalesce(if(table_share <= 1, table_share, null), wait_ns / nullif(step_ns, 0)) as share
        from steps
    )
select
    source_id,
    device_id,
    any_value(basis_kind) as basis_kind,
    sum(wait_ns) filter (where share is not null)
    / sum(step_ns) filter (where share is not null) as infeed_ratio,
    sum(wait_ns) as infeed_ns,
    sum(step_ns) as step_ns,
    count(*) as step_count,
    count(share) as known_count,
    count(*) filter (where share >= 0.2) as host_bound_count,
    min(share) as min_ratio,
    max(share) as max_ratio
from shared
group by source_id, device_id
