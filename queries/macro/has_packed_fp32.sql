-- purpose = "Whether a device packs two FP32 operations in one instruction, with separate
-- counters: capability 10.x."
-- source = "metrics of each chip as NVIDIA's CUPTI 13.5 lists them; docs/metrics.md, section Work"
-- parameters = "generation"
generation is not distinct from 10
