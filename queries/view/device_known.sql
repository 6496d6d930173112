-- purpose = "Devices of each source, identified by the file, the user, units, memory and clock of
-- only one known device, or another file of the run. The processor of measurements and the
-- device of operators are devices; for a table of results, the user names it."
-- source = "tables device, op_stat, configuration, assumption and device_model, view cpu_known"
-- needs = ["device"]
-- depends = ["cpu_known", "device_key", "device_listed"]
-- is_kept = true
-- columns = "run_id source_id device_id device_name model_name compute_capability capability_major
-- ignored_name"
-- compute_capability = "from the file, else of the known device"
-- capability_major = "BIGINT: major compute capability"
-- ignored_name = "VARCHAR: device of --device, if it is not this one: the file names another, or
-- one of the two is a processor"
with
    given as (
        select
            said.*,
            device_model.model_name as given_model_name,
            -- of several packages, the user's device has the cores
            coalesce(device_model.core_count, said.core_count) is not null as is_processor
        from
            (
                select
                    run_id,
                    source_id,
                    any_value(name) filter (where assumption_kind = 'device') as given_name,
                    any_value(source_text) filter (
                        where assumption_kind = 'device'
                    ) as given_source_text,
                    any_value(value) filter (where assumption_kind = 'core_count') as core_count
                from assumption
                group by run_id, source_id
            ) as said
        left join device_model on device_model.model_key = device_key(said.given_name)
    ),
    -- which known device a device without a name is: as many units, as much memory (a little is
    -- kept back), the same clock
    described_alike as (
        select
            device.run_id,
            device.source_id,
            device.device_id,
            min(device_model.model_name) as model_name
        from device_listed as device
        join
            device_model
            on device_model.sm_count = device.sm_count
            and device.memory_bytes
            between 0.95 * device_model.memory_bytes and 1.01 * device_model.memory_bytes
            and abs(1000 * device.clock_rate - device_model.boost_clock_hz)
            < 0.01 * device_model.boost_clock_hz
            and (
                device_model.compute_capability = device.compute_capability
                or lower(device_model.vendor_name) = lower(device.vendor_name)
            )
        where device.name is null
        group by device.run_id, device.source_id, device.device_id
        having count(distinct device_model.model_name) = 1
    ),
    -- operators are of devices that are nowhere described as well, or of all of them added up
    listed as (
        select
            device.run_id,
            device.source_id,
            device.device_id,
            device.name,
            described_alike.model_name as alike_name,
            device_kind,
            compute_capability,
            true as is_listed,
            is_described is not distinct from false as is_only_seen
        from device_listed as device
        left join
            described_alike
            on described_alike.run_id = device.run_id
            and described_alike.source_id = device.source_id
            and described_alike.device_id is not distinct from device.device_id
        union all
        select run_id, source_id, device_id, null, null, null, null, false, false
        from op_stat
        where side_kind = 'device'
        group by run_id, source_id, device_id
        union all
        select run_id, source_id, null, null, null, null, null, false, false
        from assumption
        join stored_table using (run_id, source_id)
        where table_name = 'configuration'
        group by run_id, source_id
    ),
    described as (
        select
            run_id,
            source_id,
            device_id,
            compute_capability,
            device_kind is not distinct from 'cpu' as is_cpu,
            is_listed,
            alike_name,
            case
                when is_listed
                then name
                when device_id is null and min(name) over accelerators = max(name) over accelerators
                then min(name) over accelerators
            end as name,
            -- ROCm numbers the devices of kernels otherwise than those that it describes
            case
                when
                    is_only_seen
                    and min(coalesce(name, alike_name)) over accelerators
                    = max(coalesce(name, alike_name)) over accelerators
                then min(coalesce(name, alike_name)) over accelerators
            end as name_of_all
        from listed
        window
            accelerators as (partition by run_id, source_id, device_kind is not distinct from 'cpu')
        qualify is_listed or not bool_or(is_listed) over (partition by run_id, source_id, device_id)
    ),
    named as (
        select
            device.run_id,
            device.source_id,
            device.device_id,
            device.compute_capability,
            given.given_name,
            given.given_model_name,
            given.given_source_text,
            coalesce(
                device.name,
                case
                    when
                        given.given_model_name is null
                        and not given.is_processor
                        or not device.is_listed
                        or given.is_processor = device.is_cpu
                    then given.given_name
                end,
                device.alike_name,
                -- another file of the run, if all of them agree
                case
                    when
                        min(coalesce(device.name, device.alike_name)) over same
                        = max(coalesce(device.name, device.alike_name)) over same
                        and min(device.compute_capability) over same
                        is not distinct from max(device.compute_capability) over same
                    then min(coalesce(device.name, device.alike_name)) over same
                end,
                device.name_of_all
            ) as device_name
        from described as device
        left join given using (run_id, source_id)
        window same as (partition by device.run_id, device.device_id, device.is_cpu)
    )
select
    named.run_id,
    named.source_id,
    named.device_id,
    named.device_name,
    device_model.model_name,
    coalesce(named.compute_capability, device_model.compute_capability) as compute_capability,
    try_cast(
        split_part(
            coalesce(named.compute_capability, device_model.compute_capability), '.', 1
        ) as bigint
    ) as capability_major,
    case
        when
            named.given_source_text is distinct from '--peaks'
            and device_key(named.given_name) is distinct from device_key(named.device_name)
            and (
                named.given_model_name is null
                or named.given_model_name is distinct from device_model.model_name
            )
        then named.given_name
    end as ignored_name
from named
left join device_model on device_model.model_key = device_key(named.device_name)
union all
select
    run_id,
    source_id,
    null as device_id,
    device_name,
    model_name,
    null as compute_capability,
    null as capability_major,
    ignored_name
from cpu_known
