-- purpose = "Runs with launches that have no record of their device work, so that idle time may be
-- work: above 1 % of the launches, or if the work can have run for 5 % of the time of a device."
-- source = "docs/metrics.md, sections unrecorded_launches and Findings"
-- needs = ["launch_call"]
-- depends = ["gap_part"]
-- parameters = "run_id"
-- columns = "win_ns-none unrecorded_count-all call_count-all name-most possible_ns-window
-- elapsed_ns-none source_id-rank device_id-none"
-- unrecorded_count-all = "BIGINT: launch calls without a record of their device work"
-- call_count-all = "BIGINT: launch calls"
-- name-most = "VARCHAR: call that most of these are"
-- possible_ns-window = "BIGINT: idle time in which their work can have run, of all devices; NULL
-- if none"
-- finding.title = "Device work is not on record"
-- finding.evidence = "{unrecorded_count} of {call_count} launch calls have no device record, most
-- of them {name}[; their work can take up to {possible_ns}, which no other finding calls idle]"
-- finding.action = "Record it again with device activities and larger buffers of the profiler, or
-- fewer steps, before you trust idle times: they are upper bounds."
-- finding.command = "query unrecorded_launches"
-- finding.pool = "none"
with
    calls as (
        select
            source_id,
            cast(sum(unrecorded_count) as bigint) as unrecorded_count,
            cast(sum(call_count) as bigint) as call_count,
            arg_min(name, (- unrecorded_count, name)) as name
        from launch_call
        where run_id = $run_id
        group by source_id
    ),
    covered as (
        select
            source_id, device_id, any_value(elapsed_ns) as elapsed_ns, sum(part_ns) as possible_ns
        from gap_part($run_id, 'all')
        where gap_kind = 'not_recorded'
        group by source_id, device_id
    ),
    summed as (
        select
            source_id,
            cast(sum(possible_ns) as bigint) as possible_ns,
            max(ratio(possible_ns, elapsed_ns)) as possible_ratio
        from covered
        group by source_id
    )
select
    cast(null as bigint) as win_ns,
    calls.unrecorded_count,
    calls.call_count,
    calls.name,
    summed.possible_ns,
    cast(null as bigint) as elapsed_ns,
    calls.source_id,
    cast(null as bigint) as device_id
from calls
left join summed on summed.source_id = calls.source_id
where
    ratio(calls.unrecorded_count, calls.call_count) > 0.01
    or coalesce(summed.possible_ratio, 0) >= 0.05
order by calls.unrecorded_count desc, calls.source_id
