-- purpose = "Ceilings of a processor have the operations and traffic that its events counted."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "cpu_roofline_ceilings"
-- keys = ["device_name", "ceiling_kind", "ceiling_name"]
-- needs = ["measurement", "counter"]
-- upon = "cpu_width"
with
    work as (
        select source_id, coalesce(known_name, precision_name) as ceiling_name, sum(flop) as amount
        from cpu_width
        group by all
        union all
        select
            source_id,
            'dram',
            sum(
                coalesce(
                    value_of['uncore_imc/cas_count_read/']
                    + value_of['uncore_imc/cas_count_write/'],
                    64 * (value_of['unc_m_cas_count.rd'] + value_of['unc_m_cas_count.wr'])
                )
            )
        from plain_event
        group by source_id
    ),
    named as (
        select source_id, ceiling_name
        from work
        where amount > 0
        union
        select source_id, unnest(map_keys(peak_of))
        from given_peak
    )
select
    $run_id as run_id,
    device_name,
    if(ceiling_name = 'dram', 'bandwidth', 'compute') as ceiling_kind,
    ceiling_name,
    max(if(ceiling_name <> 'dram', peak_of[ceiling_name], null)) as peak_flop_per_s,
    max(if(ceiling_name = 'dram', peak_of[ceiling_name], null)) as peak_bytes_per_s,
    sum(if(ceiling_name <> 'dram', amount, null)) as work_flop,
    sum(if(ceiling_name = 'dram', amount, null)) as work_bytes,
    if(max(peak_of[ceiling_name]) is null, null, 'user') as origin_kind,
    sum(
        (
            select sum(dur_ns)
            from measurement
            where run_id = $run_id and measurement.source_id = named.source_id
        )
    ) as total_ns
from named
left join work using (source_id, ceiling_name)
join given_peak using (source_id)
where exists (from cpu_width)
group by device_name, ceiling_name
