"""The legend below a roofline in a terminal: letters, lines, what is not drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tracekit.render.ceilings import ceiling_title
from tracekit.render.cells import cut, folded, padded, widest
from tracekit.render.marks import OPEN_SIGNS, SIGNS, Marks, PanelPoints, letters
from tracekit.render.names import display_names
from tracekit.render.numbers import UNKNOWN, counted, human
from tracekit.render.text import inert
from tracekit.roofline.chart import (
    SINGLE_NOUNS,
    Chart,
    OverheadBox,
    Panel,
    RooflineLine,
    RooflineSeries,
)
from tracekit.roofline.reasons import in_words

_MARGINS = {
    "zero_ai": "zero AI (no operations)",
    "no_bytes": "no bytes moved",
    "unknown": "unknown",
    "no_label": "without the label",
}
_GAP, _INDENT, _ARROW = "  ", "   ", " → "
#: Plural names of series, by kind.
_PLURALS = {"run": "runs", "level": "levels", "class": "classes"}
_OF_LABELS = ("label", "step")
_MOST_SERIES, _MOST_PAIRS = 8, 6
_WIDEST_RUN, _WIDEST_NAME = 24, 60
_WIDEST_TAG, _LONGEST_REASON = 24, 200
_LEAST_NAME, _NARROW, _NARROW_RUN = 12, 100, 12
#: Headers of columns of coordinates, by unit of the axis; for times, the title of the axis.
_HEADERS = {
    "flop/byte": "intensity",
    "flop/s": "performance",
    "bytes": "bytes",
    "flop": "operations",
}


def legend(
    chart: Chart, panel: Panel, points: PanelPoints, named: Sequence[int], marks: Marks, width: int
) -> Iterator[str]:
    """The lines below a panel, none wider than `width`."""
    writer = _Legend(chart, panel, points, named, marks, width)
    yield from writer.table()
    for text in writer.remarks():
        first, *rest = folded(text, width - len(_INDENT))
        yield first
        yield from (_INDENT + line for line in rest)


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of the table; numbers are flush right.

    If there is no room, columns with the highest `rank` go first; rank 0 stays.
    """

    header: str
    cells: list[str]
    is_number: bool = False
    rank: int = 0

    @property
    def width(self) -> int:
        return widest([self.header, *self.cells])


