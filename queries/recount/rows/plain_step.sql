-- purpose = "Steps of sources whose steps are all marked on the host, one after the other, and hold
-- all work: when each is done, and what the host and the device took."
with
    worked as (
        select source_id, step_index, min(start_ns) as first_ns, max(start_ns + dur_ns) as last_ns
        from attribution
        where run_id = $run_id and dur_ns is not null
        group by source_id, step_index
    ),
    marks as (
        select
            step.source_id,
            step.step_index,
            step.start_ns,
            coalesce(lead(step.start_ns) over one, step.start_ns + dur_ns) as next_ns,
            first_ns,
            last_ns
        from step
        left join worked using (source_id, step_index)
        where run_id = $run_id
        window
            one as (partition by step.source_id order by step.step_index),
            of_source as (partition by step.source_id)
        -- all marks of the host, one after the other, and all work in them
        qualify
            bool_and(step_kind = 'host' and dur_ns is not null) over of_source
            and max(step.step_index) over of_source - min(step.step_index) over of_source + 1
            = count(*) over of_source
            and count(distinct step.step_index) over of_source = count(*) over of_source
            and coalesce(bool_and(first_ns >= step.start_ns) over of_source, true)
            and step.source_id not in (select source_id from worked where step_index is null)
    ),
    ends as (
        select
            *,
            greatest(
                next_ns, max(last_ns) over (partition by source_id order by step_index)
            ) as end_ns
        from marks
    ),
    times as (
        select
            *,
            end_ns - greatest(
                start_ns, lag(end_ns, 1, start_ns) over (partition by source_id order by step_index)
            ) as step_ns,
            greatest(next_ns - start_ns, last_ns - first_ns) as own_ns
        from ends
    )
select *, source_id in (select source_id from worked) as is_worked
from times
