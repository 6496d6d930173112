-- purpose = "Calls that launch device work, by name, and how many have no record of that work; no
-- rows if all have."
-- source = "docs/metrics.md, section unrecorded_launches"
-- topic = "time"
-- needs = ["launch_call"]
-- parameters = "run_id"
-- columns = "source_id-rank name-call call_count-launches unrecorded_count unrecorded_ratio
-- unrecorded_call_ns possible_ns reason"
-- answer = "name call_count unrecorded_count unrecorded_ratio possible_ns"
-- name-call = "VARCHAR: call of the runtime or driver"
-- call_count-launches = "BIGINT: calls, without those that a stream capture records"
-- unrecorded_count = "BIGINT: calls with an ID that no kernel, copy or memset of the file has"
-- unrecorded_ratio = "DOUBLE: unrecorded_count / call_count"
-- unrecorded_call_ns = "BIGINT: sum of the durations of these calls on the host"
-- possible_ns = "BIGINT: time in which their work can have run (union): an upper bound of it; NULL
-- if unknown"
with
    possible as (
        select
            *,
            max(possible_end_ns) over (
                partition by source_id, device_id, name
                order by possible_start_ns, possible_end_ns, event_id
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from unrecorded_launch
        where run_id = $run_id
    ),
    summed as (
        select
            source_id,
            name,
            count(*) - count(possible_end_ns) as open_count,
            sum(
                greatest(
                    possible_end_ns
                    - greatest(possible_start_ns, coalesce(reach_ns, possible_start_ns)),
                    0
                )
            ) as possible_ns
        from possible
        group by source_id, name
    )
select
    calls.source_id,
    calls.name,
    calls.call_count,
    calls.unrecorded_count,
    ratio(calls.unrecorded_count, calls.call_count) as unrecorded_ratio,
    calls.unrecorded_call_ns,
    case
        when calls.unrecorded_count = 0
        then 0
        when open_count = 0
        then cast(summed.possible_ns as bigint)
    end as possible_ns,
    case
        when open_count > 0 then 'no record ends the time of ' || open_count || ' of them'
    end as reason
from launch_call as calls
left join
    summed on summed.source_id = calls.source_id and summed.name is not distinct from calls.name
where calls.run_id = $run_id
order by calls.unrecorded_count desc, calls.call_count desc, calls.source_id, calls.name
