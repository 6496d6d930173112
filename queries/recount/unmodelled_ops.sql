-- purpose = "Operators without modeled operations or bytes have the time and calls of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "unmodelled_ops"
-- keys = ["name", "missing"]
-- upon = "op_time"
-- is_sum = true
with told as (select *, sum(total_ns) over () as all_ns from op_time)
select
    name,
    case
        when flop is not null then 'bytes' when bytes is not null then 'operations' else 'both'
    end as missing,
    total_ns,
    call_count,
    total_ns / nullif(all_ns, 0) as share_ratio
from told
where (flop is null or bytes is null) and name is not null
