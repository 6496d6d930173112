-- purpose = "Kernels of devices that no file names, or of no known model, have no peaks."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "data_without_peaks"
-- keys = ["source_id"]
-- needs = ["attribution", "device"]
with
    spelled as (
        select
            source_id, device_id, name, regexp_replace(lower(name), '[^a-z0-9]', '', 'g') as letters
        from device
        where run_id = $run_id
    ),
    named as (
        select
            spelled.*,
            letters in (
                select vendor || model_key from device_model, (values ('nvidia'), ('')) as t(vendor)
            ) as is_known,
            name is not null
            and not exists (from device_model where ends_with(letters, model_key)) as is_unknown
        from spelled
    ),
    worked as (
        select work.source_id, work.device_id, dur_ns, named.name, is_known
        from attribution as work
        left join
            named
            on named.source_id = work.source_id
            and named.device_id is not distinct from work.device_id
        where work.run_id = $run_id and work_kind = 'kernel' and start_ns + dur_ns is not null
    ),
    reasons as (
        select
            source_id,
            if(
                name is null, 'no file names the device', 'no peaks are known of ' || name
            ) as reason,
            sum(dur_ns) as reason_ns
        from worked
        where not coalesce(is_known, false)
        group by all
    )
select
    source_id,
    coalesce(sum(if(is_known, 0, dur_ns)), 0) / sum(dur_ns) as unknown_ratio,
    sum(dur_ns) as total_ns,
    (
        select first(reason order by reason_ns desc, reason)
        from reasons
        where reasons.source_id = worked.source_id
    ) as reason
from worked
where
    -- each device once, known or unknown for sure, and not by what else is said of it
    (select count(*) = count(distinct(source_id, coalesce(device_id, -1))) from named)
    and not exists (from assumption where run_id = $run_id)
    and not exists (from named where name is not null and not is_known and not is_unknown)
    and not exists (from device where run_id = $run_id and (name is null and sm_count is not null))
    -- a device without a name can be another that has one
    and (
        not exists (from worked where name is null)
        or not exists (from named where name is not null)
    )
group by source_id
having unknown_ratio >= 0.1
