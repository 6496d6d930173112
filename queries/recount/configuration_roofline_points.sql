-- purpose = "Points of a sweep's roofline have the work of one second at the rate of their row."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "configuration_roofline_points"
-- keys = ["source_id", "event_id"]
-- options.rate = []
-- options.intensity = []
-- options.series = []
-- needs = ["configuration", "configuration_value"]
-- upon = "given_peak"
-- is_partial = true
with
    metric as (
        select
            source_id,
            column_name,
            map{
                'FLOP/s':1.0,
                'GFLOP/s':1e9,
                'TFLOP/s':1e12,
                'FLOP/byte':1.0,
                'B/s':1.0,
                'GB/s':1e9,
                'GiB/s':1073741824.0
            }[min(unit)] as scale,
            split_part(min(unit), '/', 2) as per,
            if(per = 's', if(contains(min(unit), 'FLOP'), 'rate', 'traffic'), per) as kind
        from configuration_value
        where run_id = $run_id and role_kind = 'metric'
        group by source_id, column_name
        having
            if(
                $rate is null or $intensity is null,
                scale is not null or regexp_matches(lower(column_name), 'flop|intensity'),
                column_name in ($rate, $intensity)
            )
    ),
    -- tables with one rate and one intensity, or one rate and one traffic
    told as (
        select
            source_id,
            max(column_name) filter (where kind = 'rate') as rate_name,
            max(column_name) filter (where kind <> 'rate') as moved_name,
            max(scale) filter (where kind = 'rate') as rate_scale,
            max(scale) filter (where kind = 'traffic') as byte_scale
        from metric
        group by source_id
        having count(*) = 2 and count(scale) = 2 and count(*) filter (where kind = 'rate') = 1
    ),
    value as (from configuration_value where run_id = $run_id and value is not null),
    work as (
        select
            here.source_id,
            here.event_id,
            rate.value * rate_scale as flop,
            if(
                byte_scale is null, flop / nullif(moved.value, 0), moved.value * byte_scale
            ) as bytes,
            case
                when status_kind = 'failed'
                then coalesce(status_text, 'failed')
                when flop is null
                then rate_name || ': not measured'
                when least(flop, moved.value) < 0
                then 'less than zero'
                when flop = 0
                then null
                when moved.value is null
                then moved_name || ': not measured'
                when moved.value = 0 and byte_scale is null
                then 'operations, and an intensity of zero'
                when flop > 1e290
                then 'larger than a number can be'
            end as reason
        from (from configuration where run_id = $run_id) as here
        join told using (source_id)
        left join
            value as rate
            on rate.source_id = here.source_id
            and rate.event_id = here.event_id
            and rate.column_name = rate_name
        left join
            value as moved
            on moved.source_id = here.source_id
            and moved.event_id = here.event_id
            and moved.column_name = moved_name
    )
select
    source_id,
    event_id,
    1 as launch_count,
    if(reason is null, 1, 0) as known_launch_count,
    null as total_ns,
    if(reason is null, 1e9, null) as known_ns,
    if(reason is null, flop, null) as known_flop,
    if(reason is null, bytes, null) as known_bytes,
    known_flop
    / coalesce(peak_of['tensor_bf16'], peak_of['tensor_fp16'], peak_of['fp32'])
    * 1e9 as compute_ns,
    known_bytes / peak_of['dram'] * 1e9 as bandwidth_ns,
    reason,
    if(reason is null, 'table', null) as byte_definition,
    device_name,
    if(known_flop = 0, 1, 0) as zero_launch_count,
    if(known_flop = 0, 1e9, 0) as zero_ns
from work
join given_peak using (source_id)
