-- purpose = "What the FP16 instructions of a launch are: work, moves (constants loaded with FMA)
-- or conversions (to FP32 with add); NULL if none ran or if unknown."
-- source = "docs/metrics.md, section FP16 operations on the ordinary pipes"
-- parameters = "add_inst mul_inst fma_inst fp32_inst thread_count generation"
-- add_inst = "DOUBLE: FP16 add instructions, by thread"
-- mul_inst = "DOUBLE: FP16 multiply instructions"
-- fma_inst = "DOUBLE: FP16 FMA instructions"
-- fp32_inst = "DOUBLE: FP32 add, multiply and FMA instructions"
-- thread_count = "DOUBLE: threads of the launch; NULL if unknown"
case
    -- neither moves nor conversions multiply
    when mul_inst > 0
    then 'work'
    -- constants are moved by FMA from capability 8.0 on
    when fma_inst > 0 and generation < 8
    then 'work'
    -- so many constants a thread has no use for, unless a loop does FP32 work with them
    when fma_inst > 64 * thread_count and fma_inst > coalesce(fp32_inst, 0)
    then 'work'
    when fma_inst > 0 and fma_inst >= add_inst
    then 'moves'
    when add_inst > 0
    then 'conversions'
end
