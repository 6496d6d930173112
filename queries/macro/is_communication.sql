-- purpose = "Whether a kernel is communication between devices: a collective, or a send or receive."
-- source = "names of NCCL, RCCL, MSCCL, oneCCL, HCCL and NVSHMEM kernels, of the custom all-reduce kernels of PyTorch, vLLM and TensorRT-LLM, and of HLO instructions"
-- [parameters]
-- kernel_name = {type = "VARCHAR", doc = "name of the kernel"}
-- collective_name = {type = "VARCHAR", doc = "`kernel.collective_name`: what the profiler says; NULL where it says nothing"}
CASE
    WHEN collective_name IS NOT NULL THEN true
    -- a reduction of a warp or a block that every thread gets is no communication
    WHEN regexp_matches(kernel_name, '(?i)(warp|block|group)_?all_?reduce') THEN false
    ELSE coalesce(regexp_matches(
        kernel_name,
        '(?i)(^|[^a-z])(nccl|rccl|msccl|hccl|hcom_|oneccl|nvshmem|deep_ep::)|all[-_]?reduce|all[-_]?gather|reduce[-_]?scatter|all[-_]?to[-_]?all|cross_device_reduce|collective[-_]?(permute|broadcast)'
    ), false)
END
