"""Reads one dump: its planes, line by line, and what it says about itself."""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from tracekit.errors import FormatError
from tracekit.parser import Batch, Issue, Report
from tracekit.parsers.tensorflow_profiler import TASK
from tracekit.parsers.tensorflow_profiler.advice import Advice, wants
from tracekit.parsers.tensorflow_profiler.events import PlaneEvents, read_events, read_times
from tracekit.parsers.tensorflow_profiler.hlo import Programs
from tracekit.parsers.tensorflow_profiler.hosted import HostedOps
from tracekit.parsers.tensorflow_profiler.operators import Instruction, Known, OpsOfDump
from tracekit.parsers.tensorflow_profiler.planes import (
    Plane,
    PlaneDamage,
    PlaneLine,
    Space,
    Value,
    read_space,
)
from tracekit.parsers.tensorflow_profiler.rows import PlaneRows, short_name
from tracekit.parsers.tensorflow_profiler.xprof.ask import Asking
from tracekit.reading.xla.lines import Role, device_of, role
from tracekit.reading.xla.ops import Nesting, nesting, runs_others
from tracekit.schema import DEVICE_TABLE, OP_STAT, STEP, STEP_PART, batch_of_rows
from tracekit.source import Source, laid_out

_METADATA = "/host:metadata"
_REPLACED = b"\xef\xbf\xbd"
_MANY_REPLACED = 8
_MOST_MESSAGES = 20
# A timestamp from here on (1973) is Unix time.
_ABSOLUTE_FROM_NS = 10**17
_INT64_MAX = 2**63 - 1


def rows_of_dump(source: Source, report: Report, asking: Asking) -> Iterator[Batch]:
    """Yield the rows of a dump; `asking` asks xprof about it. Raises FormatError if it has none."""
    with laid_out(source) as (plain, damage), _content(plain) as content:
        if damage:
            report.issue(
                Issue(
                    "cut_content",
                    "error",
                    "recording",
                    damage,
                    "the end of the file is missing; get the whole file",
                )
            )
        yield from _DumpReader(source.path, plain, content, report, asking).batches()


@contextlib.contextmanager
def _content(plain: Source) -> Iterator[Any]:
    """Map the whole content into memory; an empty file cannot be mapped."""
    if not plain.size_bytes:
        yield b""
        return
    with (
        plain.raw() as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
    ):
        yield mapped


