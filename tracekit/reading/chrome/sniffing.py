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
# What TensorFlow and JAX call the planes of a profile, and TensorFlow 1 the devices of a timeline.
_PLANE = re.compile(rb'"name"\s*:\s*"(/(?:host:CPU|device:(?:TPU|GPU):\d+))"')
_TIMELINE_PROCESS = re.compile(
    rb'"name"\s*:\s*"(/[^"\s]{0,200}(?:[cg]pu|CPU|GPU):\d+[^"\s]{0,80} (?:Compute|Tensors))"'
)
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

    def tensorflow_trace_match(self) -> Match | None:
        """Whether the trace viewer of TensorFlow's and JAX's profiler wrote it.

        JAX's perfetto_trace.json.gz is the same without the head that tells it.
        """
        if not self.root:
            return None
        if b'"highres-ticks"' in self.head[:4096]:
            return Match(0.9, "the head of a trace viewer's file (highres-ticks)")
        planes = sorted(set(_PLANE.findall(self.head)))
        if planes and "M" in self.phases and not self.categories:
            names = ", ".join(plane.decode("utf-8", "replace") for plane in planes[:3])
            return Match(0.7, f"processes named as the planes of a profile ({names})")
        return None

    def tensorflow_timeline_match(self) -> Match | None:
        """Whether TensorFlow 1 wrote it, as a timeline."""
        if not self.root or self.categories & _TORCH_CATEGORIES:
            return None
        processes = sorted(set(_TIMELINE_PROCESS.findall(self.head)))
        if processes and (self.phases or "traceEvents" in self.keys):
            names = ", ".join(process.decode("utf-8", "replace") for process in processes[:2])
            return Match(0.9, f"processes named as a timeline of TensorFlow 1 names them ({names})")
        if {"Op", "DataFlow"} & self.categories:
            return Match(0.7, "events of a timeline's categories (Op, DataFlow)")
        return None

    def torch_match(self) -> Match | None:
        """Whether torch's profiler wrote it."""
        if not self.root or self._is_tensorflow():
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

    def _is_tensorflow(self) -> bool:
        return bool(self.tensorflow_trace_match() or self.tensorflow_timeline_match())

    def description(self) -> str | None:
        """What a JSON file is that no parser claims; None if it is no JSON."""
        if not self.root:
            return None
        if self.phases or "traceEvents" in self.keys:
            seen = ", ".join(sorted(self.categories)[:4]) or "none"
            return f"it is a Chrome trace of a tool not read here (categories seen: {seen})"
        return "it is JSON, but holds no trace events"


def _names(pattern: re.Pattern[bytes], body: bytes) -> frozenset[str]:
    return frozenset(match.decode("utf-8", "replace") for match in pattern.findall(body))
