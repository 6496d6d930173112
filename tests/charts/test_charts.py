"""Where charts are found: each can be added without a change to another."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from tracekit.charts import BUILT_IN, GROUP, ChartKind, chart_named, chart_names
from tracekit.charts.arrangement import by_name
from tracekit.errors import UsageError
from tracekit.schema import TABLES


class Mine:
    """A chart of another package."""

    name, title, table, options = "mine", "Mine.", "measurement", ()

    def build(self, store: Any, runs: Any, labels: Any, asked: Any) -> Any:
        raise NotImplementedError


class NoChart:
    """Lacks all that a chart has."""


def other_packages(monkeypatch: pytest.MonkeyPatch, **found: str) -> None:
    entries = [EntryPoint(name, value, GROUP) for name, value in found.items()]
    monkeypatch.setattr(
        "tracekit.plugins.entry_points", lambda group: entries if group == GROUP else []
    )


def test_each_of_ours_is_what_its_entry_says() -> None:
    assert chart_names() == [
        "oi_breakdown",
        "fp_width_mix",
        "layers",
        "throughput",
        "memory",
        "ranks",
        "flame",
        "heatmap",
        "box",
        "sensitivity",
        "speedup",
    ]
    for entry in BUILT_IN:
        kind = chart_named(entry.name)
        assert isinstance(kind, ChartKind)
        assert kind.name == entry.name
        assert kind.table in TABLES
        assert re.fullmatch(r"[A-Z].*\.", kind.title)


def test_another_package_adds_a_chart_but_replaces_none(monkeypatch: pytest.MonkeyPatch) -> None:
    other_packages(monkeypatch, mine=f"{__name__}:Mine", throughput=f"{__name__}:NoChart")
    assert chart_names()[-1] == "mine"
    assert isinstance(chart_named("mine"), Mine)
    assert chart_named("throughput").title.startswith("A metric of runs")  # ours


def test_a_chart_that_is_none_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="unknown chart 'pie'; charts: oi_breakdown, fp_width"):
        chart_named("pie")
    other_packages(monkeypatch, gone="no_such_package:Chart", odd="builtins:dict")
    with pytest.raises(
        UsageError, match=r"the chart 'gone' .*cannot be loaded: ModuleNotFoundError: No module"
    ):
        chart_named("gone")
    with pytest.raises(UsageError, match="TypeError: not a chart: it lacks name"):
        chart_named("odd")


def test_names_are_in_the_order_of_their_numbers() -> None:
    names = ["n10", "n2", "n02", "m", "n", f"n{'9' * 5000}", ""]
    assert list(by_name({str(i): name for i, name in enumerate(names)}).values()) == [
        "",
        "m",
        "n",
        "n02",
        "n2",
        "n10",
        f"n{'9' * 5000}",
    ]
