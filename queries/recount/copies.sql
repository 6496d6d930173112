-- purpose = "Copies by direction are those of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "copies"
-- keys = ["direction_kind"]
-- options.by = ["size", "direction"]
-- needs = ["transfer"]
-- is_sum = true
select
    case when transfer_kind = 'memset' then 'memset' else direction_kind end as direction_kind,
    least(transfer.dur_ns, attribution.dur_ns) as total_ns,
    coalesce(transfer_count, 1) as transfer_count
from transfer
left join attribution using (run_id, source_id, event_id)
where run_id = $run_id
-- a summary beside a timeline has the same copies again
qualify transfer.transfer_count is null or bool_and(transfer.transfer_count is not null) over ()
