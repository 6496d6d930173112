"""Builds a chart from the reports `roofline_points`, `roofline_ceilings` and `run_labels`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from tracekit.errors import UsageError
from tracekit.result import Result
from tracekit.roofline.chart import Chart, Panel, RooflineAxis, RooflineSeries
from tracekit.roofline.figures import Macros, figures, places
from tracekit.roofline.geometry import Array
from tracekit.roofline.lines import Backdrop
from tracekit.roofline.margins import DRAWN, NO_LABEL, margins, place_kinds, shares
from tracekit.roofline.platforms import Machines
from tracekit.roofline.points import LevelPoints, Rows, RunLabels
from tracekit.roofline.reasons import in_words, is_of_time
from tracekit.roofline.request import RooflineRequest
from tracekit.roofline.series import Grouping, SeriesGroup, no_label
from tracekit.roofline.table import table_of

#: Title, rows and series of a panel.
Part = tuple[str, Rows, list[SeriesGroup]]

_NOUNS = {
    "name": "kernel",
    "launch": "launch",
    "class": "class",
    "phase": "phase",
    "run": "run",
    "interval": "interval",
    "scope": "scope",
    "op": "operator",
    "layer": "layer",
    "configuration": "configuration",
}
COUNTERS = (
    "To collect them with Nsight Compute, run tracekit formats nsight-compute --metrics --device "
    "NAME for the ncu command, then ingest its output file with tracekit ingest"
)
OPERATORS = (
    "XLA's cost model has them: TPU profiles of TensorFlow and JAX include them, and with xprof "
    "installed (pip install xprof), tracekit ingest computes them from a GPU's *.xplane.pb. For a "
    "torch.profiler trace of a GPU, they are modeled from shapes: record_shapes=True"
)
CONFIGURATIONS = (
    "A results table needs a rate and an intensity; give their units at ingest: tracekit "
    "ingest FILE --replace --device NAME --columns metrics=flops:GFLOP/s,intensity:FLOP/byte. "
    "To choose among several metrics, use --rate NAME --intensity NAME"
)
EVENTS = (
    "To collect them with perf stat, run tracekit formats perf-stat --events CPU for the command "
    "with the right events"
)


def build(
    request: RooflineRequest,
    points: Sequence[Result],
    ceilings: Sequence[Result],
    labels: RunLabels,
    macros: Macros,
    advice: str = COUNTERS,
) -> Chart:
    """Build the requested chart.

    Args:
        request: the request.
        points: results of the report of points; for the hierarchical model, at all memory levels.
        ceilings: results of the report of ceilings.
        labels: labels of the runs.
        macros: evaluates SQL macros; one decides what bounds a point.
        advice: how to supply missing data, for the error message.

    Raises:
        UsageError: nothing can be drawn; the message says what is missing.
    """
    found = LevelPoints.of(points)
    _require_points(found, request, advice)
    return _Builder(request, found, ceilings, labels, macros).chart()


class _Builder:
    """The chart being built."""

    def __init__(
        self,
        request: RooflineRequest,
        points: LevelPoints,
        ceilings: Sequence[Result],
        labels: RunLabels,
        macros: Macros,
    ) -> None:
        self.request = request
        self.points = points
        self.labels = labels
        self.machines = Machines.of(ceilings, request.launch_ns, request.ceiling)
        if request.launch_ns is not None:
            points.launch_ns[:] = request.launch_ns
        self.device = self._require_peaks()
        self._leave_out_without_peaks()
        self.backdrop = Backdrop(points, self.machines, request)
        self.found = figures(points, self.machines, request, macros)
        self.at = places(points, self.found, self.machines, self.device, request)
        self.grouping = Grouping(points, self.found, labels, request)
        self.kinds = place_kinds(points)

    def chart(self) -> Chart:
        """The chart."""
        request, machines = self.request, self.machines
        parts = [(title, rows, self.grouping.of(rows)) for title, rows in self._panel_rows()]
        self._mark_without_label(parts)
        x, y = self.backdrop.axes([rows for _, rows, _ in parts], self.at)
        panels = tuple(self._panel(title, rows, groups, x, y) for title, rows, groups in parts)
        data = table_of(self.points, self.found, panels, machines, self._labelled(parts), request)
        repeated = self.grouping.repeated([group for _, _, groups in parts for group in groups])
        data = replace(data, notes=() if repeated is None else (repeated,))
        is_4d = request.model == "4d"
        return Chart(
            request.model,
            request.title,
            x,
            y,
            panels,
            data,
            request.top,
            _NOUNS[request.granularity],
            " · ".join(request.series),
            request.joined_by,
            self.grouping.steps,
            machines.bandwidth(self.device, request.level).value if is_4d else None,
            machines.peak(self.device).value if is_4d else None,
        )

    def _require_peaks(self) -> str | None:
        """The device of the first point; UsageError unless every device has its ceilings."""
        devices = self.points.devices(np.flatnonzero(self.points.has_place))
        for device in devices:
            self.machines.peak(device)
            if self.request.model != "hierarchical":
                self.machines.bandwidth(device, self.request.level)
            elif not self.machines.platform(device).bandwidth:
                self.machines.bandwidth(device, "dram")
        if self.request.model == "4d" and len(devices) > 1:
            raise UsageError(
                f"the 4d model has one scale of seconds, but the runs are from {len(devices)} "
                "devices; draw the runs of each device separately, or use --model time"
            )
        return devices[0]

    def _leave_out_without_peaks(self) -> None:
        """Exclude points without a peak from the time plane, which needs their times at peak."""
        points, request = self.points, self.request
        if request.model != "time" or request.has_one_peak:
            return
        lacking = points.has_place & np.isnan(points.compute_ns + points.bandwidth_ns)
        points.leave_out(lacking, "no peak known for its precisions")
        if not points.has_place.any():
            named = f"the device {self.device!r}" if self.device else "the device"
            raise UsageError(
                "no point can be compared with the peaks of its own precisions: one of them is not "
                f"known for {named}. Compare all points with one peak by "
                "--ceiling NAME, or ingest the file again with --replace --peaks FILE"
            )

    def _mark_without_label(self, parts: Sequence[Part]) -> None:
        """Mark points that are on no trajectory."""
        drawn = {row for _, _, groups in parts for group in groups for row in group.rows}
        for row, kind in enumerate(self.kinds):
            if kind == DRAWN and row not in drawn:
                self.kinds[row] = NO_LABEL

    # -- panels -----------------------------------------------------------------------------------

    def _panel_rows(self) -> list[tuple[str, Rows]]:
        """The rows of each panel, in the order of the label's values."""
        label = self.request.panels
        every = np.arange(len(self.points))
        if label is None:
            return [("", every)]
        runs = sorted(set(self.points.run), key=lambda run: self.labels.order(run, label))
        values = dict.fromkeys(self.labels.value(run, label) for run in runs)
        if not any(value is not None for value in values):
            raise UsageError(no_label("panels", label, self.labels))
        of_row = [self.labels.value(run, label) for run in self.points.run]
        return [
            (
                f"{label} = {value}" if value is not None else f"no {label}",
                every[np.array([found == value for found in of_row], bool)],
            )
            for value in values
        ]

    def _panel(
        self,
        title: str,
        rows: Rows,
        groups: Sequence[SeriesGroup],
        x: RooflineAxis,
        y: RooflineAxis,
    ) -> Panel:
        points, request = self.points, self.request
        share = shares(points, rows)
        boxed = [(group.name if request.joined_by else None, group.rows) for group in groups]
        drawn = self.backdrop.lines(rows, x, y)
        is_traffic = request.model not in ("classic", "hierarchical")
        return Panel(
            title,
            tuple(self._series(group, share) for group in groups),
            tuple(line for line in drawn if line.x),
            self.backdrop.boxes(boxed),
            tuple(margins(points, rows, self.kinds, self.at.x if is_traffic else None)),
            tuple(dict.fromkeys(points.device[r] for r in rows if self.kinds[r] == DRAWN)),
            tuple(line for line in drawn if line.kind == "overhead" and not line.x),
        )

    def _series(self, group: SeriesGroup, share: Array) -> RooflineSeries:
        rows, at = group.rows, self.at
        return RooflineSeries(
            self.grouping.kind,
            group.name,
            [self.points.name[row] for row in rows],
            at.x[rows],
            at.y[rows],
            share[rows],
            [self.points.group(row) for row in rows.tolist()],
            None if at.open_x is None else at.open_x[rows],
            None if at.open_y is None else at.open_y[rows],
            list(group.tags),
            [self.found.bound[row] for row in rows],
            pa.array(self.found.roof_ratio[rows], from_pandas=True).to_pylist(),
        )

    def _labelled(self, parts: Sequence[Part]) -> dict[str, list[Any]]:
        """The columns that the chart adds to the points."""
        size = len(self.points)
        columns: dict[str, list[Any]] = {
            name: [None] * size for name in ("panel", "series", "tag", "share_ratio")
        }
        columns["place_kind"] = self.kinds
        for title, rows, groups in parts:
            share = shares(self.points, rows)
            for row in rows:
                columns["panel"][row] = title or None
                columns["share_ratio"][row] = float(share[row])
            for group in groups:
                for place, row in enumerate(group.rows):
                    columns["series"][row] = group.name or None
                    columns["tag"][row] = group.tags[place] if group.tags else None
        return columns


