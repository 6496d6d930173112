-- purpose = "Counters that match a kernel spread as far as the launches that were counted."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "kernel_matches"
-- keys = ["name"]
-- needs = ["kernel_match", "kernel"]
-- upon = "joined_launch"
-- is_partial = true
-- skips_unknown = true
with
    counted as (
        select
            match_index,
            launch_count,
            coalesce(fp64_flop, dadd_inst + dmul_inst + 2 * dfma_inst) as fp64,
            coalesce(fp32_flop, fadd_inst + fmul_inst + 2 * ffma_inst) as fp32,
            coalesce(fp16_flop, 2 * (hadd_inst + hmul_inst + 2 * hfma_inst)) as fp16,
            fp64 + fp32 + fp16 + if(tensor_inst = 0, 0, null) as flop,
            coalesce(dram_bytes, dram_read_bytes + dram_write_bytes) as bytes
        from match_counter
        where run_id = $run_id
    ),
    spread as (
        select
            match_index,
            if(
                count(flop) = count(*),
                (max(flop / launch_count) - min(flop / launch_count))
                / nullif(sum(flop) / sum(launch_count), 0),
                null
            ) as flop_spread_ratio,
            if(
                count(bytes) = count(*),
                (max(bytes / launch_count) - min(bytes / launch_count))
                / nullif(sum(bytes) / sum(launch_count), 0),
                null
            ) as dram_spread_ratio
        from counted
        group by match_index
    )
select
    name,
    if(
        count(flop_spread_ratio) = count(match_index), max(flop_spread_ratio), null
    ) as flop_spread_ratio,
    if(
        count(dram_spread_ratio) = count(match_index), max(dram_spread_ratio), null
    ) as dram_spread_ratio
from joined_launch
join spread using (match_index)
group by name
