"""The table of a chart: points, ceilings and boxes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tracekit.result import Result, ResultColumn, unit_of
from tracekit.roofline import geometry as geo
from tracekit.roofline.chart import Panel
from tracekit.roofline.figures import PointFigures
from tracekit.roofline.platforms import Machines
from tracekit.roofline.points import LevelPoints
from tracekit.roofline.request import RooflineRequest

_DOUBLE, _TEXT, _INT, _BOOL = pa.float64(), pa.string(), pa.int64(), pa.bool_()
#: name, type, meaning
_COLUMNS: tuple[tuple[str, pa.DataType, str], ...] = (
    ("row_kind", _TEXT, "point, ceiling or box"),
    ("panel", _TEXT, "panel of the row; NULL if there is only one"),
    ("series", _TEXT, "series of the point"),
    ("name", _TEXT, "kernel, operator, class or run; for a ceiling, what it limits: fp32 …"),
    ("run_id", _TEXT, "run"),
    ("tag", _TEXT, "value of the trajectory's label"),
    ("op_class", _TEXT, "for an operator: its class"),
    ("level_name", _TEXT, "memory level: dram, l2 or l1"),
    ("place_kind", _TEXT, "drawn, or why not: zero_ai (no operation), no_bytes, unknown, no_label"),
    ("reason", _TEXT, "why launches are excluded from the point, or no roof_ratio is shown"),
    ("bound_kind", _TEXT, "overhead, latency (below 0.6 of every roof), bandwidth or compute"),
    (
        "intensity_flop_per_byte",
        _DOUBLE,
        "operations / bytes; for a compute ceiling, its ridge point",
    ),
    ("achieved_flop_per_s", _DOUBLE, "operations / time; for a ceiling, its height"),
    ("peak_bytes_per_s", _DOUBLE, "for a ceiling: bandwidth"),
    ("total_flop", _DOUBLE, "operations; for a box, its upper edge"),
    ("total_bytes", _DOUBLE, "bytes at the level; for a box, its right edge"),
    ("known_ns", _DOUBLE, "time of launches with known operations, bytes and time"),
    ("total_ns", _DOUBLE, "time of all launches"),
    ("share_ratio", _DOUBLE, "total_ns / time of all points of the panel"),
    ("launch_count", _INT, "launches"),
    ("known_launch_count", _INT, "launches with known operations, bytes and time"),
    ("compute_ns", _DOUBLE, "operations at peak"),
    ("bandwidth_ns", _DOUBLE, "bytes at peak"),
    ("overhead_ns", _DOUBLE, "launches x time of one launch"),
    ("compute_time_ns", _DOUBLE, "compute time (Wang Y. 2020, eq. 2)"),
    ("bandwidth_time_ns", _DOUBLE, "bandwidth time (Wang Y. 2020, eq. 3)"),
    ("roof_ratio", _DOUBLE, "time at peak / time: 1 is at the roof; NULL above 1.05"),
    (
        "is_above_roof",
        _BOOL,
        "time at peak is above the time: data or peak is wrong, or the clock was higher",
    ),
    ("byte_definition", _TEXT, "paper or vendor (bytes of L2 and L1), modelled (from shapes) …"),
    ("device_name", _TEXT, "device; NULL for several"),
    ("source_text", _TEXT, "for a ceiling: source of the value"),
    ("source_id", _TEXT, "for a launch: source"),
    ("event_id", _INT, "for a launch: position in its source"),
)


def table_of(
    points: LevelPoints,
    found: PointFigures,
    panels: Iterable[Panel],
    machines: Machines,
    labelled: Mapping[str, Sequence[Any]],
    request: RooflineRequest,
) -> Result:
    """The table of all that is in a chart, and of what has no place in it.

    `labelled` has the columns that the chart adds to the points: panel, series, tag and
    share_ratio.
    """
    columns = _point_columns(points, found) | dict(labelled)
    size = len(points)
    rows = pa.table(
        {
            name: pa.array(columns.get(name, [None] * size), kind, from_pandas=True)
            for name, kind, _ in _COLUMNS
        }
    )
    extra = [*_ceiling_rows(panels, machines, request), *_box_rows(panels, request)]
    schema = pa.schema([(name, kind) for name, kind, _ in _COLUMNS])
    table = pa.concat_tables([rows, pa.Table.from_pylist(extra, schema=schema)])
    meanings = tuple(ResultColumn(name, unit_of(name), doc) for name, _, doc in _COLUMNS)
    return Result("roofline", table, meanings)


def _point_columns(points: LevelPoints, found: PointFigures) -> dict[str, Any]:
    return {
        "row_kind": ["point"] * len(points),
        "name": points.name,
        "run_id": points.run,
        "op_class": points.op_class,
        "level_name": points.level,
        "reason": [
            impossible or reason
            for impossible, reason in zip(found.impossible, points.reason, strict=True)
        ],
        "bound_kind": found.bound,
        "intensity_flop_per_byte": found.intensity,
        "achieved_flop_per_s": found.rate,
        "total_flop": points.flop,
        "total_bytes": points.moved,
        "known_ns": points.time_ns,
        "total_ns": points.total_ns,
        "launch_count": points.launches.astype(np.int64),
        "known_launch_count": points.known_launches.astype(np.int64),
        "compute_ns": found.compute_ns,
        "bandwidth_ns": found.bandwidth_ns,
        "overhead_ns": found.overhead_ns,
        "compute_time_ns": found.compute_time_ns,
        "bandwidth_time_ns": found.bandwidth_time_ns,
        "roof_ratio": found.roof_ratio,
        "is_above_roof": found.is_above_roof,
        "byte_definition": points.definition,
        "device_name": points.device,
        "source_id": points.source,
        "event_id": points.event,
    }


def _ceiling_rows(
    panels: Iterable[Panel], machines: Machines, request: RooflineRequest
) -> Iterable[dict[str, Any]]:
    devices = dict.fromkeys(device for panel in panels for device in panel.devices)
    for device in devices:
        platform = machines.platform(device)
        levels = [ceiling for ceiling in platform.bandwidth if ceiling.name in request.levels]
        slowest = min((ceiling.value for ceiling in levels), default=None)
        for ceiling in machines.drawn(device):
            ridge = None if slowest is None else geo.machine_balance(ceiling.value, slowest)
            yield {
                "row_kind": "ceiling",
                "name": ceiling.name,
                "device_name": device,
                "achieved_flop_per_s": ceiling.value,
                "intensity_flop_per_byte": ridge,
                "source_text": ceiling.source,
            }
        for ceiling in levels:
            yield {
                "row_kind": "ceiling",
                "name": ceiling.name,
                "device_name": device,
                "peak_bytes_per_s": ceiling.value,
                "source_text": ceiling.source,
            }
        if platform.launch_ns is not None:
            yield {
                "row_kind": "ceiling",
                "name": "launch_overhead",
                "device_name": device,
                "overhead_ns": platform.launch_ns,
                "launch_count": 1,
            }
    for panel in panels:
        for line in (*panel.lines, *panel.beyond):
            if line.kind == "overhead":
                yield {
                    "row_kind": "ceiling",
                    "name": "overhead",
                    "panel": panel.title or None,
                    "achieved_flop_per_s": line.value,
                    "launch_count": line.launch_count,
                }


def _box_rows(panels: Iterable[Panel], request: RooflineRequest) -> Iterable[dict[str, Any]]:
    is_in_time = request.model == "time"
    for panel in panels:
        for box in panel.boxes:
            yield {
                "row_kind": "box",
                "panel": panel.title or None,
                "series": box.series,
                "name": "overhead",
                "launch_count": box.launch_count,
                "overhead_ns": box.launch_count * box.launch_ns,
                "total_bytes": None if is_in_time else box.x,
                "total_flop": None if is_in_time else box.y,
            }
