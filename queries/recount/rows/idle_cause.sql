-- purpose = "Idle time of devices by cause and by the operator of the work that ended it, of runs
-- all of whose work is in plain windows."
-- upon = "idle_piece"
select
    source_id,
    device_id,
    op_name,
    idle_kind,
    sum(piece_ns) as win_ns,
    count(distinct gap_start_ns) as gap_count,
    max(piece_ns) as longest_ns,
    if(count(distinct reason) = 1, min(reason), null) as reason,
    any_value(elapsed_ns) as elapsed_ns
from idle_piece
where
    (select count(*) from plain_window) = (select count(*) from attribution where run_id = $run_id)
group by source_id, device_id, op_name, idle_kind
