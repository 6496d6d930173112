-- purpose = "Whether a kernel is communication between devices: its profiler names the collective, or its name is one of a communication library."
-- source = "names of NCCL, RCCL, MSCCL, oneCCL, HCCL, NVSHMEM and DeepEP kernels, of the all-reduce kernels of PyTorch, vLLM and TensorRT-LLM, and of HLO instructions; torch.profiler's argument Collective name"
-- [parameters]
-- kernel_name = {type = "VARCHAR", doc = "name of the kernel"}
-- collective_name = {type = "VARCHAR", doc = "`kernel.collective_name`: what the profiler says; NULL where it says nothing"}
CASE
    WHEN collective_name IS NOT NULL THEN true
    -- plain searches first: they take a tenth of the time of a pattern, and leave few names to it
    WHEN NOT (
        contains(kernel_name, 'ccl') OR contains(kernel_name, 'CCL') OR contains(kernel_name, 'educe') OR contains(kernel_name, 'EDUCE')
        OR contains(kernel_name, 'ather') OR contains(kernel_name, 'oall') OR contains(kernel_name, 'oAll') OR contains(kernel_name, 'o_all')
        OR contains(kernel_name, 'o-all') OR contains(kernel_name, 'ollective') OR contains(kernel_name, 'hcom') OR contains(kernel_name, 'vshmem')
        OR contains(kernel_name, 'deep_ep')
    ) THEN false
    ELSE coalesce(
        regexp_matches(
            kernel_name,
            '(?i)(^|[^a-z])(nccl|rccl|msccl|hccl|oneccl|nvshmem|hcom_|deep_ep::)|all[-_]?reduce|all[-_]?gather|reduce[-_]?scatter|all[-_]?to[-_]?all|cross_device_reduce|collective[-_]?(permute|broadcast)'
        )
        -- a reduction that every thread of a warp or block gets stays on its device
        AND NOT regexp_matches(kernel_name, '(?i)(warp|block|group)_?all_?reduce'),
        false
    )
END
