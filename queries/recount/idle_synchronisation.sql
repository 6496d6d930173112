-- purpose = "Devices wait while the host waits for them where the rows say so."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "idle_synchronisation"
-- keys = ["source_id", "device_id", "op_name"]
-- needs = ["attribution"]
-- upon = "idle_piece"
select
    source_id,
    device_id,
    op_name,
    sum(piece_ns) as win_ns,
    count(distinct gap_start_ns) as gap_count,
    max(piece_ns) as longest_ns,
    any_value(elapsed_ns) as elapsed_ns
from idle_piece
where
    idle_kind = 'synchronisation'
    -- of all work of the run
    and (select count(*) from plain_window)
    = (select count(*) from attribution where run_id = $run_id)
group by source_id, device_id, op_name
