"""A timeline and counters of one program: what the files of both say, and small ones by hand.

Nothing here asks tracekit: figures that tests expect come from JSON and CSV alone.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Event = dict[str, Any]
Launch = dict[str, str]
Shape = tuple[int, int, int]

_SASS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
_WEIGHTS = (("add", 1), ("mul", 1), ("fma", 2))
_SCALES = {"": 1, "byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "ns": 1, "us": 1e3}
_IDENTITY = (
    "ID",
    "Process ID",
    "Process Name",
    "Host Name",
    "Kernel Name",
    "Context",
    "Stream",
    "Block Size",
    "Grid Size",
    "Device",
    "CC",
)
BYTES = "dram__bytes.sum"
DURATION = "gpu__time_duration.sum"

#: Every counter that all operations need; 0 unless a launch says other.
COUNTERS = {
    **{_SASS.format(f"{kind}{op}"): "inst" for kind in "dfh" for op, _ in _WEIGHTS},
    "sm__inst_executed_pipe_tensor.sum": "inst",
    BYTES: "byte",
    DURATION: "ns",
}


# -- files that profilers wrote --------------------------------------------------------------------


def kernels(trace: Path) -> list[Event]:
    """The kernels of a trace, in the order in which they ran."""
    found = [event for event in _events(trace) if event.get("cat") == "kernel"]
    return sorted(found, key=lambda event: float(event["ts"]))


def annotated(trace: Path) -> list[str]:
    """For each of `kernels` the innermost annotation in which it was launched, from its calls."""
    events = _events(trace)
    ranges = sorted(
        (float(e["ts"]), float(e["ts"]) + float(e["dur"]), e["name"])
        for e in events
        if e.get("cat") == "user_annotation" and not e["name"].startswith("ProfilerStep")
    )
    calls = {
        e["args"]["correlation"]: float(e["ts"])
        for e in events
        if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in e["args"]
    }
    starts = [start for start, _, _ in ranges]

    def of(kernel: Event) -> str:
        moment = calls[kernel["args"]["correlation"]]
        start, end, name = ranges[bisect_right(starts, moment) - 1]
        assert start <= moment <= end
        return str(name)

    return [of(kernel) for kernel in kernels(trace)]


def counted(page: Path) -> list[Launch]:
    """The launches of a raw page, in the units of `_SCALES`; its second row has the units."""
    header, units, *rows = _rows(page)
    return [
        {name: _scaled(value, unit) for name, value, unit in zip(header, row, units, strict=True)}
        for row in rows
    ]


def number(launch: Launch, name: str) -> float:
    return float(launch[name].replace(",", "") or 0)


def fp32_of(launch: Launch) -> float:
    return sum(times * number(launch, _SASS.format(f"f{op}")) for op, times in _WEIGHTS)


def cut(page: Path, to: Path, count: int) -> Path:
    """The first launches of a raw page, in a file of their own."""
    with to.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(list(_rows(page))[: 2 + count])
    return to


def _events(trace: Path) -> list[Event]:
    with gzip.open(trace, "rt", encoding="utf-8") as file:
        found: list[Event] = json.load(file)["traceEvents"]
    return found


def _rows(page: Path) -> Iterator[list[str]]:
    """What ncu says before the page has no quotes."""
    with gzip.open(page, "rt", encoding="utf-8", newline="") as file:
        text = file.read()
    return csv.reader(io.StringIO(text[text.index('"') :]))


def _scaled(value: str, unit: str) -> str:
    scale = _SCALES.get(unit, 1)
    return value if scale == 1 else str(round(float(value.replace(",", "") or 0) * scale, 6))


# -- files by hand ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kernel:
    """A launch: in a trace its time counts, in a page of counters what it did."""

    name: str
    grid: int = 1
    us: float = 10
    stream: int = 7
    fma: int = 0
    moved: int = 0


def trace(path: Path, launches: Sequence[Kernel], *, rank: int | None = None) -> Path:
    """A trace of torch.profiler in which the launches follow each other, from one thread."""
    events: list[Event] = []
    for place, one in enumerate(launches):
        start = 1_000_000 + 100 * place
        events += [
            {
                "ph": "X",
                "cat": "cuda_runtime",
                "name": "cudaLaunchKernel",
                "pid": 42,
                "tid": 42,
                "ts": start,
                "dur": 2,
                "args": {"cbid": 211, "correlation": place + 1},
            },
            {
                "ph": "X",
                "cat": "kernel",
                "name": one.name,
                "pid": 0,
                "tid": one.stream,
                "ts": start + 5,
                "dur": one.us,
                "args": {
                    "device": 0,
                    "context": 1,
                    "stream": one.stream,
                    "correlation": place + 1,
                    "grid": [one.grid, 1, 1],
                    "block": [128, 1, 1],
                },
            },
        ]
    whole: dict[str, Any] = {
        "schemaVersion": 1,
        "deviceProperties": [
            {
                "id": 0,
                "name": "NVIDIA H100 80GB HBM3",
                "computeMajor": 9,
                "computeMinor": 0,
                "numSms": 132,
            }
        ],
        "baseTimeNanoseconds": 1759300074000000000,
        "displayTimeUnit": "ms",
    }
    if rank is not None:
        whole["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 2}
    path.write_text(json.dumps(whole | {"traceEvents": events}), encoding="utf-8")
    return path


def raw_page(path: Path, launches: Iterable[Kernel]) -> Path:
    """A raw page of Nsight Compute."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerow([*_IDENTITY, *COUNTERS])
    writer.writerow([""] * len(_IDENTITY) + list(COUNTERS.values()))
    for place, one in enumerate(launches):
        did = {_SASS.format("ffma"): one.fma, BYTES: one.moved, DURATION: round(1000 * one.us)}
        found = dict.fromkeys(COUNTERS, 0) | did
        shape = ("(128, 1, 1)", f"({one.grid}, 1, 1)")
        writer.writerow(
            [place, 7, "python", "here", one.name, 1, one.stream, *shape, 0, "9.0", *found.values()]
        )
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    return path
