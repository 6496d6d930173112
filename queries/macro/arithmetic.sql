-- purpose = "Operations of one precision: add + multiply + 2 FMA, from counts, else from rates
-- and cycles; NULL unless all three are known in one of these ways."
-- source = "NVIDIA Nsight Compute, section SpeedOfLight_RooflineChart; Wang Y. 2020 (Time-Based
-- Roofline), sect. III"
-- parameters = "add_inst mul_inst fma_inst add_rate mul_rate fma_rate cycles"
-- add_inst = "BIGINT: add instructions"
-- mul_inst = "BIGINT: multiply instructions"
-- fma_inst = "BIGINT: FMA instructions"
-- add_rate = "DOUBLE: add instructions per cycle"
-- mul_rate = "DOUBLE: multiply instructions per cycle"
-- fma_rate = "DOUBLE: FMA instructions per cycle"
coalesce(
    add_inst + mul_inst + 2 * fma_inst,
    try_cast(round((add_rate + mul_rate + 2 * fma_rate) * cycles) as bigint)
)
