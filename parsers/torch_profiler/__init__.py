"""torch.profiler (kineto) Chrome traces, torch 1.8 and later, on any backend.

Layouts: kineto's `output_json.cpp` and `ActivityType.h`; docs/formats.md lists the differences by
version and backend. Every event gives a row or is counted in an issue. The reader, `rows`, is
loaded when a trace is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tracekit.parser import Batch, Match, Recipe, Report
from tracekit.parsers.torch_profiler.categories import (
    FLOW_KINDS,
    KERNEL_CATEGORIES,
    SLICE_KINDS,
    TRANSFER_KINDS,
)
from tracekit.reading.chrome.sniffing import Survey
from tracekit.reading.words import words
from tracekit.source import Source

_BIG_ENOUGH_TO_SPLIT = 16 << 20
#: Other tools also have `async`; the rest never appear without one of these.
_CATEGORIES = {
    *KERNEL_CATEGORIES,
    *TRANSFER_KINDS,
    *SLICE_KINDS,
    *FLOW_KINDS,
    *words("cpu_instant_event enqueue dequeue async_task_queue"),
} - {*words("async cuda_event privateuse1_driver xpu_driver xpu_sync")}
_STRONG_KEYS = frozenset(
    words(
        """
        deviceProperties distributedInfo baseTimeNanoseconds computeProperties cupti_version
        roctracer_version
        """
    )
)
_KEYS = _STRONG_KEYS | {*words("schemaVersion traceName record_shapes with_stack profile_memory")}


_RECORD = (
    Recipe(
        "PyTorch: a trace of four steps after warm-up; with several ranks, put the rank in each "
        "file name",
        "python",
        """\
import torch
from torch.profiler import profile, schedule

model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
batch = torch.ones(32, 64)


def step() -> None:  # replace with your own step
    model.zero_grad()
    model(batch).sum().backward()


with profile(  # of CPU and accelerator
    schedule=schedule(wait=1, warmup=3, active=4, repeat=1),
    on_trace_ready=lambda done: done.export_chrome_trace("trace.json.gz"),
    record_shapes=True,  # operations and bytes of operators
    profile_memory=True,  # allocations
    with_flops=True,  # torch's own estimate, for comparison
    with_modules=True,  # layers of TorchScript
    with_stack=False,  # True: layers of other models, which slows the host down
) as profiler:
    for _ in range(8):
        step()
        profiler.step()
""",
    ),
)


class TorchProfilerParser:
    """Chrome traces written by torch.profiler."""

    name = "torch-profiler"
    title = "torch.profiler Chrome trace (.json, .json.gz, .json.zst), torch 1.8 and later"
    record = _RECORD

    @property
    def runs_in_threads(self) -> bool:
        """Whether the C library reads: then other threads run."""
        from tracekit.compiled import library

        return library() is not None

    def sniff(self, head: bytes) -> Match | None:
        """Claim by categories that only torch.profiler writes; with less certainty by its keys."""
        survey = Survey.of(head)
        if not survey.root or survey.is_onnx_runtime:
            return None
        categories = sorted(survey.categories & _CATEGORIES)
        keys = sorted(survey.keys & _KEYS)
        if categories and (survey.phases or keys):
            return Match(0.9, f"trace events in torch's categories ({', '.join(categories[:4])})")
        if survey.keys & _STRONG_KEYS or (keys and "traceEvents" in survey.keys):
            return Match(0.65, f"top-level keys of torch's profiler ({', '.join(keys[:4])})")
        if survey.root == "[" and "attr" in survey.keys and {"B"} <= survey.phases:
            return Match(0.5, "a list of begin and end events with attributes (AIU)")
        return None

    def describe(self, head: bytes) -> str | None:
        """Describe traces of other tools and other JSON; see `tracekit.parser.DescribingParser`."""
        return Survey.of(head).description()

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        """Yield the rows of a trace; see the module."""
        whole = Report(on_read=lambda read: report.read(read - report.read_bytes))
        yield from self.parse_part(source, None, whole)
        yield from self.finish(source, [whole], report)

    def split(self, source: Source, count: int) -> Sequence[Any]:
        """Return ranges of blocks of a plain file, or shares of the blocks of a compressed one."""
        if source.size_bytes < _BIG_ENOUGH_TO_SPLIT // (1 if source.is_seekable else 16):
            return ()
        if source.is_seekable:
            from tracekit.reading.chrome.reader import plan_blocks

            return [("range", *edges) for edges in plan_blocks(source.size_bytes, count)]
        return [("share", index, count) for index in range(count)]

    def parse_part(self, source: Source, part: Any, report: Report) -> Iterator[Batch]:
        """Yield the rows of one part (None: of the whole trace)."""
        from tracekit.parsers.torch_profiler.rows import rows_of_part

        yield from rows_of_part(source, part, report)

    def finish(self, source: Source, parts: Sequence[Report], report: Report) -> Iterator[Batch]:
        """Yield the devices, and set the facts about the trace."""
        from tracekit.parsers.torch_profiler.rows import rows_of_whole

        yield from rows_of_whole(source, parts, report)
