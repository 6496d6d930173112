-- purpose = "Time of each rank of a run: compute, communication and its exposed part, copies,
-- idle, steps and clock."
-- source = "HTA's temporal breakdown and overlap of communication and computation;
-- docs/metrics.md, section Many ranks"
-- topic = "ranks"
-- needs = ["source_file"]
-- depends = ["device_time", "step_span", "step_window", "whole_window", "rank_clock",
-- "device_rank", "source_rank"]
-- doubts = ["data_ranks"]
-- parameters = "run_id phase"
-- columns = "rank_index device_id elapsed_ns compute_ns-busy exposed_communication_ns
-- exposed_copy_ns idle_ns busy_ratio communication_ns hidden_ratio kernel_count step_count
-- median_step_ns clock_offset_ns reason recorded_ns event_count source_id"
-- exposed_communication_ns = "BIGINT: time with communication only: exposed, including waits for
-- other ranks"
-- exposed_copy_ns = "BIGINT: time with copies or memsets only"
-- idle_ns = "BIGINT: time without device work; sums to elapsed_ns with the three columns before it"
-- busy_ratio = "share of elapsed_ns with device work"
-- communication_ns = "BIGINT: time with communication, hidden or not"
-- hidden_ratio = "DOUBLE: share of communication_ns hidden by compute"
-- median_step_ns = "BIGINT: median step time, as in steps: from the first work of a step to that
-- of the next"
-- event_count = "events in the file; of a merged file those of devices and labeled processes of
-- this rank"
-- recorded_ns = "BIGINT: from the first start to the last end of device work in the whole file"
with
    times as (
        select
            source_id,
            device_id,
            any_value(elapsed_ns) as elapsed_ns,
            any_value(union_ns) filter (where work_class = 'compute') as compute_ns,
            any_value(union_ns) filter (where work_class = 'communication') as communication_ns,
            any_value(exposed_ns) filter (
                where work_class = 'communication'
            ) as exposed_communication_ns,
            cast(
                sum(exposed_ns) filter (where work_class in ('memcpy', 'memset')) as bigint
            ) as exposed_copy_ns,
            cast(sum(exposed_ns) as bigint) as busy_ns,
            cast(
                sum(work_count) filter (where work_class in ('compute', 'communication')) as bigint
            ) as kernel_count
        from device_time($run_id, $phase)
        group by source_id, device_id
    ),
    windows as (from step_window($run_id, $phase)),
    recorded as (select source_id, end_ns - start_ns as recorded_ns from whole_window($run_id)),
    steps as (
        select span.source_id, span.elapsed_ns
        from step_span($run_id) as span
        left join windows using (source_id)
        where
            $phase = 'all'
            or span.step_index between windows.first_step_index and windows.last_step_index
    ),
    stepped as (
        select
            source_id,
            count(*) as step_count,
            cast(round(median(elapsed_ns)) as bigint) as median_step_ns
        from steps
        group by source_id
    ),
    clocks as (from rank_clock($run_id)),
    shared as (
        select distinct rank_index, source_count
        from source_rank
        where run_id = $run_id and source_count > 1
    ),
    -- of a file merged from several ranks: events of a device of the rank, or of a process that is
    -- labeled with it
    merged as (
        select source_id
        from source_rank
        where run_id = $run_id
        group by source_id
        having count(*) > 1
    ),
    seen as (
        select source_id, device_id, track_name, count(*) as event_count
        from
            (
                select source_id, device_id, track_name
                from kernel
                where run_id = $run_id
                union all
                select source_id, device_id, track_name
                from transfer
                where run_id = $run_id
                union all
                select source_id, device_id, track_name
                from slice
                where run_id = $run_id
            )
        semi join merged using (source_id)
        group by all
    ),
    counted as (
        select
            seen.source_id,
            coalesce(rank_of_process(track_name), device_rank.rank_index) as rank_index,
            cast(sum(event_count) as bigint) as event_count
        from seen
        left join
            device_rank
            on device_rank.run_id = $run_id
            and device_rank.source_id = seen.source_id
            and device_rank.device_id = seen.device_id
        group by all
    )
select
    device_rank.rank_index,
    times.device_id,
    times.elapsed_ns,
    times.compute_ns,
    times.exposed_communication_ns,
    times.exposed_copy_ns,
    times.elapsed_ns - times.busy_ns as idle_ns,
    ratio(times.busy_ns, times.elapsed_ns) as busy_ratio,
    times.communication_ns,
    ratio(
        times.communication_ns - times.exposed_communication_ns, times.communication_ns
    ) as hidden_ratio,
    times.kernel_count,
    coalesce(stepped.step_count, 0) as step_count,
    stepped.median_step_ns,
    clocks.clock_offset_ns,
    nullif(
        concat_ws(
            '; ',
            case
                when recorded.recorded_ns is null
                then 'no device work in the file'
                when times.elapsed_ns is null
                then 'no device work in these steps'
            end,
            case when stepped.step_count is null then 'no steps' end,
            'rank is in ' || shared.source_count || ' files',
            case when clocks.clock_offset_ns is null then 'no collective to tell its clock by' end,
            clocks.message,
            case
                when counted.source_id is not null
                then
                    counted.event_count
                    || ' of '
                    || source_file.event_count
                    || ' events of the file'
            end
        ),
        ''
    ) as reason,
    recorded.recorded_ns,
    case
        when merged.source_id is null then source_file.event_count else counted.event_count
    end as event_count,
    source_file.source_id
from source_file
left join times using (source_id)
left join recorded using (source_id)
left join stepped using (source_id)
left join
    device_rank
    on device_rank.run_id = $run_id
    and device_rank.source_id = source_file.source_id
    and device_rank.device_id is not distinct from times.device_id
left join
    clocks
    on clocks.source_id = source_file.source_id
    and clocks.rank_index is not distinct from device_rank.rank_index
left join merged using (source_id)
left join
    counted
    on counted.source_id = source_file.source_id
    and counted.rank_index = device_rank.rank_index
left join shared on shared.rank_index = device_rank.rank_index
where source_file.run_id = $run_id and source_file.recording_kind is distinct from 'join'
order by device_rank.rank_index nulls last, source_file.source_id, times.device_id nulls last
