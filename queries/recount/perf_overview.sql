-- purpose = "Ratios of perf are quotients of its counts."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "perf_overview"
-- keys = ["file_name", "measurement_index", "part_name"]
-- needs = ["measurement", "counter"]
-- upon = "plain_event"
-- is_partial = true
-- skips_unknown = true
select
    source_file.file_name,
    measurement_index,
    null as part_name,
    measurement.dur_ns,
    $run_id as run_id,
    if(
        target_kind = 'command' and value_of['task-clock'] is not null, 'task-clock', null
    ) as active_basis,
    value_of['instructions'] / nullif(value_of['cycles'], 0) as ipc,
    if(
        value_of['branch-misses'] <= value_of['branches'],
        value_of['branch-misses'] / nullif(value_of['branches'], 0),
        null
    ) as branch_miss_ratio,
    if(
        value_of['cache-misses'] <= value_of['cache-references'],
        value_of['cache-misses'] / nullif(value_of['cache-references'], 0),
        null
    ) as cache_miss_ratio,
    if(
        value_of['l1-dcache-load-misses'] <= value_of['l1-dcache-loads'],
        value_of['l1-dcache-load-misses'] / nullif(value_of['l1-dcache-loads'], 0),
        null
    ) as l1d_miss_ratio,
    if(
        value_of['llc-load-misses'] <= value_of['llc-loads'],
        value_of['llc-load-misses'] / nullif(value_of['llc-loads'], 0),
        null
    ) as llc_miss_ratio,
    if(
        value_of['dtlb-load-misses'] <= value_of['dtlb-loads'],
        value_of['dtlb-load-misses'] / nullif(value_of['dtlb-loads'], 0),
        null
    ) as dtlb_miss_ratio,
    value_of['cycles'] / nullif(value_of['task-clock'], 0) * 1e9 as clock_hz,
    round(value_of['page-faults']) as page_fault_count,
    round(value_of['context-switches']) as context_switch_count,
    if(
        target_kind = 'command', value_of['task-clock'] / nullif(measurement.dur_ns, 0), null
    ) as used_cpu_count,
    if(
        ipc is null, null, least(running_of['instructions'], running_of['cycles'])
    ) as ipc_running_ratio,
    if(
        branch_miss_ratio is null, null, least(running_of['branch-misses'], running_of['branches'])
    ) as branch_miss_running_ratio,
    if(
        clock_hz is null, null, least(running_of['cycles'], running_of['task-clock'])
    ) as clock_running_ratio,
    if(
        cache_miss_ratio is null,
        null,
        least(running_of['cache-misses'], running_of['cache-references'])
    ) as cache_miss_running_ratio,
    if(
        l1d_miss_ratio is null,
        null,
        least(running_of['l1-dcache-load-misses'], running_of['l1-dcache-loads'])
    ) as l1d_miss_running_ratio,
    if(
        llc_miss_ratio is null, null, least(running_of['llc-load-misses'], running_of['llc-loads'])
    ) as llc_miss_running_ratio,
    if(
        dtlb_miss_ratio is null,
        null,
        least(running_of['dtlb-load-misses'], running_of['dtlb-loads'])
    ) as dtlb_miss_running_ratio,
    if(used_cpu_count is null, null, running_of['task-clock']) as used_cpu_running_ratio,
    -- those of slots of the pipeline are not counted here
    if(
        contains(array_to_string(map_keys(value_of), ' '), 'topdown'),
        null,
        least(
            ipc_running_ratio,
            branch_miss_running_ratio,
            clock_running_ratio,
            cache_miss_running_ratio,
            l1d_miss_running_ratio,
            llc_miss_running_ratio,
            dtlb_miss_running_ratio,
            used_cpu_running_ratio
        )
    ) as running_ratio
from plain_event
join (from measurement where run_id = $run_id) as measurement using (source_id, measurement_index)
join (from source_file where run_id = $run_id) as source_file using (source_id)
-- events by the user's word are counted first
where source_id not in (select source_id from event_rule where run_id = $run_id)