class _DumpReader:
    """Reads one dump."""

    def __init__(
        self, path: Path, plain: Source, content: Any, report: Report, asking: Asking
    ) -> None:
        """Read the dump in `plain`, uncompressed; the user knows it as `path`."""
        self._path = path
        self._plain = plain
        self._asking = asking
        self._content = content
        self._report = report
        self._programs = Programs()
        self._rows = PlaneRows(report, self._programs)
        self._ops = OpsOfDump(self._programs)
        self._unknown: set[int] = set()
        self._damages: list[PlaneDamage] = []

    def batches(self) -> Iterator[Batch]:
        """Yield the rows of the whole dump."""
        space = read_space(self._content, self._damages.append)
        self._refuse_nothing(space)
        for plane in space.planes:
            self._programs.add(plane)
        with ExitStack() as kept:
            # xprof works while we read.
            answer = kept.enter_context(self._asking(self._plain)) if wants(space) else None
            for plane in space.planes:
                for line in plane.lines:
                    yield from self._line(plane, line)
                    self._report.read(max(0, line.end - self._report.read_bytes))
            advice = Advice.of(answer() if answer else None, self._report)
        for table, rows in (
            (OP_STAT, list(self._ops.rows(self._known(advice)))),
            (STEP, advice.step_rows()),
            (STEP_PART, advice.part_rows()),
            (DEVICE_TABLE, [advice.device(row) for row in _devices(space)]),
        ):
            if rows:
                yield table.name, batch_of_rows(table, rows)
        self._tell(space)
        self._report.facts |= _facts(space, is_complete=self._report.is_whole())

    def _known(self, advice: Advice) -> Known:
        """Return a function that finds an instruction: from xprof, or from its program."""
        return lambda program_id, name: (
            advice.instruction(program_id, name) or self._compiled(program_id, name)
        )

    def _compiled(self, program_id: int | None, name: str) -> Instruction | None:
        found = self._programs.instruction_of(program_id, name)
        if found is None:
            return None
        return Instruction(found.category, found.op_name, source=found.source, opcode=found.opcode)

    def _refuse_nothing(self, space: Space) -> None:
        """Raise FormatError for a dump without events, or with events that cannot be trusted."""
        has_events = any(line.starts for plane in space.planes for line in plane.lines)
        if not self._damages and space.planes:
            return
        if has_events and not self._is_text():
            return
        first = self._damages[0] if self._damages else None
        found = f"; at byte {first.offset_bytes} is {first.found}" if first else ""
        raise FormatError(f"{self._path}: has no readable profile events{found}. {self._advice()}")

    def _is_text(self) -> bool:
        """Return whether a program converted the dump as text."""
        return bytes(self._content[: 1 << 16]).count(_REPLACED) >= _MANY_REPLACED

    def _advice(self) -> str:
        if self._is_text():
            return (
                "It is full of UTF-8 replacement characters (EF BF BD): it was written as text. "
                "Get a new copy, as bytes"
            )
        return "Get a new copy from where the profiler wrote it"

    # -- events ---------------------------------------------------------------------------------

    def _line(self, plane: Plane, line: PlaneLine) -> Iterator[Batch]:
        what = role(plane.name, line.name)
        hosted = HostedOps(plane)
        nested = nesting(*read_times(self._content, plane, line)) if what is Role.TPU_OPS else None
        done = 0
        for found in read_events(self._content, plane, line):
            self._report.event_count += len(found)
            self._unknown |= found.unknown_fields
            events = self._sound(found)
            if what is Role.KERNELS and "kernel_details" in events.stats:
                self._ops.add_kernels(events)
            here = slice(done, done + len(events))
            is_work = None if nested is None else self._add_instructions(events, nested, here)
            hosted.see(events, what)
            yield from self._rows.batches(events, what, is_work)
            done += len(events)
        hosted.add_to(self._ops)
        if line.has_cut_event:
            self._report.event_count += 1
            self._report.issue(
                Issue(
                    "cut_event",
                    "error",
                    "recording",
                    "events that are truncated",
                    "the file is truncated or damaged: get a new copy",
                    skipped_event_count=1,
                    first_offset_bytes=line.end,
                )
            )

    def _sound(self, events: PlaneEvents) -> PlaneEvents:
        """Return the events that can be read; report the others, and broken stats."""
        if events.broken_stats:
            self._report.issue(_damaged_stats(events.broken_stats, int(events.ids[0])))
        if not events.broken.any():
            return events
        count = int(events.broken.sum())
        self._report.issue(
            Issue(
                "broken_event",
                "error",
                "import",
                "events that are not a protobuf message",
                "the file is damaged: get a new copy from where it was written",
                occurrence_count=count,
                skipped_event_count=count,
                first_offset_bytes=int(events.ids[events.broken][0]),
            )
        )
        return events.sound()

    def _add_instructions(
        self, events: PlaneEvents, nested: Nesting, here: slice
    ) -> NDArray[np.bool_]:
        """Sum a TPU's instructions; return which of them work themselves, not only run others.

        In a truncated dump, an instruction without metadata is identified by what ran inside it.
        """
        self._ops.add_instructions(events, nested.self_ps[here])
        kinds, places = events.kinds
        known = [events.plane.metadata.get(key) for key in kinds.tolist()]
        is_known = np.array([m is not None for m in known], bool)[places]
        runs_some = np.array([m is not None and _runs_others(m) for m in known], bool)[places]
        return ~np.where(is_known, runs_some, nested.has_inner[here])

    # -- what to tell ---------------------------------------------------------------------------

    def _tell(self, space: Space) -> None:
        end = len(self._content)
        cut = [d for d in self._damages if d.end_bytes == end]
        if cut:
            self._report.issue(
                Issue(
                    "cut_content",
                    "error",
                    "recording",
                    "the file ends in the middle of a message",
                    "the end is missing, including event names of the truncated plane; "
                    "get the whole file",
                    first_offset_bytes=min(d.offset_bytes for d in cut),
                )
            )
        for damage in self._damages:
            if damage.end_bytes != end:
                self._report.issue(_damaged(damage, self._advice()))
        self._tell_repeated(space)
        for message in space.errors[:_MOST_MESSAGES]:
            said = f"the profiler says: {message}"
            self._report.issue(Issue("profiler_error", "warning", "recording", said))
        for message in space.warnings[:_MOST_MESSAGES]:
            said = f"the profiler warns: {message}"
            self._report.issue(Issue("profiler_warning", "warning", "recording", said))
        if self._unknown | space.unknown_fields:
            self._report.issue(
                Issue(
                    "unknown_field",
                    "info",
                    "import",
                    "fields unknown to this version of tracekit: the dump has a newer schema",
                    "their content is skipped",
                )
            )

    def _tell_repeated(self, space: Space) -> None:
        """Report two planes of one device: its work counts twice, or belongs to another."""
        devices = [device_of(plane.name) for plane in space.planes if plane.lines]
        numbers = [
            (device[1], plane.name)
            for device, plane in zip(devices, (p for p in space.planes if p.lines), strict=True)
            if device is not None
        ]
        repeated = len(numbers) - len({number for number, _ in numbers})
        if repeated > 0:
            self._report.issue(
                Issue(
                    "repeated_device",
                    "warning",
                    "recording",
                    "planes with the same device number as another plane",
                    "their work is assigned to one device: check track_name",
                    occurrence_count=repeated,
                )
            )


