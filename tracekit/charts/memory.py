"""Memory of devices by kind over time (Zhu 2018, Fig. 8, as a time series)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tracekit.charts import ChartStore
from tracekit.charts.chart import Area, AreaChart, AreaPanel, ChartAxis, Key
from tracekit.charts.request import ChartRequest
from tracekit.charts.table import INT, TEXT, table_of
from tracekit.errors import UsageError
from tracekit.roofline.points import RunLabels

_KEYS = (
    Key("weights", "weights", "state"),
    Key("weight_gradients", "weight gradients", "state"),
    Key("optimizer_state", "optimizer state", "state"),
    Key("feature_maps", "feature maps", "activations"),
    Key("workspace", "workspace", "scratch"),
    Key("temporary", "temporary", "scratch"),
    Key("input", "input", "other"),
    Key("other", "other", "other"),
    Key("unknown", "kind unknown", "other"),
    Key("unseen", "unseen", "other"),
)
#: Constant memory is below memory that changes.
_STACKED = (_KEYS[-1], *_KEYS[:-1])
_COLUMNS = (
    ("panel", TEXT, "panel"),
    ("elapsed_ns", INT, "time after the first memory event"),
    ("kind", TEXT, "kind of memory"),
    ("allocated_bytes", INT, "amount"),
    ("is_peak", TEXT, "peak: when the total was largest"),
    ("run_name", TEXT, "run"),
    ("rank_index", INT, "rank; NULL if the file does not say"),
    ("device_kind", TEXT, "cpu, cuda, hip, xpu …"),
    ("device_id", INT, "device; NULL for host memory"),
)
_HOST = "cpu"
_POOL = ("source_id", "process_id", "device_kind", "device_id")


class Memory:
    """One panel per device of each run: kinds of memory, stacked, over time."""

    name = "memory"
    title = "Device memory by kind over time."
    table = "memory_event"
    options = ("phase",)

    def build(
        self, store: ChartStore, runs: Mapping[str, str], _labels: RunLabels, asked: ChartRequest
    ) -> AreaChart:
        """The chart of `runs`; UsageError if none has known memory."""
        asked.check_options(self.name, self.options)
        given = {"phase": asked.options.get("phase", "all")}
        rows = [
            {**row, "run_name": name}
            for run, name in runs.items()
            for row in store.query("memory_over_time", {"run_id": run, **given}).rows()
        ]
        return build(rows, asked)


def build(rows: Sequence[Mapping[str, Any]], asked: ChartRequest) -> AreaChart:
    """The chart of rows of the report `memory_over_time`, each with the name of its run.

    Host memory is drawn only if a run has no other.
    """
    pools: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        pools.setdefault((row["run_name"], *(row[name] for name in _POOL)), []).append(row)
    with_device = {key[0] for key in pools if key[3] != _HOST}
    drawn = [own for key, own in pools.items() if key[3] != _HOST or key[0] not in with_device]
    if not drawn:
        raise UsageError(
            "none of the runs has known memory: record with profile_memory=True, and "
            "see `tracekit query memory_coverage`"
        )
    titles = [_title(own[0], is_named=len({key[0] for key in pools}) > 1) for own in drawn]
    panels = tuple(_panel(title, own) for title, own in zip(titles, drawn, strict=True))
    last = max(panel.xs[-1] for panel in panels)
    top = max(max(panel.totals) for panel in panels)
    table = [
        {
            **{name: row[name] for name, *_ in _COLUMNS if name in row},
            "panel": title or None,
            "is_peak": "peak" if row["is_peak"] else None,
        }
        for title, own in zip(titles, drawn, strict=True)
        for row in own
    ]
    return AreaChart(
        Memory.name,
        asked.title,
        ChartAxis("Time", "ns", 0.0, float(last)),
        ChartAxis("Memory", "bytes", 0.0, 1.05 * top),
        _KEYS,
        panels,
        table_of(Memory.name, _COLUMNS, table),
    )


def _title(row: Mapping[str, Any], *, is_named: bool) -> str:
    rank = "" if row["rank_index"] is None else f"rank {row['rank_index']}"
    device = f"{row['device_kind'] or ''} {'' if row['device_id'] is None else row['device_id']}"
    return ", ".join(filter(None, (row["run_name"] if is_named else "", rank, device.strip())))


def _panel(title: str, rows: Sequence[Mapping[str, Any]]) -> AreaPanel:
    """The panel of rows in order of time, several per moment."""
    at: dict[int, dict[str, float]] = {}
    for row in rows:
        at.setdefault(row["elapsed_ns"], {})[row["kind"]] = float(row["allocated_bytes"])
    xs = tuple(map(float, at))
    areas = tuple(
        Area(key.name, tuple(of.get(key.name, 0.0) for of in at.values())) for key in _STACKED
    )
    peaks = {row["elapsed_ns"] for row in rows if row["is_peak"]}
    places = [place for place, x in enumerate(at) if x in peaks]
    return AreaPanel(title, xs, areas, places[0] if places else None)
