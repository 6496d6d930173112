-- purpose = "The inputs of a comparison: devices, sources and steps of both runs, and the device
-- time left out."
-- source = "docs/metrics.md, section Comparing runs"
-- topic = "comparison"
-- needs = ["source_file"]
-- depends = ["compared_source", "compared_step", "run_title", "stable_phase", "stable_share",
-- "device_known", "device_listed", "idle_device",
-- "sum_where"]
-- parameters = "run_id-a other_run_id by-compared phase"
-- columns = "side_kind run_name device_names source_count basis_kind step_kind step_count
-- first_step_index last_step_index work_ns outside_ns unstable_reason all_step_count all_mean_ns
-- stable_warning run_id"
-- side_kind = "A or B"
-- device_names = "VARCHAR: devices; NULL if unknown"
-- source_count = "sources (ranks) with compared times"
-- basis_kind = "source of the times: timeline (kernels, copies and memsets), kernels, counters or
-- summary (kernels only), framework or hlo with device or host in parentheses (operator totals),
-- layers (layer times) or host (host operators); NULL if there is none"
-- step_kind = "VARCHAR: source of the steps: host, device, reported, detected or iteration"
-- work_ns = "BIGINT: device time of the timeline, in and outside of steps"
-- outside_ns = "BIGINT: device time outside of steps; 0 if a run has no steps and all of it is
-- compared"
-- unstable_reason = "VARCHAR: why the run has no stable phase; NULL if it has one"
-- all_step_count = "BIGINT: all steps of the run: the maximum over its sources"
-- all_mean_ns = "DOUBLE: mean time of all steps"
-- stable_warning = "VARCHAR: that the stable steps are less than half of the steps or of their
-- time; NULL if not, or without steps"
with
    sides as (
        select 'a' as side, *
        from run_title
        where run_id = $run_id
        union all
        select 'b', *
        from run_title
        where run_id = $other_run_id
    ),
    held as (
        select run_id, min(basis_kind) as basis_kind, count(distinct source_id) as source_count
        from compared_source($run_id, $other_run_id, $by)
        group by run_id
    ),
    steps as materialized(from compared_step($run_id, $other_run_id, $phase, $by)),
    step_figures as (
        select
            side,
            string_agg(distinct step_kind, ', ' order by step_kind) as step_kind,
            count(distinct step_index) as step_count,
            min(step_index) as first_step_index,
            max(step_index) as last_step_index
        from steps
        group by side
    ),
    shared as (select distinct source_id, step_index from steps where is_shared),
    work as (
        select
            run_id,
            cast(sum(dur_ns) as bigint) as work_ns,
            sum_where(dur_ns, shared.step_index is null and exists (from shared)) as outside_ns
        from (from attribution where run_id in ($run_id, $other_run_id))
        left join shared using (source_id, step_index)
        group by run_id
    ),
    stable as (
        select
            run_id,
            coalesce(
                min(reason),
                case
                    when max(first_step_index) > min(last_step_index)
                    then 'its sources have no stable step in common'
                end
            ) as unstable_reason
        from
            (
                from stable_phase($run_id)
                union
                from stable_phase($other_run_id)
            )
        group by run_id
    ),
    shares as (
        select
            run_id,
            max(all_count) as all_step_count,
            ratio(sum(all_ns), sum(all_count)) as all_mean_ns,
            arg_min(warning, (ratio(stable_ns, all_ns), warning)) as stable_warning
        from
            (
                from stable_share($run_id)
                union
                from stable_share($other_run_id)
            )
        group by run_id
    ),
    devices as (
        select
            known.run_id,
            string_agg(distinct device_name, ', ' order by device_name) as device_names
        -- run by run: a view filtered by IN reads the files of all runs
        from
            (
                from device_known
                where run_id = $run_id
                union
                from device_known
                where run_id = $other_run_id
            ) as known
        left join
            (from device_listed where run_id in ($run_id, $other_run_id)) as device
            on device.run_id = known.run_id
            and device.source_id = known.source_id
            and device.device_id is not distinct from known.device_id
        left join
            (
                from idle_device
                where run_id = $run_id
                union
                from idle_device
                where run_id = $other_run_id
            ) as idle
            on idle.run_id = known.run_id
            and idle.source_id = known.source_id
            and idle.device_id = known.device_id
        where device_kind is distinct from 'cpu' and idle.device_id is null
        group by known.run_id
    )
select
    upper(sides.side) as side_kind,
    sides.title as run_name,
    devices.device_names,
    coalesce(held.source_count, 0) as source_count,
    held.basis_kind,
    step_figures.step_kind,
    coalesce(step_figures.step_count, 0) as step_count,
    step_figures.first_step_index,
    step_figures.last_step_index,
    work.work_ns,
    work.outside_ns,
    case
        when stable.run_id is null then 'no steps' else stable.unstable_reason
    end as unstable_reason,
    shares.all_step_count,
    shares.all_mean_ns,
    shares.stable_warning,
    sides.run_id
from sides
left join held on held.run_id = sides.run_id
left join step_figures on step_figures.side = sides.side
left join work on work.run_id = sides.run_id
left join stable on stable.run_id = sides.run_id
left join shares on shares.run_id = sides.run_id
left join devices on devices.run_id = sides.run_id
order by side_kind
