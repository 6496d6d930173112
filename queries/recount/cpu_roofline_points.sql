-- purpose = "The point of a run on processors has the operations and traffic of all nodes."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "cpu_roofline_points"
-- needs = ["measurement", "counter"]
-- upon = "cpu_width"
with
    compute as (
        select
            source_id,
            sum(flop) as flop,
            if(
                count(peak) filter (where flop > 0) = count(*) filter (where flop > 0),
                coalesce(sum(flop / peak) filter (where flop > 0), 0) * 1e9,
                null
            ) as compute_ns
        from cpu_width
        group by source_id
    ),
    traffic as (
        select
            source_id,
            sum(
                coalesce(
                    value_of['uncore_imc/cas_count_read/']
                    + value_of['uncore_imc/cas_count_write/'],
                    64 * (value_of['unc_m_cas_count.rd'] + value_of['unc_m_cas_count.wr'])
                )
            ) as bytes
        from plain_event
        group by source_id
    ),
    timed as (
        select source_id, sum(dur_ns) as ns
        from measurement
        where run_id = $run_id
        group by source_id
        having count(dur_ns) = count(*)
    )
select
    $run_id as run_id,
    (select any_value(run_name) from run where run_id = $run_id) as run_name,
    'dram' as level_name,
    1 as launch_count,
    1 as known_launch_count,
    max(ns) * count(*) as total_ns,
    max(ns) * count(*) as known_ns,
    sum(flop) as known_flop,
    sum(bytes) as known_bytes,
    if(count(compute_ns) = count(*), sum(compute_ns), null) as compute_ns,
    if(count(peak_of['dram']) = count(*), sum(bytes / peak_of['dram']) * 1e9, null) as bandwidth_ns,
    null as reason,
    if(sum(flop) = 0, 1, 0) as zero_launch_count,
    if(sum(flop) = 0, max(ns) * count(*), 0) as zero_ns
from compute
join traffic using (source_id)
join timed using (source_id)
join given_peak using (source_id)
where
    bytes is not null
    and ns > 0
    and not exists (from run_label where run_id = $run_id and label_name = 'ranks_per_node')
having count(*) = (select count(distinct source_id) from measurement where run_id = $run_id)
