"""Finds the net that a time belongs to: a log can have several, in sequence or interleaved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from tracekit.parsers.caffe_time.lines import MOST_LAYERS, Echo, Time

_MOST_WRITERS = 4096


@dataclass(slots=True)
class Net:
    """A run of `caffe time` on one net, as far as the log shows.

    ``is_marked`` means that lines mark its start, so a repeated layer is another one of the same
    name; otherwise a repeated layer belongs to the next run.
    """

    begin_bytes: int
    echo: Echo
    iteration_count: int | None = None
    is_marked: bool = False
    index: int | None = None
    has_sums: bool = False
    has_untold: bool = False
    strange_count: int = 0
    _heading: str | None = None
    _last_iterations: dict[str | None, int] = field(default_factory=dict)
    _wholes: set[tuple[str, str | None]] = field(default_factory=set)
    _seen: set[tuple[str, str | None, str]] = field(default_factory=set)
    _layers: dict[str, _Layers] = field(default_factory=dict)

    @property
    def has_layers(self) -> bool:
        """Whether a time of a layer, or of all of them, has been read."""
        return bool(self._seen or self._wholes)

    def has_layers_of(self, statistic_kind: str) -> bool:
        """Whether layers have such times; one run may log several, one after another."""
        return statistic_kind in self._layers

    def head(self, statistic_kind: str) -> None:
        """Expect times of layers, which are this statistic; "" if unknown."""
        self._heading = statistic_kind

    def told(self, time: Time) -> Time | None:
        """Return the time with the statistic of its heading; None if that has unknown words."""
        if time.layer_name is None or time.statistic_kind != "mean":
            return time
        return (
            replace(time, statistic_kind=self._heading or "mean") if self._heading != "" else None
        )

    def has(self, time: Time) -> bool:
        """Return whether this time was already read, so that it belongs to another run."""
        if time.iteration_index is not None:
            last = self._last_iterations.get(time.phase_kind, -1)
            return time.iteration_index <= last or self.has_layers
        if time.layer_name is None:
            return (time.statistic_kind, time.phase_kind) in self._wholes
        if len(self._seen) >= MOST_LAYERS:
            return True
        return not self.is_marked and _key(time) in self._seen

    def place(self, time: Time) -> int | None:
        """Take a time and return the position of its layer, known for forward and backward times.

        Layers run forward in the order of the net; before October 2014 backward times were printed
        in the order in which layers run backward.
        """
        if time.iteration_index is not None:
            self._last_iterations[time.phase_kind] = time.iteration_index
            return None
        if time.layer_name is None:
            self._wholes.add((time.statistic_kind, time.phase_kind))
            return None
        self.has_sums |= time.statistic_kind == "sum"
        self.has_untold |= time.statistic_kind == "mean" and self._heading is None
        self._seen.add(_key(time))
        layers = self._layers.setdefault(time.statistic_kind, _Layers())
        return layers.place(time.layer_name, is_forward=time.phase_kind == "forward")


@dataclass(slots=True)
class _Layers:
    """Places of the layers of one net, in times of one kind."""

    _waiting: dict[str, list[int]] = field(default_factory=dict)
    _count: int = 0

    def place(self, name: str, *, is_forward: bool) -> int | None:
        """Return the position of a forward time; the next backward time of that name shares it."""
        if not is_forward:
            waiting = self._waiting.get(name)
            return waiting.pop() if waiting else None
        self._waiting.setdefault(name, []).append(self._count)
        self._count += 1
        return self._count - 1


def _key(time: Time) -> tuple[str, str | None, str]:
    return time.layer_name or "", time.phase_kind, time.statistic_kind


class Nets:
    """The nets of a log by writer: each process logs under its own thread."""

    def __init__(self, on_end: Callable[[Net, bool], None]) -> None:
        self._on_end = on_end
        self._open: dict[str | None, Net] = {}
        self._count = 0

    def begin(self, writer: str | None, place: int, echo: Echo | None = None) -> Net:
        """Begin a net; the one before it ends, if it has times."""
        self.end(writer)
        if len(self._open) >= _MOST_WRITERS:
            self.finish()
        net = self._open[writer] = Net(place, echo or Echo())
        return net

    def of(self, writer: str | None, place: int) -> Net:
        """Return the open net, or a new one."""
        return self._open.get(writer) or self.begin(writer, place)

    def is_inside(self, writer: str | None) -> bool:
        """Whether a benchmark of `writer` runs here."""
        net = self._open.get(writer)
        return net is not None and (net.is_marked or net.index is not None)

    def row(self, writer: str | None, place: int, time: Time) -> dict[str, Any] | None:
        """Return the row of `layer_stat` for a time; None if its statistic is unknown."""
        net = self.of(writer, place)
        told = net.told(time)
        if told is None:
            return None
        if net.has(told):
            net, told = self.begin(writer, place), time
        time = told
        if net.index is None:
            net.index, self._count = self._count, self._count + 1
        layer = time.layer_name
        net.strange_count += layer is not None and net.echo.lacks(layer)
        return {
            "event_id": place,
            "net_index": net.index,
            "net_name": net.echo.net_name,
            "layer_index": net.place(time),
            "name": layer,
            "type_name": None if layer is None else net.echo.type_of(layer),
            "phase_kind": time.phase_kind,
            "statistic_kind": time.statistic_kind,
            "iteration_count": net.iteration_count if time.iteration_index is None else None,
            "iteration_index": time.iteration_index,
            "dur_ns": time.dur_ns,
        }

    def end(self, writer: str | None, is_told: bool = False) -> None:
        """End the open net of `writer`; `is_told` means that the log says so."""
        net = self._open.pop(writer, None)
        if net is not None and (net.index is not None or net.is_marked):
            self._on_end(net, is_told)

    def finish(self) -> None:
        """Handle the end of input."""
        for writer in list(self._open):
            self.end(writer)
