-- purpose = "Operations of one precision: add + multiply + 2 FMA, from counts, else from rates
-- and cycles; NULL unless all three are known one way."
-- source = "NVIDIA Nsight Compute, section SpeedOfLight_RooflineChart; Wang Y. 2020 (Time-Based
-- Roofline), sect. III"
-- [parameters]
-- add_inst = {type = "BIGINT", doc = "add instructions"}
-- mul_inst = {type = "BIGINT", doc = "multiply instructions"}
-- fma_inst = {type = "BIGINT", doc = "FMA instructions"}
-- add_rate = {type = "DOUBLE", doc = "add instructions per cycle"}
-- mul_rate = {type = "DOUBLE", doc = "multiply instructions per cycle"}
-- fma_rate = {type = "DOUBLE", doc = "FMA instructions per cycle"}
-- cycles = {type = "DOUBLE", doc = "cycles that passed"}
coalesce(
    add_inst + mul_inst + 2 * fma_inst,
    try_cast(round((add_rate + mul_rate + 2 * fma_rate) * cycles) as bigint)
)
