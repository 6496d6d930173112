-- purpose = "Joins have the matches of the launches in the timeline."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "joins"
-- needs = ["kernel_match", "kernel"]
-- upon = "joined_launch"
with
    -- launches that came after the join are no part of it
    launch as (from joined_launch where match_kind is not null or reason not like '%after the join')
select
    sum(if(match_kind is null, 0, launches)) / sum(launches) as matched_ratio,
    if(count(match_kind) > 0, sum(dur_ns) filter (where match_kind is not null), 0)
    / nullif(sum(dur_ns), 0) as matched_time_ratio,
    if(count_if(match_kind = 'sequence') > 0, sum(dur_ns) filter (where match_kind = 'sequence'), 0)
    / nullif(sum(dur_ns), 0) as ordered_time_ratio,
    sum(launches) as launch_count,
    sum(if(match_kind = 'sequence', launches, 0)) as sequence_count,
    sum(if(match_kind = 'shape', launches, 0)) as shape_count,
    sum(if(match_kind = 'name', launches, 0)) as name_count,
    (any_value(metadata_json) ->> '$.counter_launch_count')::bigint as counter_launch_count,
    (any_value(metadata_json) ->> '$.used_ratio')::double as used_ratio,
    file_name as counter_run_id
from launch, (from source_file where run_id = $run_id and recording_kind = 'join') as joined
group by file_name
