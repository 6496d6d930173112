-- purpose = "Ceilings of operators have their peaks, and the work that ran under each."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "attributed_op_roofline_ceilings"
-- keys = ["device_name", "ceiling_kind", "ceiling_name"]
-- options.provenance = ["best", "modelled"]
-- needs = ["attribution", "op_call"]
-- upon = "op_roof"
-- is_partial = true
with
    worked as (
        select
            device.name as device_name,
            peaks,
            unit_name,
            ns,
            if(flop + bytes is null or flop_peak is null or byte_peak is null, null, flop) as flop,
            if(flop + bytes is null or flop_peak is null or byte_peak is null, null, bytes) as bytes
        from op_roof
        join (from device where run_id = $run_id) as device using (source_id)
        where op_roof.name is not null and not exists (from op_roof where is_undecided)
    ),
    one_kind as (
        select device_name, any_value(peaks) as peaks
        from worked
        group by device_name
        having count(distinct peaks) = 1
    ),
    ceiling as (
        select
            device_name, unnest(map_keys(peaks)) as ceiling_name, unnest(map_values(peaks)) as peak
        from one_kind
    )
select
    device_name,
    if(ceiling_name in ('dram', 'l2', 'l1'), 'bandwidth', 'compute') as ceiling_kind,
    ceiling_name,
    if(ceiling_kind = 'compute', peak, null) as peak_flop_per_s,
    if(ceiling_kind = 'bandwidth', peak, null) as peak_bytes_per_s,
    if(
        ceiling_kind = 'compute', sum(flop) filter (where unit_name = ceiling_name), null
    ) as work_flop,
    if(ceiling_name = 'dram', sum(bytes), null) as work_bytes,
    sum(ns) as total_ns
from ceiling
join worked using (device_name)
group by device_name, ceiling_name, peak
