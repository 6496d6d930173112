"""What the categories of events mean."""

from __future__ import annotations

KERNEL_CATEGORIES = frozenset(("kernel", "Kernel"))
TRANSFER_KINDS = {
    "gpu_memcpy": "memcpy",
    "Memcpy": "memcpy",
    "gpu_memset": "memset",
    "Memset": "memset",
}
SLICE_KINDS = {
    "cpu_op": "op",
    "Operator": "op",
    "hpu_op": "op",
    "cuda_runtime": "runtime",
    "Runtime": "runtime",
    "xpu_runtime": "runtime",
    "mtia_runtime": "runtime",
    "glow_runtime": "runtime",
    "privateuse1_runtime": "runtime",
    "cuda_driver": "driver",
    "xpu_driver": "driver",
    "privateuse1_driver": "driver",
    "python_function": "python",
    "user_annotation": "annotation",
    "gpu_user_annotation": "device_annotation",
    "cuda_sync": "sync",
    "cuda_event": "sync",
    "xpu_sync": "sync",
    "overhead": "overhead",
    "Trace": "span",
    "mtia_ccp_events": "device",
    "collective_comm": "device",
    "cuda_profiler_range": "device",
}
FLOW_KINDS = {
    "ac2g": "launch",
    "async_cpu_to_gpu": "launch",
    "async_gpu": "launch",
    "async": "launch",
    "HostToDevice": "launch",
    "async_npu": "launch",
    "fwdbwd": "forward_backward",
    "forward_backward": "forward_backward",
}
