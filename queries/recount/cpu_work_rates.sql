-- purpose = "Rates, intensity and bounds of a processor follow from its counts and their doubts."
-- source = "Javed 2019, sect. 3 (eq. 1); docs/metrics.md, section Processor counters"
-- report = "cpu_work"
-- needs = ["measurement", "counter"]
-- skips_unknown = true
with
    width as (
        select
            unnest(
                [
                    'scalar_double',
                    '128b_packed_double',
                    '256b_packed_double',
                    '512b_packed_double',
                    'scalar_single',
                    '128b_packed_single',
                    '256b_packed_single',
                    '512b_packed_single'
                ]
            ) as name,
            unnest([1, 2, 4, 8, 1, 4, 8, 16]) as operations
    ),
    event as (
        select
            counter.*,
            operations,
            case
                when event_key in ('unc_m_cas_count.rd', 'unc_m_cas_count.wr')
                then 64
                when event_key in ('uncore_imc/cas_count_read/', 'uncore_imc/cas_count_write/')
                then 1
            end as bytes,
            1 - coalesce(running_ratio, 1) + coalesce(stddev / abs(nullif(value, 0)), 0) as doubt
        from counter
        left join width on event_key = 'fp_arith_inst_retired.' || name
        where run_id = $run_id and record_kind = 'event'
    ),
    summed as (
        select
            sum(value * operations) as flop,
            sum(value * operations) filter (where contains(event_key, 'single')) as single_flop,
            sum(value * operations * greatest(0, 1 - doubt)) as low_flop,
            sum(value * operations * (1 + doubt)) as high_flop,
            sum(value * bytes) as traffic,
            sum(value * bytes * greatest(0, 1 - doubt)) as low_traffic,
            sum(value * bytes * (1 + doubt)) as high_traffic
        from event
        having
            count(operations) = 8
            and count(bytes) = 2
            and count(*) = count(event_key)
            and count(*) = count(value)
            and count(*) = count(distinct event_key)
            and count(coalesce(scope_name, cgroup_name, modifier_name)) = 0
            and count(interval_index) = 0
            -- nor events of other operations or of other controllers
            and count(*) filter (
                where
                    (regexp_matches(event_key, '^fp_|flop|simd|vfp') and operations is null)
                    or (regexp_matches(event_key, 'imc|cas_count|dram|umc') and bytes is null)
            )
            = 0
    ),
    peak as (
        select
            max(value) filter (where name = 'fp32') as fp32,
            max(value) filter (where name = 'dram') as dram
        from assumption
        where run_id = $run_id and assumption_kind in ('compute', 'bandwidth')
        having
            not exists (from device where run_id = $run_id)
            and not exists (from assumption where run_id = $run_id and assumption_kind = 'device')
    )
select
    flop as total_flop,
    flop / nullif(traffic, 0) as intensity_flop_per_byte,
    flop * 1e9 / dur_ns as achieved_flop_per_s,
    traffic * 1e9 / dur_ns as achieved_bytes_per_s,
    low_flop / nullif(high_traffic, 0) as intensity_low_flop_per_byte,
    high_flop / nullif(low_traffic, 0) as intensity_high_flop_per_byte,
    if(
        single_flop * 1e9 / dur_ns > 1.05 * fp32, null, single_flop * 1e9 / dur_ns / fp32
    ) as utilization_ratio,
    if(
        traffic * 1e9 / dur_ns > 1.05 * dram, null, traffic * 1e9 / dur_ns / dram
    ) as bandwidth_ratio,
    1 as source_count,
    1 as node_count
from summed
cross join (from measurement where run_id = $run_id and dur_ns > 0)
left join peak on true
where (select count(*) from measurement where run_id = $run_id) = 1
