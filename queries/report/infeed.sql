-- purpose = "Time that the accelerator waits for input, per device or step, and the number of
-- host-bound steps; each configuration of a table of results is a step."
-- source = "Wang Y. E. 2020 (ParaDnn), sect. 4.4: infeed time percentage; docs/metrics.md,
-- section Steps and input"
-- topic = "time"
-- needs = ["step or step_part or configuration_value"]
-- answered_if = "exists (from step_part where run_id = $run_id) or exists (from step where run_id
-- = $run_id and step_kind = 'device') or exists (from configuration_value where run_id = $run_id
-- and role_kind = 'metric' and column_name = 'infeed')"
-- depends = ["first_reason", "mended_time"]
-- parameters = "run_id by host_bound_share metric"
-- by = {doc = "what a row is: device (all its steps) or step", default = "device", choices =
-- ["device", "step"]}
-- host_bound_share = {type = "DOUBLE", doc = "share of waiting above which a step is host-bound;
-- TensorFlow's profiler calls it input-bound from 0.05 and highly input-bound from 0.2", default
-- = 0.2}
-- metric = {type = "VARCHAR", doc = "for a table of results: metric with the share of waiting",
-- default = "infeed"}
-- columns = "source_id-host device_id step_index infeed_ratio infeed_ns step_ns step_count
-- known_count host_bound_count min_ratio max_ratio basis_kind reason"
-- answer = "infeed_ratio"
-- device_id = "device (a core of a TPU v2 or v3); NULL if the profiler sums devices"
-- step_index = "for by=step: step number; for a table of results, its row"
-- infeed_ratio = "DOUBLE: infeed_ns / step_ns over steps with both known; for a table of results
-- with by=step"
-- infeed_ns = "BIGINT: time that the device waits for input, including copies from the host"
-- step_ns = "BIGINT: time of the steps"
-- known_count = "BIGINT: steps with known waiting and time"
-- host_bound_count = "BIGINT: host-bound steps among step_count"
-- min_ratio = "DOUBLE: least share of a step"
-- max_ratio = "DOUBLE: largest share of a step"
-- basis_kind = "parts (the profiler's breakdown of steps), timeline (infeed operations in the
-- device's steps) or table (of results)"
with
    steps as (
        select source_id, device_id, step_kind, step_index, start_ns, dur_ns
        from step
        where run_id = $run_id
    ),
    part_sums as (
        select
            source_id,
            device_id,
            step_index,
            cast(
                sum(dur_ns) filter (where part_kind in ('infeed', 'host_to_device')) as bigint
            ) as infeed_ns
        from step_part
        where run_id = $run_id
        group by source_id, device_id, step_index
    ),
    broken_down as (
        select
            part_sums.source_id,
            part_sums.device_id,
            part_sums.step_index,
            'parts' as basis_kind,
            steps.dur_ns as step_ns,
            part_sums.infeed_ns,
            case
                when infeed_ns is null
                then 'no part of the step is its input'
                when steps.dur_ns is null
                then 'duration of the step unknown'
            end as reason
        from part_sums
        left join
            steps
            on steps.source_id = part_sums.source_id
            and steps.step_index = part_sums.step_index
            and steps.device_id is not distinct from part_sums.device_id
        qualify
            row_number() over (
                partition by part_sums.source_id, part_sums.device_id, part_sums.step_index
                order by
                    list_position(['reported', 'device', 'host'], steps.step_kind),
                    steps.start_ns,
                    steps.dur_ns
            )
            = 1
    ),
    device_steps as (
        select steps.*, row_number() over () as step_number
        from steps
        -- a breakdown of the same source says more
        where step_kind = 'device' and source_id not in (select source_id from part_sums)
    ),
    tpus as (
        select distinct source_id, device_id
        from device
        where run_id = $run_id and device_kind = 'tpu'
    ),
    infeeds as (
        select
            kernel.source_id,
            kernel.device_id,
            case when is_mended then mended_time.start_ns else kernel.start_ns end as start_ns,
            case
                when is_mended
                then mended_time.start_ns + mended_time.dur_ns
                else kernel.start_ns + kernel.dur_ns
            end as end_ns
        from kernel
        left join mended_time using (run_id, source_id, event_id)
        join
            op_class
            on op_class.class_name = 'infeed'
            and op_class.key_kind = 'opcode'
            and lower(kernel.name) glob op_class.pattern
        where kernel.run_id = $run_id
    ),
    seen as (select distinct source_id, device_id from kernel where run_id = $run_id),
    waits as (
        select
            device_steps.step_number,
            cast(
                sum(
                    greatest(
                        least(end_ns, device_steps.start_ns + dur_ns)
                        - greatest(infeeds.start_ns, device_steps.start_ns),
                        0
                    )
                ) as bigint
            ) as wait_ns
        from device_steps
        join
            infeeds
            on infeeds.source_id = device_steps.source_id
            and infeeds.device_id is not distinct from device_steps.device_id
            and infeeds.start_ns < device_steps.start_ns + dur_ns
            and end_ns > device_steps.start_ns
        group by device_steps.step_number
    ),
    watched as (
        select
            device_steps.source_id,
            device_steps.device_id,
            device_steps.step_index,
            'timeline' as basis_kind,
            dur_ns as step_ns,
            -- a TPU records every infeed, so none is a measured zero; other devices just idle
            case
                when wait_ns is not null
                then wait_ns
                when
                    tpus.source_id is not null
                    and seen.source_id is not null
                    and dur_ns is not null
                    and device_steps.start_ns is not null
                then 0
            end as infeed_ns,
            case
                when dur_ns is null or device_steps.start_ns is null
                then 'duration of the step unknown'
                when infeed_ns is null and seen.source_id is null
                then 'no operations of the device were recorded'
                when infeed_ns is null
                then 'waiting for input is no operation of this device'
            end as reason
        from device_steps
        left join waits using (step_number)
        left join
            tpus
            on tpus.source_id = device_steps.source_id
            and tpus.device_id is not distinct from device_steps.device_id
        left join
            seen
            on seen.source_id = device_steps.source_id
            and seen.device_id is not distinct from device_steps.device_id
    ),
    given as (
        select source_id, event_id, value, unit
        from configuration_value
        where
            run_id = $run_id
            and role_kind = 'metric'
            and column_name = $metric
            and (source_id, event_id) not in (
                select (source_id, event_id)
                from configuration
                where run_id = $run_id and status_kind = 'failed'
            )
    ),
    units as (
        select source_id, coalesce(any_value(unit), case when max(value) > 1 then '%' end) as unit
        from given
        group by source_id
    ),
    shares as (
        select
            configuration.source_id,
            configuration.event_id as step_index,
            'table' as basis_kind,
            given.value,
            case
                units.unit when '%' then ratio(given.value, 100) when 'ratio' then given.value
            end as share,
            coalesce(status_text, 'not measured') as status_text
        from configuration
        join units on units.source_id = configuration.source_id
        left join
            given
            on given.source_id = configuration.source_id
            and given.event_id = configuration.event_id
        where configuration.run_id = $run_id
    ),
    tabled as (
        select
            source_id,
            step_index,
            basis_kind,
            case when share between 0 and 1 then share end as share,
            case
                when value is null
                then status_text
                when share is null
                then
                    'unknown whether percentage or share: name its unit at '
                    || 'ingest (--columns metrics='
                    || $metric
                    || ':%)'
                when share not between 0 and 1
                then 'no share of a time'
            end as reason
        from shares
    ),
    timed as (
        select *, ratio(infeed_ns, step_ns) as share
        from
            (
                from broken_down
                union all by name
                from watched
            )
    ),
    every as (
        select *, case when $by = 'step' then step_index end as place
        from
            (
                from timed
                union all by name
                from tabled
            )
    )
select
    source_id,
    device_id,
    place as step_index,
    case
        when any_value(basis_kind) <> 'table'
        then
            ratio(
                sum(infeed_ns) filter (where share is not null),
                sum(step_ns) filter (where share is not null)
            )
        when $by = 'step'
        then any_value(share)
    end as infeed_ratio,
    cast(sum(infeed_ns) as bigint) as infeed_ns,
    cast(sum(step_ns) as bigint) as step_ns,
    count(*) as step_count,
    count(share) as known_count,
    count(*) filter (where share >= $host_bound_share) as host_bound_count,
    min(share) as min_ratio,
    max(share) as max_ratio,
    any_value(basis_kind) as basis_kind,
    coalesce(
        first_reason(
            case when share is null then coalesce(reason, 'duration of zero') end,
            case when any_value(basis_kind) = 'table' then 'configurations' else 'steps' end
        ),
        case
            when any_value(basis_kind) = 'table' and $by <> 'step'
            then 'configurations have no time in common: see by=step, or the report distribution'
        end
    ) as reason
from every
group by source_id, device_id, place
order by source_id, device_id nulls first, place
