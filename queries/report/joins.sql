-- purpose = "Joins of timelines with counter runs: how much of each is matched, and by which rule."
-- source = "docs/metrics.md, section Counters joined to a timeline"
-- topic = "counters"
-- needs = ["kernel_match"]
-- depends = ["kernel_launch", "sum_where", "run_title"]
-- parameters = "run_id-timeline"
-- run_id-timeline = {type = "VARCHAR", doc = "timeline run by id; default: all", optional = true}
-- columns = "run_name counter_run_name matched_ratio matched_time_ratio ordered_time_ratio
-- launch_count sequence_count shape_count name_count counter_launch_count used_ratio reason
-- joined_at run_id counter_run_id"
-- counter_run_name = "VARCHAR: name of the counter run when it was joined"
-- matched_time_ratio = "DOUBLE: share of its kernel time"
-- ordered_time_ratio = "DOUBLE: share of its kernel time matched by sequence: each launch has its
-- own counters"
-- counter_launch_count = "BIGINT: counted launches"
-- used_ratio = "DOUBLE: share of the counted launches with a match"
-- reason = "why launches have no counters (the reason of most launches), or a warning"
-- joined_at = "TIMESTAMP: when they were joined"
-- run_id = "id of the timeline's run"
-- counter_run_id = "VARCHAR: id of the counter run"
with
    parts as (
        select
            kernel_match.run_id,
            kernel_match.source_id,
            kernel_match.match_kind,
            kernel_match.reason,
            sum(launch.launch_count) as launch_count,
            sum(launch.dur_ns) as dur_ns
        from kernel_match
        join
            kernel_launch as launch
            on launch.run_id = kernel_match.run_id
            and launch.source_id = kernel_match.launch_source_id
            and launch.event_id = kernel_match.event_id
        where $run_id is null or (kernel_match.run_id = $run_id and launch.run_id = $run_id)
        group by all
    ),
    matched as (
        select
            run_id,
            source_id,
            cast(sum(launch_count) as bigint) as launch_count,
            sum_where(launch_count, match_kind = 'sequence') as sequence_count,
            sum_where(launch_count, match_kind = 'shape') as shape_count,
            sum_where(launch_count, match_kind = 'name') as name_count,
            ratio(sum_where(dur_ns, match_kind is not null), sum(dur_ns)) as matched_time_ratio,
            ratio(sum_where(dur_ns, match_kind = 'sequence'), sum(dur_ns)) as ordered_time_ratio,
            arg_min(reason, (- launch_count, reason)) filter (where match_kind is null) as reason
        from parts
        group by run_id, source_id
    ),
    names as (from run_title where $run_id is null or run_id = $run_id),
    told as (
        from source_file where recording_kind = 'join' and ($run_id is null or run_id = $run_id)
    )
select
    ours.title as run_name,
    coalesce(metadata_json ->> '$.counter_run_name', told.file_name) as counter_run_name,
    ratio(sequence_count + shape_count + name_count, launch_count) as matched_ratio,
    matched_time_ratio,
    ordered_time_ratio,
    launch_count,
    sequence_count,
    shape_count,
    name_count,
    cast(metadata_json ->> '$.counter_launch_count' as bigint) as counter_launch_count,
    cast(metadata_json ->> '$.used_ratio' as double) as used_ratio,
    nullif(
        concat_ws(
            '; ', reason, array_to_string(cast(metadata_json -> '$.warnings' as varchar[]), '; ')
        ),
        ''
    ) as reason,
    make_timestamp(divide(ingested_at_ns, 1000)) as joined_at,
    matched.run_id,
    told.file_name as counter_run_id
from matched
join told on told.run_id = matched.run_id and told.source_id = matched.source_id
left join names as ours on ours.run_id = matched.run_id
order by run_name, counter_run_name, matched.run_id, matched.source_id
