-- purpose = "Operational intensity of each launch with counters, at each memory level."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II: arithmetic intensity by level"
-- needs = ["kernel_counter"]
-- depends = ["kernel_work", "level_traffic"]
-- empty_without = ["kernel_counter", "match_counter", "kernel_match"]
-- columns = "run_id source_id event_id name level_name byte_definition total_arithmetic_flop
-- total_packed_flop total_scalar_flop traffic_bytes arithmetic_flop_per_byte packed_flop_per_byte
-- scalar_flop_per_byte reason"
-- byte_definition = "VARCHAR: paper or vendor; the same for dram"
-- traffic_bytes = "BIGINT: bytes at that level"
-- arithmetic_flop_per_byte = "DOUBLE: intensity, FP16 as work alone"
-- packed_flop_per_byte = "DOUBLE: intensity, FP16 packed"
-- scalar_flop_per_byte = "DOUBLE: intensity, FP16 scalar"
with
    levels as (
        select
            *,
            unnest(
                level_traffic(
                    'all',
                    byte_definition,
                    dram_bytes,
                    null,
                    dram_reason,
                    l2_paper_bytes,
                    l2_vendor_bytes,
                    null,
                    l2_reason,
                    l1_paper_bytes,
                    l1_vendor_bytes,
                    null,
                    l1_reason
                ),
                recursive := true
            )
        from kernel_work
        cross join (values ('paper'), ('vendor')) as definitions(byte_definition)
    )
select
    run_id,
    source_id,
    event_id,
    name,
    level_name,
    byte_definition,
    total_arithmetic_flop,
    total_packed_flop,
    total_scalar_flop,
    traffic_bytes,
    ratio(total_arithmetic_flop, traffic_bytes) as arithmetic_flop_per_byte,
    ratio(total_packed_flop, traffic_bytes) as packed_flop_per_byte,
    ratio(total_scalar_flop, traffic_bytes) as scalar_flop_per_byte,
    case
        when total_packed_flop is null
        then total_reason
        when traffic_bytes is null
        then level_name || ': ' || coalesce(traffic_reason, 'not_collected')
        when traffic_bytes = 0
        then level_name || ': no bytes'
    end as reason
from levels
