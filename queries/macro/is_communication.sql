-- purpose = "Whether a kernel communicates: its profiler names the collective, or the kernel's name is one of a communication library."
-- source = "names of NCCL, RCCL and vLLM kernels; torch.profiler's argument Collective name"
-- [parameters]
-- kernel_name = {type = "VARCHAR", doc = "name of the kernel"}
-- collective_name = {type = "VARCHAR", doc = "collective operation, where the profiler names one"}
collective_name IS NOT NULL
-- not a regular expression: this is asked of every kernel
OR coalesce(
    contains(lower(kernel_name), 'nccl')
    OR contains(lower(kernel_name), 'rccl')
    OR contains(replace(lower(kernel_name), '_', ''), 'allreduce')
    OR contains(replace(lower(kernel_name), '_', ''), 'allgather')
    OR contains(replace(lower(kernel_name), '_', ''), 'reducescatter')
    OR contains(replace(lower(kernel_name), '_', ''), 'alltoall')
    OR contains(lower(kernel_name), 'sendrecv')
    OR contains(lower(kernel_name), 'cross_device_reduce'),
    false
)
