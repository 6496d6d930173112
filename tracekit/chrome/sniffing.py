"""What the first 64 KiB of a JSON file say about who wrote it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tracekit.parser import Match

_CATEGORY = re.compile(rb'"cat"\s*:\s*"([^"]{1,80})"')
_PHASE = re.compile(rb'"ph"\s*:\s*"([A-Za-z])"')
_KEY = re.compile(rb'"([A-Za-z_]{3,40})"\s*:')
_ROOT = re.compile(rb"[\[{]\s*(?:[\[{\"\]}]|$|(?:-?\d[\d.eE+-]*|true|false|null)\s*[,\]])")

_TORCH_CATEGORIES = frozenset((
    "cpu_op", "user_annotation", "gpu_user_annotation", "gpu_memcpy", "gpu_memset", "kernel",
    "cuda_runtime", "cuda_driver", "python_function", "cpu_instant_event", "ac2g", "fwdbwd",
    "async_cpu_to_gpu", "forward_backward", "async_gpu", "Operator", "Kernel", "Runtime", "Memcpy",
    "Memset", "xpu_runtime", "mtia_runtime", "mtia_ccp_events", "cuda_sync", "overhead", "hpu_op",
    "async_npu", "HostToDevice", "enqueue", "dequeue", "async_task_queue", "privateuse1_runtime",
    "cuda_profiler_range", "collective_comm", "glow_runtime", "Trace",
))  # fmt: skip
_TORCH_KEYS = frozenset((
    "schemaVersion", "deviceProperties", "computeProperties", "distributedInfo",
    "baseTimeNanoseconds", "traceName", "cupti_version", "roctracer_version", "record_shapes",
    "with_stack", "profile_memory",
))  # fmt: skip
_STRONG_KEYS = frozenset(("deviceProperties", "distributedInfo", "baseTimeNanoseconds",
                          "computeProperties", "cupti_version", "roctracer_version"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Survey:
    """Root, keys, categories and phases seen in the head of a JSON file."""

    root: str
    keys: frozenset[str]
    categories: frozenset[str]
    phases: frozenset[str]
    head: bytes

    @classmethod
    def of(cls, head: bytes) -> Survey:
        """Look at `head`; never raises."""
        body = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        return cls(
            root=body[:1].decode("latin-1") if _ROOT.match(body) else "",
            keys=_names(_KEY, body),
            categories=_names(_CATEGORY, body),
            phases=_names(_PHASE, body),
            head=body,
        )

    def torch_match(self) -> Match | None:
        """Whether torch's profiler wrote it."""
        if not self.root or self.other_tool():
            return None
        categories = sorted(self.categories & _TORCH_CATEGORIES)
        keys = sorted(self.keys & _TORCH_KEYS)
        if categories and (self.phases or keys):
            return Match(0.9, f"trace events of torch's categories ({', '.join(categories[:4])})")
        if self.keys & _STRONG_KEYS or (keys and "traceEvents" in self.keys):
            return Match(0.8, f"top-level keys of torch's profiler ({', '.join(keys[:4])})")
        if self.root == "[" and "attr" in self.keys and {"B"} <= self.phases:
            return Match(0.5, "a list of begin and end events with attributes (AIU)")
        return None

    def other_tool(self) -> str | None:
        """The name of a tool whose Chrome trace this is, where it is not torch's."""
        if b'"highres-ticks"' in self.head[:4096]:
            return "a trace viewer export of the TensorFlow or JAX profiler (trace.json)"
        if {"Op", "DataFlow"} & self.categories and not self.categories & _TORCH_CATEGORIES:
            return "a TensorFlow 1 timeline"
        return None

    def description(self) -> str | None:
        """What a JSON file is that no parser claims; None if it is no JSON."""
        if not self.root:
            return None
        if tool := self.other_tool():
            return f"it is {tool}, which no parser here reads"
        if self.phases or "traceEvents" in self.keys:
            seen = ", ".join(sorted(self.categories)[:4]) or "none"
            return f"it is a Chrome trace, but not torch.profiler's (categories seen: {seen})"
        return "it is JSON, but holds no trace events"


def _names(pattern: re.Pattern[bytes], body: bytes) -> frozenset[str]:
    return frozenset(match.decode("utf-8", "replace") for match in pattern.findall(body))
