-- purpose = "Whether a kernel is communication between devices, by its collective, category or
-- function."
-- source = "functions of NCCL, RCCL, MSCCL, oneCCL, HCCL, NVSHMEM, DeepEP, MORI and Transformer
-- Engine, of the all-reduces of PyTorch, vLLM, TensorRT-LLM, FlashInfer and SGLang, and
-- categories of HLO instructions; torch.profiler's argument Collective name; docs/metrics.md,
-- section Names of kernels"
-- parameters = "kernel_name collective_name category_name"
-- kernel_name = "name of the kernel or HLO instruction"
-- collective_name = "VARCHAR: kernel.collective_name; NULL if the profiler gives none"
-- category_name = "VARCHAR: kernel.category_name or op_stat.category_name, which is checked
-- before the name; NULL if unknown"
case
    when collective_name is not null
    then true
    when category_name is not null
    then
        regexp_matches(
            category_name,
            '(?i)^((ragged-)?all-(reduce|gather|to-all)|reduce-scatter|collective-(permute'
            || '|broadcast)|cross-replica-sum|async_collective)|^(send|recv)(-done)?$'
        )
    -- plain searches first: they take a tenth of the time of a pattern, and leave few names to it
    when
        not (
            contains(kernel_name, 'ccl')
            or contains(kernel_name, 'CCL')
            or contains(kernel_name, 'educe')
            or contains(kernel_name, 'EDUCE')
            or contains(kernel_name, 'ather')
            or contains(kernel_name, 'oall')
            or contains(kernel_name, 'oAll')
            or contains(kernel_name, 'o_all')
            or contains(kernel_name, 'o-all')
            or contains(kernel_name, 'ollective')
            or contains(kernel_name, 'hcom')
            or contains(kernel_name, 'shmem')
            or contains(kernel_name, 'node')
            or contains(kernel_name, 'cross_device')
            or contains(kernel_name, 'notify_')
            or contains(kernel_name, 'userbuffers')
            or contains(kernel_name, 'A2A')
            or contains(kernel_name, 'a2a')
            or contains(kernel_name, 'EpDispatch')
            or contains(kernel_name, 'EpCombine')
            or contains(kernel_name, 'psum')
            or contains(kernel_name, 'ppermute')
            or contains(kernel_name, 'send')
            or contains(kernel_name, 'recv')
        )
    then false
    else
        coalesce(
            regexp_matches(
                kernel_function(kernel_name),
                '(?i)(^|[^a-z])(nccl|rccl|msccl|hccl|oneccl|nvshmem|roc_?shmem|hcom_)'
                || '|all[-_]?reduce|all[-_]?gather|reduce[-_]?scatter|all[-_]?to[-_]?all'
                || '|moe_?a2a|cross_device_|collective[-_]?(permute|broadcast)'
                -- DeepEP and those made of it; its layout:: works on one device
                || '|(^|::)(intranode|internode|internode_ll)::|(^'
                || '|::)(cached_)?notify_(dispatch|combine)|ep(dispatch|combine)(intra'
                || '|inter)node|userbuffers'
                -- HLO instructions, some of which are called after the operator of JAX
                || '|^%?((psum|ppermute)(_scatter|_invariant)?|(send|recv)(-done)?)(\.\d+)?$'
            )
            -- a reduction that every thread of a warp or block gets stays on its device; so do
            -- kernels that are generated for what is around a collective
            and not regexp_matches(
                kernel_function(kernel_name),
                '(?i)(warp|block|group)_?all_?reduce|^triton_(poi|red|per|tem)_'
            ),
            false
        )
end
