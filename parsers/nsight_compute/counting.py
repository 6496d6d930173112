"""The ncu command that collects all counters that the views need."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tracekit.errors import UsageError
from tracekit.parser import Counting
from tracekit.parsers.nsight_compute.metrics import counter_of, target_of
from tracekit.reading.words import words

_WIDTH = 78
_FIRST = (7, 0)  # older devices need nvprof
_CAPABILITY = re.compile(r"(\d{1,2})\.(\d)")

#: Columns of `kernel` and `kernel_counter`, other than operations, in the order of the command.
_TIME = ("dur_ns", "elapsed_cycles", "sm_clock_hz")
_DRAM = ("dram_bytes", "dram_peak_bytes_per_cycle", "dram_clock_hz")
_CACHES = words(
    """
    l2_t_bytes l2_t_peak_bytes_per_cycle l2_xbar_cycle_count l2_xbar_peak_per_cycle l2_clock_hz
    l1_t_bytes l1_t_peak_bytes_per_cycle l1_writeback_cycle_count l1_writeback_peak_per_cycle
    l1_clock_hz
    """
)
_PEAKS = ("dfma_peak_per_cycle", "ffma_peak_per_cycle", "hfma_peak_per_cycle")
_BUSY = ("occupancy_ratio", "compute_throughput_ratio", "memory_throughput_ratio")
_DRAM_BUSY = ("dram_throughput_ratio",)

#: Their memory is the processor's, and has no counter here (NVIDIA's CUPTI 12.9 and 13.5).
_WITHOUT_DRAM = {(7, 2), (8, 7), (11, 0), (12, 1)}

_NOTES = (
    (
        'one step: put it in an NVTX range (torch.cuda.nvtx.range_push("step") … range_pop()) and '
        'add --nvtx-include "step/"; or select launches by number, --launch-skip N '
        "--launch-count M: the first "
        "steps load and tune"
    ),
    (
        "ncu repeats each launch for every pass and saves and restores its memory: if that "
        "takes too long, or kernels wait for each other (NCCL), use --replay-mode application: "
        "it runs the "
        "whole program for each pass, so every run must launch the same kernels"
    ),
    (
        "metrics with throughput in their name take half of the passes or more: omit them "
        "if time is short; they show what is busy in kernels far from every roof"
    ),
    "reading counters needs permission: root, or NVreg_RestrictProfilingToAdminUsers=0",
)


def counting(capability: str, operations: Sequence[str]) -> Counting:
    """Return the command for a compute capability; see `tracekit.parser.CountingParser`."""
    device = _device(capability)
    names = list(_names(device, operations))
    what = f"for compute capability {capability}: {len(names)} metrics"
    without = ("this device has no DRAM counters: it shares the CPU's memory",)
    notes = (what, *(without if device in _WITHOUT_DRAM else ()), *_NOTES)
    return Counting(_text(names), notes)


def _device(capability: str) -> tuple[int, int]:
    match = _CAPABILITY.fullmatch(capability)
    device = (int(match[1]), int(match[2])) if match else (0, 0)
    if device < _FIRST:
        raise UsageError(
            f"ncu supports compute capability 7.0 and later, not {capability}; for what nvprof can "
            "count there, run `tracekit formats nvprof --record`"
        )
    return device


def _names(device: tuple[int, int], operations: Sequence[str]) -> Iterator[str]:
    dram, busy = (_DRAM, _DRAM_BUSY) if device not in _WITHOUT_DRAM else ((), ())
    for column in (*_TIME, *dram, *_CACHES):
        yield counter_of(column, device)
    yield from operations
    yield from (counter_of(column, device) for column in _PEAKS)
    yield from filter(_is_tensor_peak, (f"{name}.peak_sustained" for name in operations))
    yield from (counter_of(column, device) for column in (*_BUSY, *busy))


def _is_tensor_peak(name: str) -> bool:
    target = target_of(name)
    return target is not None and target.column.startswith("tensor_")


def _text(names: Sequence[str]) -> str:
    """Return the command, continued over lines; spaces would split the list of metrics."""
    options = (
        "ncu --csv --page raw --print-units base --log-file ncu.csv",
        "--clock-control none --nvtx --target-processes all",
        "--metrics",
    )
    return " \\\n  ".join(options) + " \\\n" + ",\\\n".join(_lines(names)) + " \\\n  ./program\n"


def _lines(names: Sequence[str]) -> Iterator[str]:
    line = ""
    for name in names:
        if line and len(f"{line},{name},\\") > _WIDTH:
            yield line
            line = ""
        line = f"{line},{name}" if line else name
    yield line
