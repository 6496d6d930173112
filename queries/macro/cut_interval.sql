-- purpose = "Intervals of processor counters without a value that the others have, because the
-- file is truncated or edited there. They are excluded from every metric."
-- source = "docs/metrics.md, section Processor counters: a part is never shown as the whole"
-- needs = ["measurement"]
-- parameters = "wanted_run"
-- columns = "run_id source_id measurement_index interval_index dur_ns"
-- dur_ns = "length of the interval"
with
    intervals as (
        select
            counter.run_id,
            counter.source_id,
            counter.measurement_index,
            counter.interval_index,
            max(counter.dur_ns) as dur_ns,
            -- threads come and go
            count(
                distinct(
                    counter.event_key,
                    counter.modifier_name,
                    counter.pmu_name,
                    counter.cgroup_name,
                    case
                        when measurement.aggregation_kind is distinct from 'thread'
                        then counter.scope_name
                    end
                )
            ) as value_count
        from
            (
                from counter
                where
                    record_kind = 'event'
                    and interval_index is not null
                    and (wanted_run is null or run_id = wanted_run)
            ) as counter
        join
            (from measurement where wanted_run is null or run_id = wanted_run) as measurement
            using (run_id, source_id, measurement_index)
        group by all
    ),
    usual as (
        select run_id, source_id, measurement_index, value_count
        from intervals
        group by run_id, source_id, measurement_index, value_count
        qualify
            row_number() over (
                partition by run_id, source_id, measurement_index
                order by count(*) desc, value_count desc
            )
            = 1
    )
select
    intervals.run_id,
    intervals.source_id,
    intervals.measurement_index,
    intervals.interval_index,
    intervals.dur_ns
from intervals
join usual using (run_id, source_id, measurement_index)
where intervals.value_count < usual.value_count
