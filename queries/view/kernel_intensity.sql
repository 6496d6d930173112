-- purpose = "Operational intensity of each launch with counters, at each memory level."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II: arithmetic intensity by level"
-- needs = ["kernel_counter"]
-- depends = ["kernel_work"]
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
                [
                    {
                        'level_name':'dram',
                        'byte_definition':'paper',
                        'traffic_bytes':dram_bytes,
                        'why':dram_reason
                    },
                    {
                        'level_name':'dram',
                        'byte_definition':'vendor',
                        'traffic_bytes':dram_bytes,
                        'why':dram_reason
                    },
                    {
                        'level_name':'l2',
                        'byte_definition':'paper',
                        'traffic_bytes':l2_paper_bytes,
                        'why':l2_reason
                    },
                    {
                        'level_name':'l2',
                        'byte_definition':'vendor',
                        'traffic_bytes':l2_vendor_bytes,
                        'why':l2_reason
                    },
                    {
                        'level_name':'l1',
                        'byte_definition':'paper',
                        'traffic_bytes':l1_paper_bytes,
                        'why':l1_reason
                    },
                    {
                        'level_name':'l1',
                        'byte_definition':'vendor',
                        'traffic_bytes':l1_vendor_bytes,
                        'why':l1_reason
                    }
                ],
                recursive := true
            )
        from kernel_work
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
        then level_name || ': ' || coalesce(why, 'not_collected')
        when traffic_bytes = 0
        then level_name || ': no bytes'
    end as reason
from levels
