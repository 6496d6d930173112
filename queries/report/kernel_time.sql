-- purpose = "Kernels by device time: launches, total, mean, minimum, maximum and share."
-- source = "Zhu 2018 (TBD), Tables V and VI: duration as share of total kernel time"
-- topic = "kernels"
-- needs = ["kernel"]
-- depends = ["kernel_launch", "chosen_step"]
-- parameters = "run_id phase"
-- phase = "all, stable or N..M: only kernels launched in these steps"
-- columns = "name launch_count total_ns mean_ns min_ns max_ns share_ratio"
-- answer = "total_ns share_ratio"
-- total_ns = "sum of the durations; overlapping kernels each count in full"
-- min_ns = "shortest launch; NULL if the file has only sums"
-- max_ns = "longest launch; NULL if the file has only sums"
-- share_ratio = "total_ns / sum of all kernel durations of the run or of these steps"
with
    of_steps as (
        select source_id, event_id
        from attribution
        join chosen_step($run_id, $phase) using (run_id, source_id)
        where run_id = $run_id and step_index between first_step_index and last_step_index
    )
select
    name,
    cast(sum(launch_count) as bigint) as launch_count,
    cast(sum(dur_ns) as bigint) as total_ns,
    ratio(sum(dur_ns), sum(launch_count) filter (where dur_ns is not null)) as mean_ns,
    min(min_ns) as min_ns,
    max(max_ns) as max_ns,
    ratio(sum(dur_ns), sum(sum(dur_ns)) over ()) as share_ratio
from kernel_launch
where
    run_id = $run_id
    and ($phase = 'all' or (source_id, event_id) in (select (source_id, event_id) from of_steps))
group by name
order by total_ns desc nulls last, name
