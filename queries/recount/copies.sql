-- purpose = "Copies by direction are those of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "copies"
-- keys = ["direction_kind"]
-- needs = ["transfer"]
-- is_sum = true
select
    case when transfer_kind = 'memset' then 'memset' else direction_kind end as direction_kind,
    dur_ns as total_ns,
    coalesce(transfer_count, 1) as transfer_count
from transfer
where run_id = $run_id