@dataclass(frozen=True, slots=True)
class _Legend:
    """The legend being written."""

    chart: Chart
    panel: Panel
    points: PanelPoints
    named: Sequence[int]
    marks: Marks
    width: int

    # -- the table --------------------------------------------------------------------------------

    def table(self) -> Iterator[str]:
        """One row per letter, and one for the points without."""
        if not len(self.points.x):
            return
        columns = self._columns()
        while (room := self._room(columns)) < _LEAST_NAME and max(c.rank for c in columns):
            worst = max(column.rank for column in columns)
            columns = [column for column in columns if column.rank < worst]
        limit = min(room, _WIDEST_NAME)
        names = _Column(cut(self._header, limit), [cut(name, limit) for name in self._names(limit)])
        every = [columns[0], names, *columns[1:]]
        yield _row([column.header for column in every], every)
        tags = self._sequences()
        for place, cells in enumerate(zip(*(column.cells for column in every), strict=True)):
            yield _row(cells, every)
            if place < len(tags):
                yield from (
                    _INDENT + line for line in folded(tags[place], self.width - len(_INDENT))
                )

    def _room(self, columns: Sequence[_Column]) -> int:
        """Columns of the terminal left for names."""
        return self.width - sum(column.width + len(_GAP) for column in columns)

    @property
    def _header(self) -> str:
        if self.points.kind == "trajectory":
            return inert(self.chart.series_title) or "series"
        return inert(self.chart.noun)

    def _columns(self) -> list[_Column]:
        """All columns except the names."""
        shares = self.points.shares()
        others = np.ones(len(shares), bool)
        others[list(self.named)] = False
        first = self.points.first(self.named)
        bounds = [self._bound(owner) for owner in self.named]
        widest_run = _WIDEST_RUN if self.width >= _NARROW else _NARROW_RUN
        runs = [cut(inert(self._series_name(point)), widest_run) for point in first]
        texts = [human(float(shares[owner]), "ratio") for owner in self.named]
        marks = [letters(self.named)[owner] for owner in self.named]
        places = [self._place(point) for point in first]
        if others.any():
            marks.append(SIGNS[0] if self.points.kind in ("bound", "trajectory") else " ")
            bounds.append("")
            runs.append("")
            texts.append(human(float(shares[others].sum()), "ratio"))
            places.append(("", ""))
        found = [_Column("", marks)]
        if self.points.kind == "run" and self.chart.noun != "run":
            found.append(_Column("run", runs, rank=1))
        if self.points.kind == "class" and self.chart.noun != "class":
            found.append(_Column("class", runs, rank=1))
        if self.points.kind in _OF_LABELS:
            title = cut(inert(self.chart.series_title), widest_run)
            found.append(_Column(title, runs, rank=1))
        if self.points.kind not in ("level", "trajectory"):
            found += [
                _Column(
                    _HEADERS.get(axis.unit, axis.title.lower()),
                    [place[i] for place in places],
                    is_number=True,
                    rank=3,
                )
                for i, axis in enumerate((self.chart.x, self.chart.y))
            ]
        found.append(_Column("bound by", bounds, rank=2))
        is_timed = any(np.isfinite(series.share_ratio).any() for series in self.panel.series)
        return [*found, _Column("share", texts, True)] if is_timed else found

    def _names(self, limit: int) -> list[str]:
        first = self.points.first(self.named)
        if self.points.kind == "trajectory":
            given = [self.panel.series[owner].name or "all runs" for owner in self.named]
        else:
            given = [self._series(point).names[self.points.index[point]] for point in first]
        names = display_names(given, limit)
        rest = len(self.points.shares()) - len(self.named)
        return [*names, f"{rest:,} more"] if rest else names

    def _bound(self, owner: int) -> str:
        """What bounds a point; for several levels or along a trajectory, each change."""
        kinds: list[str] = []
        for point in np.flatnonzero(self.points.owner == owner).tolist():
            series, place = self._series(point), self.points.index[point]
            known = series.bound_kinds[place] if place < len(series.bound_kinds) else None
            kinds.append(known or UNKNOWN)
        if self.points.kind == "level":
            return kinds[0] if len(set(kinds)) == 1 else "/".join(kinds)
        changes = [kind for i, kind in enumerate(kinds) if i == 0 or kind != kinds[i - 1]]
        if len(changes) > 3:
            changes = [changes[0], "…", changes[-1]]
        return _ARROW.join(changes)

    def _place(self, point: int) -> tuple[str, str]:
        """Where a point is, with units."""
        x, y = self.chart.x.unit, self.chart.y.unit
        return _value(self.points.x[point], x), _value(self.points.y[point], y)

    def _sequences(self) -> list[str]:
        """The tags of each trajectory with a letter, in order."""
        if self.points.kind != "trajectory":
            return []
        label = _tag(self.chart.trajectory_label or "")
        return [
            f"{label}: " + _ARROW.join(map(_tag, self.panel.series[owner].tags))
            for owner in self.named
        ]

    def _series(self, point: int) -> RooflineSeries:
        return self.panel.series[int(self.points.series[point])]

    def _series_name(self, point: int) -> str:
        return self._series(point).name

    # -- the remarks ------------------------------------------------------------------------------

    def remarks(self) -> Iterator[str]:
        """Further remarks, one paragraph each."""
        yield from self._signs()
        yield from self._seen()
        devices = dict.fromkeys(line.device_name for line in self.panel.lines)
        for device in sorted(devices, key=lambda name: (name is not None, name or "")):
            yield from self._lines(device)
        yield from self._overheads()
        yield from self._margins()

    def _signs(self) -> Iterator[str]:
        """What the signs and the second symbols stand for."""
        if self.points.kind not in ("bound", "trajectory"):
            last = len(SIGNS) - 1
            known = [self._title(series) for series in self.panel.series]
            signs = [f"{mark} {name}" for mark, name in zip(SIGNS[:last], known, strict=False)]
            rest = known[last:]
            if rest:
                signs.append(f"{SIGNS[last]} " + _listed(rest, _MOST_SERIES))
            title = cut(inert(self.chart.series_title), _WIDEST_RUN)
            yield f"{_PLURALS.get(self.points.kind, title)}: " + ", ".join(signs)
        if np.isfinite(self.points.open_x).any():
            yield (
                f"a, {SIGNS[0]}: bytes and FLOP; A, {OPEN_SIGNS[0]}: bandwidth time and compute "
                "time, on the axes at the top and the right"
            )

    def _title(self, series: RooflineSeries) -> str:
        if series.kind == "level":
            return ceiling_title([series.name])
        return cut(inert(series.name), _WIDEST_RUN) or UNKNOWN

    def _seen(self) -> Iterator[str]:
        """Points that are hidden or not on the axes."""
        marks, known = self.marks, letters(self.named)
        if marks.hidden_count:
            pairs = [f"{known[own]} under {known.get(over, SIGNS[0])}" for own, over in marks.under]
            of_them = f" ({_listed(pairs, _MOST_PAIRS)})" if pairs else ""
            count = counted(marks.hidden_count, "point")
            yield f"not seen, in one cell with a larger share: {count}{of_them}"
        if marks.beyond_count:
            yield f"beyond the axes: {counted(marks.beyond_count, 'point')}"

    def _lines(self, device: str | None) -> Iterator[str]:
        """The ceilings of a device by name and value."""
        own = [line for line in self.panel.lines if line.device_name == device]
        bounds = [line for line in own if line.kind in ("compute", "bandwidth")]
        balances = [line for line in own if line.kind == "balance" and any(line.names)]
        of_device = "" if device is None else f" of {cut(inert(device), _WIDEST_NAME)}"
        roof = _valued(line for line in bounds if line.is_roof)
        lower = _valued(line for line in bounds if not line.is_roof)
        if bounds:
            yield f"roof{of_device}: {roof}" + (f"; other ceilings: {lower}" if lower else "")
        if balances:
            yield f"machine balance{of_device}: {_valued(balances)}"

    def _overheads(self) -> Iterator[str]:
        """What the launches cost."""
        for line in (*self.panel.lines, *self.panel.beyond):
            if line.kind == "overhead":
                count = line.launch_count
                launches = "" if count is None else f" ({counted(count, 'launch')})"
                above = "" if line.x else ", above the chart"
                yield f"launch overhead: {_value(line.value, line.unit)}{launches}{above}"
        boxes = [_boxed(box) for box in self.panel.boxes]
        if boxes:
            yield f"overhead {'box' if len(boxes) == 1 else 'boxes'}: " + ", ".join(boxes)

    def _margins(self) -> Iterator[str]:
        """What could not be drawn."""
        for margin in self.panel.margins:
            counts = []
            if margin.group_count:
                counts.append(counted(margin.group_count, inert(self.chart.noun)))
            if self.chart.noun not in SINGLE_NOUNS:
                within = "" if margin.group_count else " within the points"
                counts.append(counted(margin.launch_count, "launch") + within)
            if margin.share_ratio is not None:
                counts.append(f"{human(margin.share_ratio, 'ratio')} of the time")
            is_shown = any(self.chart.x.low <= x <= self.chart.x.high for x in margin.x)
            axis = " (+ on the axis)" if is_shown else ""
            why = inert(in_words(margin.reason)) if margin.reason else ""
            reason = f"; {cut(why, _LONGEST_REASON)}" if why else ""
            yield f"not drawn, {_MARGINS[margin.kind]}: {', '.join(counts)}{axis}{reason}"


def _tag(text: str) -> str:
    return cut(inert(text), _WIDEST_TAG)


def _row(cells: Sequence[str], columns: Sequence[_Column]) -> str:
    texts = [
        padded(cell, column.width, right=column.is_number)
        for cell, column in zip(cells, columns, strict=True)
    ]
    return _GAP.join(texts).rstrip()


def _valued(lines: Iterable[RooflineLine]) -> str:
    return ", ".join(
        f"{cut(ceiling_title(line.names), _WIDEST_NAME)} {_value(line.value, line.unit)}"
        for line in lines
    )


def _boxed(box: OverheadBox) -> str:
    series = "" if box.series is None else f"{cut(inert(box.series), _WIDEST_RUN)} "
    launches = counted(box.launch_count, "launch")
    total = human(box.launch_count * box.launch_ns, "ns")
    return f"{series}{launches} × {human(box.launch_ns, 'ns')} = {total}"  # noqa: RUF001


def _value(value: float, unit: str) -> str:
    return human(float(value), "FLOP/B" if unit == "flop/byte" else unit)


def _listed(texts: Sequence[str], most: int) -> str:
    rest = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {rest:,} more" if rest > 0 else "")
