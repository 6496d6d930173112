-- purpose = "Idle time of the table of operators is that of its rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "reported_idle"
-- keys = ["source_id", "device_id"]
-- needs = ["op_stat"]
-- is_partial = true
select
    source_id,
    device_id,
    sum(self_ns) filter (where upper(name) = 'IDLE') as win_ns,
    sum(self_ns) filter (where upper(name) = 'IDLE') / sum(self_ns) as idle_ratio,
    sum(self_ns) as elapsed_ns
from
    (
        from op_stat
        where run_id = $run_id and side_kind = 'device'
        -- operators of the framework are the same time again
        qualify op_kind = 'hlo' or not bool_or(op_kind = 'hlo') over (partition by source_id)
    )
group by source_id, device_id
having win_ns > 0
