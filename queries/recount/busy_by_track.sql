-- purpose = "Tracks of a device are busy as the rows say."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "busy_by_track"
-- keys = ["source_id", "device_id", "track_kind"]
-- needs = ["attribution"]
-- upon = "source_window"
-- is_partial = true
with
    intervals as (
        select source_id, device_id, 'kernels' as track_kind, start_ns, end_ns
        from uncut_work
        where work_kind = 'kernel'
        union all
        select
            source_id, device_id, coalesce(category_name, slice_kind), start_ns, start_ns + dur_ns
        from slice
        where run_id = $run_id and slice_kind = 'device_annotation'
    ),
    cut as (
        select
            source_id,
            device_id,
            track_kind,
            elapsed_ns,
            greatest(start_ns, window_start_ns) as start_ns,
            least(end_ns, window_end_ns) as end_ns
        from intervals
        join source_window using (source_id)
        where start_ns < window_end_ns and end_ns > window_start_ns
    ),
    reached as (
        select
            *,
            max(end_ns) over (
                partition by source_id, device_id, track_kind
                order by start_ns, end_ns
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from cut
    )
select
    source_id,
    device_id,
    track_kind,
    any_value(elapsed_ns) as elapsed_ns,
    count(*) as interval_count,
    sum(end_ns - start_ns) as sum_ns,
    sum(greatest(0, end_ns - greatest(start_ns, coalesce(reach_ns, start_ns)))) as busy_ns,
    busy_ns / any_value(elapsed_ns) as busy_ratio
from reached
group by source_id, device_id, track_kind
