-- purpose = "Whether a device can pack two FP32 operations in one instruction, which counters of
-- its own count: capability 10.x."
-- source = "metrics of each chip as NVIDIA's CUPTI 13.5 lists them; docs/metrics.md, section Work"
-- parameters = "generation"
generation is not distinct from 10
