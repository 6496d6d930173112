-- purpose = "Kernels with few blocks leave empty what no kernel beside them fills."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "small_grid"
-- keys = ["source_id", "device_id", "name"]
-- needs = ["attribution", "kernel"]
-- upon = "plain_window"
with
    units as (
        select source_id, device_id, max(sm_count) as sm_count
        from device
        where run_id = $run_id
        group by source_id, device_id
    ),
    ran as (
        select
            work.*,
            coalesce(
                blocks_per_sm_count, grid_x * grid_y::double * grid_z / nullif(sm_count, 0)
            ) as blocks,
            coalesce(blocks < 1 and not is_collective, false) as is_small
        from plain_window as work
        join
            kernel
            on kernel.run_id = $run_id
            and kernel.source_id = work.source_id
            and kernel.event_id = work.event_id
        left join units on units.source_id = work.source_id and units.device_id = work.device_id
        where work.dur_ns > 0
    ),
    edges as (select source_id, device_id, unnest([start_ns, end_ns]) as time_ns from ran),
    spans as (
        select distinct
            source_id,
            device_id,
            time_ns,
            min(time_ns) over (
                partition by source_id, device_id
                order by time_ns
                range between 1 following and unbounded following
            ) as till_ns
        from edges
    ),
    shares as (
        select
            ran.*,
            greatest(0, till_ns - time_ns) as span_ns,
            sum(coalesce(blocks, 1)) over one as all_blocks,
            count(*) filter (where is_small) over one as small_count
        from spans
        join
            ran
            on ran.source_id = spans.source_id
            and ran.device_id is not distinct from spans.device_id
            and ran.start_ns <= time_ns
            and ran.end_ns > time_ns
        window one as (partition by spans.source_id, spans.device_id, time_ns)
    ),
    emptied as (
        select
            source_id,
            device_id,
            name,
            dur_ns,
            blocks,
            elapsed_ns,
            sum(if(all_blocks < 1, span_ns * (1 - all_blocks) / small_count, 0)) as empty_ns
        from shares
        where is_small
        group by source_id, device_id, event_id, name, dur_ns, blocks, elapsed_ns
    )
select
    source_id,
    device_id,
    name,
    floor(round(sum(empty_ns), 3)) as win_ns,
    count(*) as launch_count,
    sum(dur_ns) as total_ns,
    sum(dur_ns * blocks) / sum(dur_ns) as blocks_per_sm_count,
    any_value(elapsed_ns) as elapsed_ns
from emptied
where empty_ns > 1e-3
group by source_id, device_id, name
having
    win_ns >= 1
    and not exists (from plain_window where is_kernel and is_collective is null)
    -- of all work of the run
    and (select count(*) from plain_window)
    = (select count(*) from attribution where run_id = $run_id)
