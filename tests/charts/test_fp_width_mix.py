"""Shares of floating-point instructions: the whole of a run, or nothing with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from tracekit.charts import chart_named
from tracekit.charts.chart import Bar, BarChart
from tracekit.charts.request import ChartRequest
from tracekit.errors import UsageError
from tracekit.roofline.points import RunLabels

NO_LABELS = RunLabels({}, {})


def built(store: Any, runs: dict[str, str], **options: str) -> BarChart:
    asked = ChartRequest(options=options)
    chart = chart_named("fp_width_mix").build(store, runs, NO_LABELS, asked)
    assert isinstance(chart, BarChart)
    return chart


def bars(chart: BarChart) -> dict[str, Bar]:
    return {group.name: group.bars[0] for panel in chart.panels for group in panel.groups}


def mix(run: str, counts: dict[tuple[str, str], float | None], **more: Any) -> list[dict[str, Any]]:
    """Rows of the report: operations are instructions times elements of 32 or 64 bits."""
    lanes = {"scalar": 1, "128": 4, "256": 8, "512": 16}
    flops = {
        (precision, width): None
        if count is None
        else count * (lanes[width] // 2 or 1 if precision == "fp64" else lanes[width])
        for (precision, width), count in counts.items()
    }

    def share(of: dict[Any, Any], key: Any) -> float | None:
        if None in of.values() or not sum(of.values()):
            return None
        return float(of[key] / sum(of.values()))

    return [
        {
            "name": run,
            "run_id": run,
            "precision_name": precision,
            "width_name": width,
            "inst_count": count,
            "inst_share_ratio": share(counts, (precision, width)),
            "total_flop": flops[precision, width],
            "flop_share_ratio": share(flops, (precision, width)),
        }
        | more
        for (precision, width), count in counts.items()
    ]


def test_shares_of_instructions_and_of_operations(hand_made: Any) -> None:
    rows = mix("r", {("fp32", "512"): 30.0, ("fp64", "scalar"): 10.0, ("fp32", "128"): 0.0})
    store = hand_made("fp_width_mix", {"r": rows})
    assert bars(built(store, {"r": "r"}))["r"].parts == (
        ("fp64_scalar", 0.25),
        ("fp32_128", 0.0),
        ("fp32_512", 0.75),
    )
    chart = built(store, {"r": "r"}, of="flop")  # 30 x 16 = 480 and 10
    assert bars(chart)["r"].parts == (
        ("fp64_scalar", 10 / 490),
        ("fp32_128", 0.0),
        ("fp32_512", 480 / 490),
    )
    assert chart.axis_titles == (("Share of floating-point operations", "ratio"),)
    assert chart.is_of_shares
    assert [key.title for key in chart.used_keys()] == ["FP64 scalar", "FP32 512 bit"]


def test_a_share_that_is_not_known_leaves_no_bar(hand_made: Any) -> None:
    lacks = mix("b", {("fp32", "512"): 30.0, ("fp32", "256"): None})
    lacks[1]["reason"] = "fp_arith…256b: not_counted"
    rows = {
        "a": mix("a", {("fp32", "512"): 30.0}),
        "b": lacks,
        "c": mix("c", {("fp32", "512"): 0.0, ("fp64", "512"): 0.0}),
    }
    chart = built(hand_made("fp_width_mix", rows), {run: run for run in "abcd"})
    found = bars(chart)
    assert found["a"].total == 1.0
    assert {run: bar.reason for run, bar in found.items()} == {
        "a": None,
        "b": "fp_arith…256b: not_counted",
        "c": "no floating-point instructions: nothing has a share",
        "d": "the run has no counters of floating-point instructions",
    }
    told = [(row["run_id"], row["reason"]) for row in chart.data.rows()]
    assert told == [(run, found[run].reason) for run in "abbccd"]


def test_what_cannot_be_asked_is_said(hand_made: Any) -> None:
    store = hand_made("fp_width_mix", {"r": mix("r", {("fp32", "512"): 1.0})})
    with pytest.raises(UsageError, match="--of: invalid value 'bytes'; use one of: inst, flop"):
        built(store, {"r": "r"}, of="bytes")
    with pytest.raises(UsageError, match="none of the runs has counters of floating-point"):
        built(store, {"q": "q"})


def test_many_runs_are_asked_for_at_once(hand_made: Any) -> None:
    rows = {f"r{n}": mix(f"r{n}", {("fp32", "512"): 1.0}) for n in range(8)}
    store = hand_made("fp_width_mix", rows)
    chart = built(store, {run: run for run in rows if run != "r7"})
    assert store.asked == [{"runs": [f"r{n}" for n in range(7)]}]
    assert list(bars(chart)) == [f"r{n}" for n in range(7)]
