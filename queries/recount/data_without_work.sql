-- purpose = "Operators without operations or bytes take their share of the table."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "data_without_work"
-- keys = ["source_id", "device_id"]
-- needs = ["op_stat"]
-- is_partial = true
select
    source_id,
    device_id,
    sum(if(flop_count is null or dram_bytes is null, self_ns, 0)) / sum(self_ns) as unknown_ratio,
    sum(self_ns) as total_ns
from op_stat
where run_id = $run_id and side_kind = 'device' and upper(name) <> 'IDLE'
group by source_id, device_id
-- one kind of table, in part known, of a device that the file names
having
    unknown_ratio between 0.1 and 0.999
    and bool_and(op_kind = 'hlo')
    and source_id in (select source_id from device where run_id = $run_id and name is not null)
