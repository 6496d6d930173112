"""The devices of a chart and their ceilings, out of the report `roofline_ceilings`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from tracekit.errors import UsageError
from tracekit.result import Result
from tracekit.roofline.geometry import Ceiling, Platform

#: Tensor operations on integers are no floating-point work and have no place in a roofline.
_NOT_FLOP = "tensor_int8"


@dataclass(frozen=True, slots=True)
class Machines:
    """The devices by name, the one with the most time first, and what is drawn of them.

    ``used`` are the compute ceilings under which any work was done on each, ``asked`` is the one
    that the user wants all points held against.
    """

    by_name: dict[str | None, Platform]
    used: dict[str | None, frozenset[str]]
    asked: str | None

    @classmethod
    def of(cls, results: Sequence[Result], launch_ns: float | None, asked: str | None) -> Self:
        """Out of the answers for some runs.

        `launch_ns` stands in for a device's own launch overhead. Where runs disagree about a
        peak of one device, the largest counts.
        """
        rows = [row for result in results for row in result.rows()]
        times = {(row["device_name"], row["run_id"]): row["total_ns"] or 0 for row in rows}
        devices = dict.fromkeys(name for name, _ in times)
        total = {d: sum(ns for (name, _), ns in times.items() if name == d) for d in devices}
        names = sorted(devices, key=lambda name: (-total[name], name or ""))
        return cls(
            {name: _platform(name, rows, launch_ns) for name in names},
            {name: _used(name, rows) for name in names},
            asked,
        )

    @property
    def main(self) -> str | None:
        """The device with the most time."""
        return next(iter(self.by_name), None)

    def platform(self, device: str | None) -> Platform:
        """A device; points of several devices are held against the main one."""
        found = self.by_name.get(device) or self.by_name.get(self.main)
        return found or Platform(device, (), (), None)

    def peak(self, device: str | None) -> Ceiling:
        """The compute peak that points are held against: the one asked for, else the highest used.

        Raises UsageError where the device has none of that name, or none at all.
        """
        platform = self.platform(device)
        if self.asked is not None:
            return _of_name("peak", self.asked, platform.compute, platform)
        if not platform.compute:
            raise UsageError(
                f"nothing says what {_text(platform)} can do at most. {_advice(platform)}"
            )
        used = self._used(device)
        found = next((c for c in platform.compute if c.name in used), None)
        if found is None and used:
            raise UsageError(
                f"the work was done in {', '.join(sorted(used))}, and no such peak is known of "
                f"{_text(platform)}; known: {_names(platform.compute)}. {_advice(platform)}"
            )
        return found or platform.compute[-1]

    def _used(self, device: str | None) -> frozenset[str]:
        return self.used.get(device) or self.used.get(self.main) or frozenset()

    def bandwidth(self, device: str | None, level: str) -> Ceiling:
        """The bandwidth of a level; raises UsageError where it is not known."""
        platform = self.platform(device)
        return _of_name("bandwidth", level, platform.bandwidth, platform)

    def drawn(self, device: str | None) -> list[Ceiling]:
        """The compute ceilings to draw: those in use and the one that points are held against."""
        roof = self.peak(device)
        return [
            ceiling
            for ceiling in self.platform(device).compute
            if ceiling is roof or ceiling.name in self._used(device)
        ]


def _of_name(what: str, name: str, known: Iterable[Ceiling], platform: Platform) -> Ceiling:
    found = next((ceiling for ceiling in known if ceiling.name == name), None)
    if found is None:
        raise UsageError(
            f"no {what} {name!r} is known of {_text(platform)}; known: {_names(known)}. "
            f"{_advice(platform)}"
        )
    return found


def _names(ceilings: Iterable[Ceiling]) -> str:
    return ", ".join(ceiling.name for ceiling in ceilings) or "none"


def _used(name: str | None, rows: Iterable[dict[str, Any]]) -> frozenset[str]:
    """The compute ceilings of a device under which any operation was done."""
    own = (row for row in rows if row["device_name"] == name and row["work_flop"])
    return frozenset(row["ceiling_name"] for row in own) - {_NOT_FLOP}


def _platform(
    name: str | None, rows: Iterable[dict[str, Any]], launch_ns: float | None
) -> Platform:
    own = [row for row in rows if row["device_name"] == name]
    overheads = [row["overhead_ns"] for row in own if row["overhead_ns"] is not None]
    return Platform(
        name,
        _ceilings(own, "peak_flop_per_s"),
        _ceilings(own, "peak_bytes_per_s"),
        launch_ns if launch_ns is not None else max(overheads, default=None),
    )


def _ceilings(rows: Iterable[dict[str, Any]], column: str) -> tuple[Ceiling, ...]:
    best: dict[str, Ceiling] = {}
    for row in rows:
        name, value = row["ceiling_name"], row[column]
        if value is None or name == _NOT_FLOP:
            continue
        if name not in best or best[name].value < value:
            best[name] = Ceiling(name, value, f"{row['origin_kind']}: {row['source_text']}")
    return tuple(sorted(best.values(), key=lambda ceiling: (-ceiling.value, ceiling.name)))


def _text(platform: Platform) -> str:
    return f"the device {platform.device_name!r}" if platform.device_name else "the device"


def _advice(platform: Platform) -> str:
    if platform.device_name is None:
        return (
            "The file does not name it: ingest it again with --replace --device NAME "
            "(`tracekit devices` lists them), or with --replace --peaks FILE"
        )
    return "Ingest the file again with --replace --peaks FILE (TOML, ERT or STREAM output)"
