-- purpose = "Steps wait for input as long as their parts say, at most their time."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "input_wait"
-- keys = ["source_id", "device_id"]
-- needs = ["step_part", "step"]
with
    waited as (
        select
            source_id,
            device_id,
            step_index,
            sum(dur_ns) as wait_ns,
            max_by(part_name, dur_ns) as part_name
        from step_part
        where run_id = $run_id and part_kind in ('infeed', 'host_to_device') and dur_ns > 0
        group by all
    )
select
    step.source_id,
    step.device_id,
    sum(least(wait_ns, dur_ns)) filter (where wait_ns > 0) as win_ns,
    count(wait_ns) as step_count,
    max_by(part_name, least(wait_ns, dur_ns)) as part_name,
    sum(dur_ns) as elapsed_ns
from step
left join
    waited
    on waited.source_id = step.source_id
    and waited.device_id is not distinct from step.device_id
    and waited.step_index = step.step_index
where run_id = $run_id and step_kind = 'reported' and dur_ns is not null
group by step.source_id, step.device_id
having sum(wait_ns) > 0
