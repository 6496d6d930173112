-- purpose = "Operations and bytes of a processor are unknown without events that count them."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "cpu_work"
-- keys = ["run_id"]
-- needs = ["measurement", "counter"]
select
    $run_id as run_id,
    (select any_value(run_name) from run where run_id = $run_id) as name,
    'no event that counts them was collected' as flop_reason,
    'no event that counts them was collected' as bytes_reason
from counter
where run_id = $run_id and record_kind = 'event'
having
    -- events of clocks, jumps and misses only
    bool_and(
        regexp_matches(
            coalesce(event_key, ''),
            '^(cycles|(duration|user|system)_time|instructions|(task|cpu)-clock|context-sw|cpu-mig'
            || '|(page-|minor-|major-)?fault'
            || '|branch|cache-|l1-|llc-|[di]tlb-|stalled-cycles|msr/)'
        )
    )
    and count(distinct(source_id, measurement_index)) = 1
