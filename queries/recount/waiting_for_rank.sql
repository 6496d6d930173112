-- purpose = "Ranks wait in a collective for as long as it takes them longer than the last one."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "waiting_for_rank"
-- keys = ["source_id", "device_id"]
-- needs = ["kernel", "attribution"]
-- upon = "numbered_collective"
with
    complete as (
        select *, dur_ns - min(dur_ns) over one as wait_ns
        from numbered_collective
        window one as (partition by group_text, number)
        qualify
            count(*) over one = group_size
            and count(distinct rank_index) over one = group_size
            and group_size > 1
    ),
    lost as (
        select rank_index, sum(lost_ns) as lost_ns
        from
            (
                select
                    group_text,
                    number,
                    min_by(rank_index, dur_ns) as rank_index,
                    sum(wait_ns) as lost_ns
                from complete
                group by group_text, number
            )
        group by rank_index
    ),
    last as (
        select
            max_by(rank_index, (lost_ns, - rank_index)) as last_rank_index,
            max(lost_ns) / sum(lost_ns) as lost_ratio
        from lost
    ),
    waits as (
        select source_id, rank_index, sum(wait_ns) as wait_ns, count(*) as call_count
        from complete
        where wait_ns > 0
        group by source_id, rank_index
    ),
    -- the device tells ranks of one file apart
    places as (
        select
            source_id,
            rank_index,
            if(count(*) over (partition by source_id) > 1, min(device_id), null) as place_id
        from numbered_collective
        group by source_id, rank_index
    ),
    work as (
        select
            rank_index,
            sum(
                if(collective_name is null and name not ilike '%nccl%', attribution.dur_ns, 0)
            ) as work_ns
        from attribution
        left join
            (
                select source_id, event_id, collective_name from kernel where run_id = $run_id
            ) as kernel using (source_id, event_id)
        join
            (select distinct source_id, device_id, rank_index from numbered_collective) as ranks
            using (source_id, device_id)
        where run_id = $run_id
        group by rank_index
    ),
    more as (
        select
            last_rank_index,
            lost_ratio,
            round(
                sum(if(rank_index = last_rank_index, work_ns, 0)) - median(work_ns)
            ) as more_work_ns,
            more_work_ns * 10 >= (select max(wait_ns) from waits) as is_busy
        from work
        cross join last
        group by last_rank_index, lost_ratio
    )
select
    source_id,
    place_id as device_id,
    wait_ns as win_ns,
    call_count,
    last_rank_index,
    lost_ratio,
    if(is_busy, last_rank_index, null) as busy_rank_index,
    if(is_busy, null, last_rank_index) as late_rank_index,
    more_work_ns
from waits
join places using (source_id, rank_index)
cross join more
where
    -- the last of each is told by its time alone, and nothing is cut
    not exists (
        select 1
        from complete
        group by group_text, number
        having count(*) filter (where wait_ns = 0) > 1
    )
    and not exists (from step where run_id = $run_id)
    and not exists (from attribution where run_id = $run_id and dur_ns is null)
