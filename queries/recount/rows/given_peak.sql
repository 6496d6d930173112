-- purpose = "Peaks that the user gave, by source: of devices without a data sheet, that the source
-- says nothing about."
-- upon = "plain_event"
with
    source as (
        select source_id
        from measurement
        where run_id = $run_id
        union
        select source_id
        from configuration
        where run_id = $run_id
    ),
    given as (
        select
            source_id,
            max(name) filter (where assumption_kind = 'device') as device_name,
            map_from_entries(
                coalesce(
                    list((name, value)) filter (where assumption_kind in ('compute', 'bandwidth')),
                    []
                )
            ) as peak_of
        from source
        left join (from assumption where run_id = $run_id) as assumption using (source_id)
        group by source_id
    )
from given
where
    source_id not in (select source_id from device where run_id = $run_id)
    and not exists (
        from device_model
        where contains(regexp_replace(lower(device_name), '[^a-z0-9]', '', 'g'), model_key)
    )
