-- purpose = "A step ends where the next is marked, or where its work ends, whichever is later."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "steps"
-- keys = ["source_id", "step_index"]
-- needs = ["attribution", "step"]
-- upon = "plain_window"
-- is_partial = true
with
    work as (
        select
            source_id,
            step_index,
            min(start_ns) as first_ns,
            max(end_ns) as last_ns,
            count(*) as work_count
        from plain_window
        group by source_id, step_index
    ),
    marks as (
        select source_id, step_index, min(start_ns) as start_ns, max(start_ns + dur_ns) as end_ns
        from step
        where run_id = $run_id and source_id in (select source_id from work)
        group by source_id, step_index
    ),
    followed as (
        select
            *,
            lead(step_index) over one = step_index + 1 as is_followed,
            if(is_followed, lead(start_ns) over one, end_ns) as next_ns
        from marks
        left join work using (source_id, step_index)
        window one as (partition by source_id order by step_index)
    ),
    done as (
        select
            *,
            max(greatest(next_ns, last_ns)) over (
                partition by source_id order by step_index rows unbounded preceding
            ) as done_ns
        from followed
    )
select
    source_id,
    step_index,
    greatest(start_ns, lag(done_ns) over one) as start_ns,
    done_ns - greatest(start_ns, lag(done_ns) over one) as elapsed_ns,
    next_ns - start_ns as host_ns,
    last_ns - first_ns as device_ns
from done
-- work that begins before its step is of another clock
where source_id not in (select source_id from done where first_ns < start_ns or last_ns <= start_ns)
window one as (partition by source_id order by step_index)
