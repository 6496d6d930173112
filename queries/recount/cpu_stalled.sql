-- purpose = "Processors lose the slots that are counted, if a fifth or more of a kind."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "cpu_stalled"
-- keys = ["source_id", "loss_kind"]
-- needs = ["measurement"]
-- upon = "plain_event"
-- is_partial = true
with
    slots as (
        select
            plain_event.source_id,
            dur_ns,
            value_of['topdown-retiring'] as retiring,
            value_of['topdown-bad-spec'] as bad_speculation,
            value_of['topdown-fe-bound'] as frontend,
            value_of['topdown-be-bound'] as backend
        from plain_event
        join measurement using (source_id, measurement_index)
        where measurement.run_id = $run_id
    ),
    shares as (
        select
            source_id,
            dur_ns,
            unnest(['bad_speculation', 'frontend', 'backend']) as loss_kind,
            unnest([bad_speculation, frontend, backend])
            / (retiring + bad_speculation + frontend + backend) as share
        from slots
    )
select
    source_id,
    loss_kind,
    floor(round(sum(share * dur_ns), 3)) as win_ns,
    coalesce(sum(share * dur_ns) / sum(dur_ns), avg(share)) as lost_ratio
from shares
where share >= 0.2
group by source_id, loss_kind