def _require_points(points: LevelPoints, request: RooflineRequest, advice: str) -> None:
    """Raise UsageError, with the most common reasons, unless some point can be drawn."""
    if not len(points):
        whats = {
            "op": "operators",
            "layer": "layers",
            "phase": "phases",
            "configuration": "configurations",
        }
        what = whats.get(request.granularity, "kernels with hardware counters")
        raise UsageError(f"no {what} to draw. {advice}")
    if points.has_place.any():
        return
    if points.is_zero_ai.all():
        raise UsageError(
            f"none of the {len(points)} points has floating-point operations, so none fits "
            "on a logarithmic axis; to count them, use `tracekit query zero_ai_kernels`"
        )
    if points.has_no_bytes.any():
        raise UsageError(
            f"no kernel with operations moved bytes at level {request.level}; use another --level"
        )
    reasons = Counter(reason for reason in points.reason if reason is not None)
    why = "; ".join(in_words(reason) for reason, _ in reasons.most_common(2)) or "no duration"
    if reasons and all(map(is_of_time, reasons)):
        raise UsageError(
            f"the time is unknown for {_unknown(points)} ({why}). --model complexity needs no "
            "time. "
            f"{advice}"
        )
    raise UsageError(
        f"operations, bytes or time are unknown for {_unknown(points)} ({why}). {advice}"
    )


def _unknown(points: LevelPoints) -> str:
    unknown, count = int((~points.is_known).sum()), len(points)
    if count == 1:
        return "the only point"
    if unknown == count:
        return f"any of the {count} points"
    return f"{unknown} of the {count} points, and the others have no floating-point operations"
