-- purpose = "Kernels of a timeline that one counter run is joined to, with the mean of the
-- launches that match each."
with
    counted as (
        select
            match_index,
            count(*) as fit_count,
            round(
                sum(coalesce(dram_bytes, dram_read_bytes + dram_write_bytes)) / sum(launch_count)
            ) as mean_bytes,
            count(coalesce(dram_bytes, dram_read_bytes + dram_write_bytes))
            = count(*) as is_counted,
            round(
                sum(coalesce(dur_ns, round(elapsed_cycles / sm_clock_hz * 1e9))) / sum(launch_count)
            ) as counted_ns,
            count(coalesce(dur_ns, elapsed_cycles / sm_clock_hz)) = count(*) as is_timed
        from match_counter
        where run_id = $run_id
        group by match_index
    ),
    matched as (
        select
            launch_source_id as source_id,
            event_id,
            match_kind,
            match_index,
            'no counters: ' || reason as reason,
            fit_count,
            if(is_timed, counted_ns, null) as counted_ns,
            if(is_counted, mean_bytes, null) as mean_bytes
        from kernel_match
        left join counted using (match_index)
        where run_id = $run_id
    )
select
    source_id,
    event_id,
    name,
    coalesce(launch_count, 1) as launches,
    dur_ns,
    match_kind,
    match_index,
    if(match_kind is null, coalesce(reason, 'no counters: it came after the join'), null) as reason,
    fit_count,
    launches * counted_ns as counted_ns,
    launches * mean_bytes as bytes
from kernel
left join matched using (source_id, event_id)
where
    run_id = $run_id
    and (select count(*) from source_file where run_id = $run_id and recording_kind = 'join') = 1
    and (select count(distinct source_id) from kernel where run_id = $run_id) = 1
    -- times that cannot be as written are cut
    and not exists (
        from ingest_issue where run_id = $run_id and code in ('impossible_duration', 'time_zero')
    )
