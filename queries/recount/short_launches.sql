-- purpose = "Kernels of a duration have the time of their launch calls and the idle time of the
-- device before them."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "short_kernels"
-- keys = ["duration_class"]
-- needs = ["attribution"]
-- upon = "plain_gap"
with
    idle as (
        select source_id, event_id, sum(gap_end_ns - gap_start_ns) as idle_ns
        from plain_gap
        where event_id is not null
        group by source_id, event_id
    ),
    kernels as (
        select
            list_filter(
                [
                    (0, '0 µs to 2 µs'),
                    (2, '2 µs to 5 µs'),
                    (5, '5 µs to 10 µs'),
                    (10, '10 µs to 20 µs'),
                    (20, '20 µs to 50 µs'),
                    (50, '50 µs to 100 µs'),
                    (100, '100 µs to 1 ms'),
                    (1000, '1 ms and more')
                ],
                lambda one:one[1] * 1000 <= plain_window.dur_ns
            )[-1][2] as duration_class,
            plain_window.dur_ns,
            launch_dur_ns / coalesce(launch_work_count, 1) as one_ns,
            idle_ns,
            plain_window.source_id
        from plain_window
        join
            attribution as rows
            on rows.run_id = $run_id
            and rows.source_id = plain_window.source_id
            and rows.event_id = plain_window.event_id
        left join
            idle
            on idle.source_id = plain_window.source_id
            and idle.event_id = plain_window.event_id
        where plain_window.work_kind = 'kernel'
    )
select
    duration_class,
    count(*) / sum(count(*)) over () as launch_ratio,
    sum(dur_ns) / nullif(sum(sum(dur_ns)) over (), 0) as share_ratio,
    avg(one_ns) as mean_call_ns,
    sum(one_ns) as call_ns,
    if(count(one_ns) > 0, count(*) filter (where dur_ns < one_ns), null) as shorter_count,
    coalesce(sum(idle_ns), 0) as idle_ns,
    coalesce(sum(idle_ns), 0) / nullif(sum(sum(idle_ns)) over (), 0) as idle_share_ratio
from kernels
where
    not exists (from unrecorded_launch where run_id = $run_id)
    and (select count(*) from kernels)
    = (select count(*) from attribution where run_id = $run_id and work_kind = 'kernel')
group by duration_class
