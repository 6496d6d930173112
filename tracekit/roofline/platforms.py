"""The devices of a chart and their ceilings, from the report `roofline_ceilings`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from tracekit.errors import UsageError
from tracekit.result import Result
from tracekit.roofline.geometry import Platform, RooflineCeiling

#: Tensor operations on integers are not floating-point work, so not in a roofline.
_NOT_FLOP = "tensor_int8"
#: Minimum share of the operations for a peak that counts as much used.
_MUCH = 0.1


@dataclass(frozen=True, slots=True)
class Machines:
    """The devices by name, and what to draw of them.

    ``used`` has the operations done on each device under each compute ceiling; ``asked`` is the
    ceiling with which the user wants to compare all points.
    """

    by_name: dict[str | None, Platform]
    used: dict[str | None, dict[str, float]]
    asked: str | None

    @classmethod
    def of(cls, results: Sequence[Result], launch_ns: float | None, asked: str | None) -> Self:
        """The devices in the results for some runs.

        `launch_ns` replaces a device's own launch overhead. If runs disagree about a peak of a
        device, the largest counts.
        """
        rows = [row for result in results for row in result.rows()]
        names = sorted({row["device_name"] for row in rows}, key=lambda name: name or "")
        return cls(
            {name: _platform(name, rows, launch_ns) for name in names},
            {name: _used(name, rows) for name in names},
            asked,
        )

    def platform(self, device: str | None) -> Platform:
        """A device; an unknown one has no ceilings."""
        return self.by_name.get(device) or Platform(device, (), (), None)

    def peak(self, device: str | None) -> RooflineCeiling:
        """The compute peak of a chart: the requested one, else the highest that is much used.

        Raises UsageError if the device has no such peak, or none at all.
        """
        platform = self.platform(device)
        if self.asked is not None:
            return _of_name("peak", self.asked, platform.compute, platform)
        if not platform.compute:
            raise UsageError(f"no peaks are known for {_text(platform)}. {_advice(platform)}")
        work = self.used.get(device, {})
        if not work:
            return platform.compute[-1]
        most = max(work, key=lambda name: (work[name], name))
        if platform.peak(most) is None:
            raise UsageError(
                f"most of the work was done in {most}, but this peak is unknown for "
                f"{_text(platform)}; known: {_names(platform.compute)}. {_advice(platform)}; or "
                "compare all points with another peak by --ceiling NAME"
            )
        enough = min(_MUCH * sum(work.values()), work[most])
        return next(  # the platform's ceilings are in order, the highest first
            ceiling for ceiling in platform.compute if work.get(ceiling.name, 0) >= enough
        )

    def bandwidth(self, device: str | None, level: str) -> RooflineCeiling:
        """The bandwidth of a level; raises UsageError if unknown."""
        platform = self.platform(device)
        return _of_name("bandwidth", level, platform.bandwidth, platform)

    def drawn(self, device: str | None) -> list[RooflineCeiling]:
        """The compute ceilings to draw: those in use, and the peak of the chart."""
        roof = self.peak(device)
        return [
            ceiling
            for ceiling in self.platform(device).compute
            if ceiling is roof or ceiling.name in self.used.get(device, ())
        ]


def _of_name(
    what: str, name: str, known: Iterable[RooflineCeiling], platform: Platform
) -> RooflineCeiling:
    found = next((ceiling for ceiling in known if ceiling.name == name), None)
    if found is None:
        raise UsageError(
            f"no {what} {name!r} is known for {_text(platform)}; known: {_names(known)}. "
            f"{_advice(platform)}"
        )
    return found


def _names(ceilings: Iterable[RooflineCeiling]) -> str:
    return ", ".join(ceiling.name for ceiling in ceilings) or "none"


def _used(name: str | None, rows: Iterable[dict[str, Any]]) -> dict[str, float]:
    """The operations done on a device under each compute ceiling, if any."""
    used: dict[str, float] = {}
    for row in rows:
        if row["device_name"] == name and row["work_flop"] and row["ceiling_name"] != _NOT_FLOP:
            used[row["ceiling_name"]] = used.get(row["ceiling_name"], 0) + row["work_flop"]
    return used


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


def _ceilings(rows: Iterable[dict[str, Any]], column: str) -> tuple[RooflineCeiling, ...]:
    best: dict[str, RooflineCeiling] = {}
    for row in rows:
        name, value = row["ceiling_name"], row[column]
        if value is None or name == _NOT_FLOP:
            continue
        if name not in best or best[name].value < value:
            best[name] = RooflineCeiling(name, value, f"{row['origin_kind']}: {row['source_text']}")
    return tuple(sorted(best.values(), key=lambda ceiling: (-ceiling.value, ceiling.name)))


def _text(platform: Platform) -> str:
    return f"the device {platform.device_name!r}" if platform.device_name else "the device"


def _advice(platform: Platform) -> str:
    if platform.device_name is None:
        return (
            "The file does not name it: ingest it again with --replace --device NAME "
            "(for names, run `tracekit devices`), or with --replace --peaks FILE"
        )
    return "Ingest the file again with --replace --peaks FILE (TOML, ERT or STREAM output)"
