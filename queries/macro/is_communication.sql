-- purpose = "Whether a kernel communicates: its profiler names the collective, or the kernel's name is one of a communication library."
-- source = "names of NCCL, RCCL and vLLM kernels; torch.profiler's argument Collective name"
-- [parameters]
-- kernel_name = {type = "VARCHAR", doc = "name of the kernel"}
-- collective_name = {type = "VARCHAR", doc = "collective operation, where the profiler names one"}
collective_name IS NOT NULL
OR coalesce(
    regexp_matches(kernel_name, '(?i)nccl|rccl|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|sendrecv|cross_device_reduce'),
    false
)
