-- purpose = "Every launch with counters at each level of memory: operations per byte there."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II: arithmetic intensity by level"
-- needs = ["kernel_counter"]
-- depends = ["kernel_work", "level_traffic"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- event_id = {type = "BIGINT", doc = "place in the source"}
-- name = {type = "VARCHAR", doc = "kernel name, in full"}
-- level_name = {type = "VARCHAR", doc = "dram, l2 or l1"}
-- byte_definition = {type = "VARCHAR", doc = "paper or vendor; for dram both are one"}
-- total_arithmetic_flop = {type = "BIGINT", doc = "all operations, FP16 as work alone"}
-- total_packed_flop = {type = "BIGINT", doc = "all operations, FP16 packed"}
-- total_scalar_flop = {type = "BIGINT", doc = "all operations, FP16 scalar"}
-- traffic_bytes = {type = "BIGINT", doc = "bytes at that level"}
-- arithmetic_flop_per_byte = {type = "DOUBLE", doc = "intensity, FP16 as work alone"}
-- packed_flop_per_byte = {type = "DOUBLE", doc = "intensity, FP16 packed"}
-- scalar_flop_per_byte = {type = "DOUBLE", doc = "intensity, FP16 scalar"}
-- reason = {type = "VARCHAR", doc = "why it is NULL"}
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