def _runs_others(known: Any) -> bool:
    category = known.stats.get("hlo_category")
    return runs_others(
        category if isinstance(category, str) else None, known.name, short_name(known) or ""
    )


def _damaged_stats(count: int, place: int) -> Issue:
    return Issue(
        "damaged_stat",
        "error",
        "import",
        "event stats that are not protobuf; they are lost, the events are kept",
        "the file is damaged: get a new copy from where it was written",
        occurrence_count=count,
        first_offset_bytes=place,
    )


def _damaged(damage: PlaneDamage, advice: str) -> Issue:
    return Issue(
        "damaged_message",
        "error",
        "import",
        "messages that are not protobuf; the rest of them is lost",
        advice,
        lost_bytes=damage.end_bytes - damage.offset_bytes,
        first_offset_bytes=damage.offset_bytes,
    )


# -- what the dump says of itself -----------------------------------------------------------------


def _facts(space: Space, *, is_complete: bool) -> dict[str, Any]:
    says = {
        key: value
        for plane in space.planes
        if plane.name in (TASK, _METADATA)
        for key, value in plane.stats.items()
    }
    return {
        "profiler_name": _profiler(says, space),
        "recording_kind": "timeline",
        "base_time_ns": _base_time(says, space),
        "is_complete": is_complete,
        "metadata_json": msgspec.json.encode(
            {"host_names": space.host_names} | {k: _plain(v) for k, v in says.items()}
        ).decode(),
    }


def _profiler(says: dict[str, Value], space: Space) -> str:
    if "jax_version" in says:
        return "JAX profiler" + "".join(
            f" {name}"
            for key in ("jax_version", "jaxlib_version")
            if isinstance(name := says.get(key), str)
        )
    lines = {line.name for plane in space.planes for line in plane.lines}
    is_tensorflow = any(name.startswith("TensorFlow ") for name in lines)
    return "TensorFlow profiler" if is_tensorflow else "XLA profiler (TensorFlow or JAX)"


def _base_time(says: dict[str, Value], space: Space) -> int | None:
    """Return the Unix time that timestamps are relative to."""
    starts = [line.start_ns for plane in space.planes for line in plane.lines if line.starts]
    if starts and min(starts) >= _ABSOLUTE_FROM_NS:
        return 0
    begun = says.get("profile_start_time")
    return begun if isinstance(begun, int) and 0 <= begun <= _INT64_MAX else None


def _plain(value: Value) -> object:
    """Return a value that JSON can represent."""
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return value if not isinstance(value, float) or np.isfinite(value) else None


def _devices(space: Space) -> list[dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for plane in space.planes:
        device = device_of(plane.name)
        if device is not None and device[1] not in found:
            found[device[1]] = _device(plane, *device, next(iter(space.host_names), None))
    return list(found.values())


def _device(plane: Plane, kind: str, number: int, host_name: str | None) -> dict[str, Any]:
    """Return a device as described by its plane."""
    says = plane.stats
    major, minor = (_whole(says, f"compute_cap_{part}") for part in ("major", "minor"))
    names = (says.get(stat) for stat in ("device_type_string", "gpu_device_name"))
    return {
        "device_id": number,
        "name": next((name for name in names if isinstance(name, str) and name), None),
        "device_kind": kind,
        "host_name": host_name,
        "is_described": bool(says),
        "compute_capability": None if major is None else f"{major}.{minor or 0}",
        "sm_count": _whole(says, "core_count"),
        "memory_bytes": _whole(says, "memory_size"),
        "reported_flop_per_s": _scaled(says, "peak_teraflops_per_second", 1e12),
        "reported_bytes_per_s": _scaled(says, "memory_bandwidth", 1)
        or _scaled(says, "peak_hbm_bw_gigabytes_per_second", 1e9),
        "properties_json": msgspec.json.encode({k: _plain(v) for k, v in says.items()}).decode(),
    }


def _whole(says: dict[str, Value], name: str) -> int | None:
    value = says.get(name)
    return value if isinstance(value, int) and 0 <= value <= _INT64_MAX else None


def _scaled(says: dict[str, Value], name: str, factor: float) -> float | None:
    """Return a peak in base units; the profiler writes 0 for an unknown one."""
    value = says.get(name)
    if not isinstance(value, int | float) or not 0 < value < float("inf"):
        return None
    return float(value) * factor
