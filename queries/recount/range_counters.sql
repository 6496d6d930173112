-- purpose = "Counters of ranges add up for each operator, as the launches in it say."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "range_counters"
-- keys = ["name", "counter", "reason"]
-- needs = ["slice"]
with
    ranges as (
        select
            source_id,
            args_json,
            count(*) over (partition by source_id) as range_count,
            row_number() over (partition by source_id order by start_ns, event_id) as place
        from slice
        where
            run_id = $run_id
            and category_name = 'cuda_profiler_range'
            and slice_kind = 'device'
            and args_json is not null
    ),
    launches as (
        select
            slice.source_id,
            row_number() over (
                partition by slice.source_id order by slice.start_ns, slice.event_id
            ) as place,
            max_by(op_call.name, (op_call.start_ns, op_call.event_id)) as op_name
        from slice
        left join
            op_call
            on op_call.run_id = slice.run_id
            and op_call.source_id = slice.source_id
            and op_call.process_id is not distinct from slice.process_id
            and op_call.thread_id is not distinct from slice.thread_id
            and slice.start_ns >= op_call.start_ns
            and slice.start_ns < op_call.start_ns + op_call.dur_ns
        where
            slice.run_id = $run_id
            and slice.source_id in (select source_id from ranges)
            and slice_kind in ('runtime', 'driver')
            and regexp_matches(slice.name, '^(cuda|cu|hip)(Module)?Launch(Cooperative)?Kernel')
        group by slice.source_id, slice.event_id, slice.start_ns
    ),
    counted as (
        select
            if(launch_count = range_count, op_name, null) as name,
            case
                when range_count is distinct from launch_count
                then
                    range_count
                    || ' ranges and '
                    || coalesce(launch_count, 0)
                    || ' launches: not one range for each kernel'
                when op_name is null
                then 'launched outside of all operators'
            end as reason,
            member.key as counter,
            try_cast(member.value ->> '$' as double) as value
        from ranges
        cross join
            -- damaged arguments are no object
            json_each(if(try_cast(args_json as json) like '{%', args_json, '{}')) as member
        left join
            (
                select source_id, count(*) as launch_count from launches group by source_id
            ) as all_launches using (source_id)
        left join launches using (source_id, place)
    )
select
    name,
    counter,
    reason,
    if(counter not like '%.%' or counter like '%.sum', sum(value), null) as total_value,
    total_value / nullif(sum(total_value) over (partition by counter), 0) as share_ratio,
    avg(value) as mean_value,
    min(value) as min_value,
    max(value) as max_value,
    count(*) as range_count
from counted
where value is not null
group by name, counter, reason
