-- purpose = "Operators of a profiler's table with their operations and bytes, counted or by rate."
-- upon = "listed_op"
select
    *,
    coalesce(flop_count, reported_flop_per_s * dur_ns * 1e-9) as flop,
    coalesce(dram_bytes, accessed_bytes, reported_bytes_per_s * dur_ns * 1e-9) as bytes,
    case
        when dram_bytes is not null
        then 'dram'
        when accessed_bytes is not null
        then 'accessed'
        when bytes is not null
        then 'rate'
    end as basis,
    -- counted with what is inside or at the end of it
    self_ns = dur_ns and not contains(name, '-start') as is_plain
from listed_op
