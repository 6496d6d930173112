-- purpose = "Work of each row of a table of results in one second, or in the time of a metric:
-- operations, bytes, and the device."
-- source = "ParaDnn (Wang Y. E. 2020), Fig. 3; docs/metrics.md, section Sweeps: rooflines of
-- configurations"
-- needs = ["configuration"]
-- depends = ["configuration_metrics", "device_roof"]
-- parameters = "wanted_run wanted_rate wanted_intensity wanted_weight wanted_ceiling"
-- wanted_weight = "VARCHAR: metric with the time; NULL: one second each"
-- columns = "configuration_id run_id source_id-table event_id-row name device_name total_ns
-- known_ns known_flop known_bytes flop_ns byte_ns reason"
-- name = "labels as one text, if the file has that"
-- total_ns = "DOUBLE: time of the metric; NULL if none is chosen"
-- known_ns = "DOUBLE: time of the metric, else one second; NULL if the values are unknown"
-- known_bytes = "bytes in that time; NULL also without operations and intensity"
-- flop_ns = "DOUBLE: time of one operation at the compute peak of the device"
-- byte_ns = "DOUBLE: time of one byte at peak bandwidth"
with
    chosen as materialized(
        select
            metrics.* replace (
                case
                    when rate_name is not null
                    then coalesce(rate_scale, ratio(peak_flop_per_s, 100))
                end as rate_scale,
                case
                    when moved_kind = '%' then ratio(peak_bytes_per_s, 100) else moved_scale
                end as moved_scale
            ),
            machine.device_name,
            ratio(1e9, machine.peak_flop_per_s) as flop_ns,
            ratio(1e9, machine.peak_bytes_per_s) as byte_ns
        from
            configuration_metrics(
                wanted_run, wanted_rate, wanted_intensity, wanted_weight
            ) as metrics
        left join
            (from device_roof(wanted_run, wanted_ceiling) where device_id is null) as machine
            on machine.run_id = metrics.run_id
            and machine.source_id = metrics.source_id
    ),
    -- one row per part: with one condition for all parts DuckDB compares each value with each table
    parts as (
        select
            run_id,
            source_id,
            base_id,
            unnest([rate_name, moved_name, weight_name]) as column_name,
            unnest([1, 2, 3]) as part
        from chosen
    ),
    measured as (
        select
            base_id + event_id as configuration_id,
            max(value) filter (where part = 1) as rate_value,
            max(value) filter (where part = 2) as moved_value,
            max(value) filter (where part = 3) as weight_value
        from configuration_value
        join parts using (run_id, source_id, column_name)
        where
            role_kind = 'metric'
            and value is not null
            and (wanted_run is null or run_id = wanted_run)
        group by configuration_id
    ),
    rates as (
        select
            chosen.base_id + here.event_id as configuration_id,
            chosen.run_id,
            chosen.source_id,
            here.event_id,
            here.name,
            here.status_kind,
            here.status_text,
            chosen.* exclude (run_id, source_id, base_id),
            measured.* exclude (configuration_id),
            rate_value * rate_scale as flop_per_s,
            case
                when moved_kind = 'flop/byte'
                then ratio(flop_per_s, moved_value)
                else moved_value * moved_scale
            end as bytes_per_s,
            case
                when weight_name is null then 1.0 else weight_value * weight_scale * 1e-9
            end as seconds
        from configuration as here
        join chosen using (run_id, source_id)
        left join measured on measured.configuration_id = chosen.base_id + here.event_id
        where wanted_run is null or here.run_id = wanted_run
    ),
    judged as (
        select
            * exclude (reason),
            case
                when status_kind = 'failed'
                then coalesce(status_text, reason, 'failed')
                when reason is not null
                then reason
                when rate_value is null
                then rate_name || ': not measured'
                when least(rate_value, moved_value, weight_value) < 0
                then 'less than zero'
                when flop_per_s is null
                then 'a percentage, and the compute peak is unknown'
                when seconds is null
                then weight_name || ': not measured'
                when seconds = 0
                then 'duration of zero'
                when seconds >= 9e9
                then 'larger than a number can be'
                when flop_per_s = 0
                then null
                when moved_value is null
                then moved_name || ': not measured'
                when moved_kind = 'flop/byte' and moved_value = 0
                then 'operations, and an intensity of zero'
                when moved_kind = '%' and moved_scale is null
                then 'a percentage, and the bandwidth is unknown'
                when
                    not coalesce(
                        isfinite(flop_per_s * seconds) and isfinite(bytes_per_s * seconds), false
                    )
                then 'larger than a number can be'
            end as reason
        from rates
    )
select
    configuration_id,
    run_id,
    source_id,
    event_id,
    name,
    device_name,
    case when weight_name is not null and seconds < 9e9 then seconds * 1e9 end as total_ns,
    case when reason is null then seconds * 1e9 end as known_ns,
    case when reason is null then flop_per_s * seconds end as known_flop,
    case when reason is null then bytes_per_s * seconds end as known_bytes,
    flop_ns,
    byte_ns,
    reason
from judged
