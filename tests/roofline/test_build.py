"""Charts from rows written by hand, with coordinates worked out by hand.

The device: 1000 FP32 and 10000 tensor operations and 100 bytes of DRAM a ns, a launch takes
1000 ns. FP32 and DRAM meet at 10 FLOP/byte. The points:

gemm   two launches, 4e6 FLOP, 1e5 bytes, 8000 ns: 40 FLOP/byte, 5e11 FLOP/s; 4000 and 1000 ns
       at peak, launches 2000 ns: compute, half the roof
relu   1e5 FLOP, 4e5 bytes, 5000 ns: 0.25 FLOP/byte, 2e10 FLOP/s; 100 and 4000 ns: bandwidth
tiny   1e3 FLOP, 1e2 bytes, 2000 ns: 10 FLOP/byte, 5e8 FLOP/s; 1 and 1 ns: overhead
pad    three launches, no operation, 4e5 bytes, 4000 ns
still  5e3 FLOP, no byte, 500 ns
lost   500 ns; its operations were not collected

All together 20000 ns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from tracekit.engine import values_of
from tracekit.errors import UsageError
from tracekit.result import Result, unit_of
from tracekit.roofline.build import build
from tracekit.roofline.chart import Chart, Panel, RooflineLine, RooflineSeries
from tracekit.roofline.points import RunLabels
from tracekit.roofline.request import RooflineRequest

Row = dict[str, Any]
Draw = Callable[..., Chart]

FP32, TENSOR, DRAM, L2, L1, LAUNCH_NS = 1e12, 1e13, 1e11, 4e11, 8e11, 1000.0


def point(
    name: str,
    flop: float | None,
    moved: float | None,
    time: int | None,
    launches: int = 1,
    **more: Any,
) -> Row:
    """A row of `roofline_points`; unknown where `flop` is None."""
    row = {
        "run_id": "r",
        "run_name": "train",
        "name": name,
        "level_name": "dram",
        "launch_count": launches,
        "known_launch_count": 0,
        "total_ns": time,
        "device_name": "Box",
        "zero_launch_count": launches if flop == 0 else 0,
        "zero_ns": time if flop == 0 else 0,
    }
    if flop is not None and moved is not None:
        row |= {
            "known_launch_count": launches,
            "known_ns": time,
            "known_flop": flop,
            "known_bytes": moved,
            "compute_ns": flop / 1000,
            "bandwidth_ns": moved / 100,
            "launch_ns": LAUNCH_NS,
        }
    return row | more


GEMM = point("gemm", 4e6, 1e5, 8000, 2)
RELU = point("relu", 1e5, 4e5, 5000)
TINY = point("tiny", 1e3, 1e2, 2000)
PAD = point("pad", 0.0, 4e5, 4000, 3)
STILL = point("still", 5e3, 0.0, 500)
LOST = point("lost", None, None, 500, reason="fp32: not_collected")
POINTS = [GEMM, RELU, PAD, TINY, LOST, STILL]


def ceiling(name: str, device: str | None = "Box", **more: Any) -> Row:
    """A row of `roofline_ceilings`."""
    return {
        "device_name": device,
        "ceiling_name": name,
        "origin_kind": "user",
        "source_text": "mine",
        "total_ns": 20000,
    } | more


CEILINGS = [
    ceiling("tensor_fp16", ceiling_kind="compute", peak_flop_per_s=TENSOR, work_flop=0.0),
    ceiling("fp32", ceiling_kind="compute", peak_flop_per_s=FP32, work_flop=4106000.0),
    ceiling("fp64", ceiling_kind="compute", peak_flop_per_s=1e10),
    ceiling("l1", ceiling_kind="bandwidth", peak_bytes_per_s=L1),
    ceiling("l2", ceiling_kind="bandwidth", peak_bytes_per_s=L2),
    ceiling("dram", ceiling_kind="bandwidth", peak_bytes_per_s=DRAM, work_bytes=900100.0),
    ceiling("launch_overhead", ceiling_kind="launch_overhead", overhead_ns=LAUNCH_NS),
]


@pytest.fixture
def draw(answer: Callable[[str, Sequence[Row]], Result]) -> Draw:
    """Builds a chart from rows of points and ceilings and the labels of runs."""

    def make(
        rows: Sequence[Row] = POINTS,
        ceilings: Sequence[Row] = CEILINGS,
        labels: Mapping[str, Mapping[str, str]] | None = None,
        **asked: Any,
    ) -> Chart:
        def number(text: str) -> float | None:
            return float(text) if text.isdecimal() else None

        named = [
            {
                "run_id": run,
                "run_name": run,
                "label_name": name,
                "label_value": text,
                "label_number": number(text),
            }
            for run, values in (labels or {}).items()
            for name, text in values.items()
        ]
        return build(
            RooflineRequest(**asked),
            [answer("roofline_points", rows)],
            [answer("roofline_ceilings", ceilings)],
            RunLabels.of(answer("run_labels", named)),
            values_of,
        )

    return make


def only(chart: Chart) -> Panel:
    (panel,) = chart.panels
    return panel


def placed(panel: Panel) -> dict[str, list[tuple[str, float, float]]]:
    """The points of each series."""
    return {
        series.name: list(zip(series.names, series.x.tolist(), series.y.tolist(), strict=True))
        for series in panel.series
    }


def of_kind(panel: Panel, kind: str) -> list[RooflineLine]:
    return [line for line in panel.lines if line.kind == kind]


def corners(panel: Panel) -> list[tuple[float, float, int]]:
    return [(box.x, box.y, box.launch_count) for box in panel.boxes]


def rows_of(chart: Chart, kind: str, *columns: str) -> list[tuple[Any, ...]]:
    return [
        tuple(row[column] for column in columns)
        for row in chart.data.rows()
        if row["row_kind"] == kind
    ]


# -- classic --------------------------------------------------------------------------------------


def test_a_classic_roofline(draw: Draw) -> None:
    chart = draw()
    panel = only(chart)
    assert (chart.x.unit, chart.y.unit) == ("flop/byte", "flop/s")
    assert placed(panel) == {
        "bandwidth": [("relu", 0.25, 2e10)],
        "latency": [("gemm", 40.0, 5e11)],  # half of its roof
        "overhead": [("tiny", 10.0, 5e8)],
    }
    assert {series.kind for series in panel.series} == {"bound"}
    # 5000, 8000 and 2000 of 20000 ns
    assert [series.share_ratio.tolist() for series in panel.series] == [[0.25], [0.4], [0.1]]
    assert panel.boxes == ()


def test_the_roof_of_what_was_used_is_drawn(draw: Draw) -> None:
    chart = draw()
    (compute,) = of_kind(only(chart), "compute")
    assert (compute.names, compute.value, compute.unit) == (("fp32",), FP32, "flop/s")
    assert (compute.x, compute.y) == ((10.0, chart.x.high), (FP32, FP32))  # from the ridge on
    assert compute.is_roof
    (bandwidth,) = of_kind(only(chart), "bandwidth")
    assert (bandwidth.names, bandwidth.value, bandwidth.unit) == (("dram",), DRAM, "bytes/s")
    assert (bandwidth.x[-1], bandwidth.y[-1]) == (10.0, FP32)  # up to the ridge
    assert bandwidth.x[0] == chart.x.low
    assert bandwidth.y[0] == pytest.approx(chart.x.low * DRAM, rel=1e-12)
    assert bandwidth.is_roof


def test_the_overhead_ceiling_is_all_work_over_all_launches(draw: Draw) -> None:
    (line,) = of_kind(only(draw()), "overhead")
    # 4e6 + 1e5 + 1e3 + 0 + 5e3 FLOP in 2 + 1 + 1 + 3 + 1 launches of 1 us; lost is not known
    assert line.value == pytest.approx(4106000 / 8e-6, rel=1e-12)
    assert line.launch_count == 8
    assert not line.is_roof


def test_an_overhead_ceiling_far_above_the_roof_is_left_out(draw: Draw) -> None:
    assert not of_kind(only(draw(launch_ns=1e-3)), "overhead")


def test_axes_hold_the_points_and_the_ridge(draw: Draw) -> None:
    chart = draw(rows=[point("k", 1e3, 1e4, 1000)])  # 0.1 FLOP/byte, 1e9 FLOP/s
    assert 0.1 / 2 < chart.x.low < 0.1
    assert 10 < chart.x.high < 20
    assert 1e9 / 2 < chart.y.low < 1e9
    assert 1e12 < chart.y.high < 2e12


@pytest.mark.parametrize("model", ["classic", "hierarchical", "complexity", "time", "4d"])
def test_all_that_is_drawn_is_within_the_axes(draw: Draw, model: str) -> None:
    chart = draw(model=model)
    panel = only(chart)
    found = [(line.x, line.y) for line in panel.lines]
    for series in panel.series:
        found.append((tuple(series.x), tuple(series.y)))
        if series.open_x is not None and series.open_y is not None:
            found.append((tuple(series.open_x), tuple(series.open_y)))
    found += [((box.x,), (box.y,)) for box in panel.boxes]
    assert found
    for xs, ys in found:
        assert len(xs) == len(ys) > 0
        assert all(chart.x.low * (1 - 1e-12) <= x <= chart.x.high * (1 + 1e-12) for x in xs)
        assert all(chart.y.low * (1 - 1e-12) <= y <= chart.y.high * (1 + 1e-12) for y in ys)


def test_what_has_no_place_stands_in_the_margins(draw: Draw) -> None:
    zero, still, lost = only(draw()).margins
    assert (zero.kind, zero.group_count, zero.launch_count) == ("zero_ai", 1, 3)
    assert (still.kind, still.group_count, still.launch_count) == ("no_bytes", 1, 1)
    assert (lost.kind, lost.group_count, lost.launch_count) == ("unknown", 1, 1)
    # 4000, 500 and 500 of 20000 ns
    assert [m.share_ratio for m in (zero, still, lost)] == pytest.approx([0.2, 0.025, 0.025])
    assert [m.reason for m in (zero, still, lost)] == [None, None, "fp32: not_collected"]
    assert zero.x == ()  # no intensity, so no place on an axis of it


def test_the_reason_of_the_longest_is_told(draw: Draw) -> None:
    more = [
        point("short", None, None, 200, reason="dram: not_collected"),
        point("short too", None, None, 299, reason="dram: not_collected"),
        point("untimed", None, None, None, 5, reason="duration: nan"),
    ]
    (lost,) = [m for m in only(draw(rows=[*POINTS, *more])).margins if m.kind == "unknown"]
    # 500 of fp32 against 200 + 299 of dram; 999 of 20499 ns, launches 1 + 1 + 1 + 5
    assert (lost.reason, lost.group_count, lost.launch_count) == ("fp32: not_collected", 4, 8)
    assert lost.share_ratio == pytest.approx(999 / 20499, rel=1e-12)


def test_a_time_that_is_not_known_is_not_zero(draw: Draw) -> None:
    chart = draw(rows=[GEMM, point("untimed", None, None, None, reason="duration: nan")])
    (lost,) = only(chart).margins
    assert lost.share_ratio is None
    assert rows_of(chart, "point", "name", "total_ns", "share_ratio") == [
        ("gemm", 8000.0, 1.0),
        ("untimed", None, None),
    ]


# -- peaks ----------------------------------------------------------------------------------------


def test_a_peak_that_is_asked_for_is_the_roof_of_all(draw: Draw) -> None:
    chart = draw(ceiling="tensor_fp16")
    tensor, fp32 = of_kind(only(chart), "compute")
    assert (tensor.names, tensor.is_roof) == (("tensor_fp16",), True)
    assert (fp32.names, fp32.is_roof) == (("fp32",), False)
    assert (tensor.x[0], fp32.x[0]) == (100.0, 10.0)  # 1e13 and 1e12 over 1e11
    (bandwidth,) = of_kind(only(chart), "bandwidth")
    assert (bandwidth.x[-1], bandwidth.y[-1]) == (100.0, TENSOR)
    # 4e6 / 10000; 1000 ns of bytes; below 2000 ns of launches
    columns = ("name", "compute_ns", "bandwidth_ns", "bound_kind")
    assert rows_of(chart, "point", *columns)[0] == ("gemm", 400.0, 1000.0, "overhead")


def test_each_point_has_the_peaks_of_its_precisions(draw: Draw) -> None:
    # of 4e6 FLOP 3e6 were FP32 and 1e6 tensor: 3000 + 100 ns; a chart of one peak asks for one
    mixed = GEMM | {"compute_ns": 3100.0}
    used = [CEILINGS[0] | {"work_flop": 1e6}, *CEILINGS[1:]]
    (row,) = rows_of(draw(rows=[mixed], ceilings=used), "point", "compute_ns", "roof_ratio")
    assert row == (3100.0, 3100 / 8000)
    for model in ("complexity", "time"):
        (row,) = rows_of(draw(rows=[mixed], ceilings=used, model=model), "point", "compute_ns")
        assert row == (3100.0,)
    (row,) = rows_of(draw(rows=[mixed], ceilings=used, model="4d"), "point", "compute_ns")
    assert row == (400.0,)  # 4e6 / 10000: a fifth of all operations was done under that peak


def test_a_complexity_plane_needs_no_times(draw: Draw) -> None:
    untimed = {"total_ns": None, "known_ns": None, "zero_ns": None}
    chart = draw(rows=[row | untimed for row in (GEMM, RELU, PAD)], model="complexity")
    panel = only(chart)
    assert placed(panel) == {"compute": [("gemm", 1e5, 4e6)], "bandwidth": [("relu", 4e5, 1e5)]}
    assert all(np.isnan(series.share_ratio).all() for series in panel.series)
    assert [(margin.kind, margin.launch_count, margin.share_ratio) for margin in panel.margins] == [
        ("zero_ai", 3, None)
    ]
    columns = ("name", "share_ratio", "achieved_flop_per_s", "roof_ratio", "bound_kind")
    assert rows_of(chart, "point", *columns) == [
        ("gemm", None, None, None, "compute"),
        ("relu", None, None, None, "bandwidth"),
        ("pad", None, None, None, "bandwidth"),
    ]


def test_without_a_peak_of_its_own_a_point_has_no_place_in_the_time_plane(draw: Draw) -> None:
    for lacking in ("compute_ns", "bandwidth_ns"):
        rows = [GEMM, RELU | {lacking: None}]
        panel = only(draw(rows=rows, model="time"))
        assert [series.names for series in panel.series] == [["gemm"]]
        (margin,) = panel.margins
        assert (margin.kind, margin.launch_count) == ("unknown", 1)
        assert margin.share_ratio == 5000 / 13000
        assert margin.reason == "no peak known for its precisions"
    held = only(draw(rows=rows, model="time", ceiling="fp32"))
    assert [name for series in held.series for name in series.names] == ["relu", "gemm"]
    with pytest.raises(UsageError, match=r"known for the device 'Box'\. Compare all points with"):
        draw(rows=rows[1:], model="time")


def test_ceilings_of_one_height_are_one_line(draw: Draw) -> None:
    more = [*CEILINGS, ceiling("fp16", peak_flop_per_s=FP32, work_flop=1.0)]
    (line,) = of_kind(only(draw(ceilings=more)), "compute")
    assert line.names == ("fp16", "fp32")


def test_integers_of_tensor_cores_are_no_roof(draw: Draw) -> None:
    more = [*CEILINGS, ceiling("tensor_int8", peak_flop_per_s=9e15, work_flop=1e9)]
    assert [line.names for line in of_kind(only(draw(ceilings=more)), "compute")] == [("fp32",)]
    with pytest.raises(UsageError, match=r"no peak 'tensor_int8' is known for the device 'Box'"):
        draw(ceilings=more, ceiling="tensor_int8")


def test_a_point_above_its_roof_is_told(draw: Draw) -> None:
    fast = GEMM | {"name": "fast", "known_ns": 2000, "total_ns": 2000}  # 4000 ns at peak
    exact = GEMM | {"name": "exact", "known_ns": 4000, "total_ns": 4000}
    chart = draw(rows=[fast, exact, GEMM, LOST])
    assert rows_of(chart, "point", "name", "roof_ratio", "is_above_roof") == [
        ("fast", None, True),  # 2
        ("exact", 1.0, False),
        ("gemm", 0.5, False),
        ("lost", None, None),
    ]
    assert ("fast", 40.0, 2e12) in placed(only(chart))["compute"]  # as it is, not clipped


def test_without_a_launch_overhead_there_is_neither_ceiling_nor_box(draw: Draw) -> None:
    rows = [row | {"launch_ns": None} for row in (GEMM, RELU, TINY)]
    chart = draw(rows=rows, ceilings=CEILINGS[:-1])
    assert not of_kind(only(chart), "overhead")
    assert set(placed(only(chart))) == {"latency", "bandwidth"}  # tiny: 1 and 1 ns
    assert not only(draw(rows=rows, ceilings=CEILINGS[:-1], model="complexity")).boxes


def test_a_launch_overhead_of_the_user_goes_before(draw: Draw) -> None:
    chart = draw(launch_ns=3000.0)
    # launches of gemm take 6000 ns, and it 4000 at peak; relu's 4000 ns are above 3000
    assert {name: [p[0] for p in found] for name, found in placed(only(chart)).items()} == {
        "bandwidth": ["relu"],
        "overhead": ["gemm", "tiny"],
    }
    (line,) = of_kind(only(chart), "overhead")
    assert line.value == pytest.approx(4106000 / 24e-6, rel=1e-12)
    names = [row[0] for row in rows_of(chart, "ceiling", "name", "overhead_ns") if row[1] == 3000]
    assert names == ["launch_overhead"]


# -- hierarchical ---------------------------------------------------------------------------------

#: gemm moves more at the levels that are nearer; of relu L1 was not collected.
LEVELS = [
    GEMM | {"memory_ns": 5000.0},
    GEMM | {"level_name": "l2", "known_bytes": 8e5, "bandwidth_ns": 2000.0, "memory_ns": 5000.0},
    GEMM | {"level_name": "l1", "known_bytes": 4e6, "bandwidth_ns": 5000.0, "memory_ns": 5000.0},
    RELU,
    RELU | {"level_name": "l2", "known_bytes": 5e5, "bandwidth_ns": 1250.0},
    point("relu", None, None, 5000, level_name="l1", reason="l1: not_collected"),
]


def test_a_hierarchical_roofline(draw: Draw) -> None:
    chart = draw(rows=LEVELS, model="hierarchical")
    panel = only(chart)
    # 4e6 over 1e5, 8e5, 4e6; 1e5 over 4e5, 5e5; the rate is the same at every level
    assert placed(panel) == {
        "dram": [("gemm", 40.0, 5e11), ("relu", 0.25, 2e10)],
        "l2": [("gemm", 5.0, 5e11), ("relu", 0.2, 2e10)],
        "l1": [("gemm", 1.0, 5e11)],
    }
    # what is one kernel is told by its group
    assert len({group for series in panel.series for group in series.group}) == 2
    assert panel.series[0].group == panel.series[1].group
    assert [series.kind for series in panel.series] == ["level"] * 3
    # one line a level up to its ridge, the highest bandwidth first
    lines = [(line.names, line.x[-1], line.is_roof) for line in of_kind(panel, "bandwidth")]
    assert lines == [(("l1",), 1.25, True), (("l2",), 2.5, True), (("dram",), 10.0, True)]
    (compute,) = of_kind(panel, "compute")
    assert compute.x[0] == 1.25  # it starts where the widest line ends


def test_a_kernel_at_several_levels_counts_once(draw: Draw) -> None:
    pads = [PAD | {"level_name": level} for level in ("dram", "l2", "l1")]
    panel = only(draw(rows=[*LEVELS, *pads], model="hierarchical"))
    (zero,) = [margin for margin in panel.margins if margin.kind == "zero_ai"]
    # 4000 of 8000 + 5000 + 4000 ns
    assert (zero.group_count, zero.launch_count) == (1, 3)
    assert zero.share_ratio == pytest.approx(4 / 17, rel=1e-12)
    assert panel.series[0].share_ratio.tolist() == pytest.approx([8 / 17, 5 / 17], rel=1e-12)
    (line,) = of_kind(panel, "overhead")
    assert line.value == pytest.approx(4.1e6 / 6e-6, rel=1e-12)


def test_a_bound_is_of_its_level(draw: Draw) -> None:
    chart = draw(rows=LEVELS, model="hierarchical")
    # gemm, launches 2000 ns: 4000 of operations against 1000, 2000 and 5000 ns of bytes, of 8000
    assert rows_of(chart, "point", "name", "level_name", "bound_kind")[:3] == [
        ("gemm", "dram", "compute"),
        ("gemm", "l2", "compute"),
        ("gemm", "l1", "bandwidth"),
    ]


def test_launches_of_one_name_are_kernels_of_their_own(draw: Draw) -> None:
    rows = [row | {"event_id": number} for number in (7, 9) for row in LEVELS[:3]]
    panel = only(draw(rows=rows, model="hierarchical", by="launch"))
    assert len({group for series in panel.series for group in series.group}) == 2


# -- complexity -----------------------------------------------------------------------------------


def test_a_complexity_plane(draw: Draw) -> None:
    chart = draw(model="complexity")
    panel = only(chart)
    assert (chart.x.unit, chart.y.unit) == ("bytes", "flop")
    assert placed(panel) == {
        "bandwidth": [("relu", 4e5, 1e5)],
        "latency": [("gemm", 1e5, 4e6)],
        "overhead": [("tiny", 1e2, 1e3)],
    }
    # one launch is 100 bytes and 1000 FLOP a ns in 1000 ns; gemm has two
    assert corners(panel) == [(1e5, 1e6, 1), (2e5, 2e6, 2)]
    (balance,) = of_kind(panel, "balance")
    assert (balance.names, balance.value, balance.is_roof) == (("fp32",), 10.0, True)
    for x, y in zip(balance.x, balance.y, strict=True):
        assert y / x == pytest.approx(10, rel=1e-12)
    diagonals = of_kind(panel, "intensity")
    assert 2 < len(diagonals) <= 6  # of the nine decades there are
    assert {line.value for line in diagonals} < {10.0**power for power in range(-3, 6)}
    for line in diagonals:
        for x, y in zip(line.x, line.y, strict=True):
            assert y / x == pytest.approx(line.value, rel=1e-12)


def test_a_plane_may_hold_no_decade(draw: Draw) -> None:
    # 3.2 FLOP/byte, and 1.6 times that and less on both axes: between 1.25 and 8.2
    chart = draw(rows=[point("k", 3.2e6, 1e6, 20000)], ceilings=CEILINGS[:-1], model="complexity")
    assert (chart.x.low, chart.y.high) == pytest.approx((1e6 / 1.6, 3.2e6 * 1.6))
    assert not of_kind(only(chart), "intensity")


def test_what_did_nothing_has_its_bytes_on_the_axis(draw: Draw) -> None:
    (zero,) = [m for m in only(draw(model="complexity")).margins if m.kind == "zero_ai"]
    assert zero.x == (4e5,)


def test_of_many_boxes_the_smallest_and_the_largest_are_drawn(draw: Draw) -> None:
    rows = [point(f"k{n}", 1e6, 1e5, 5000, n) for n in (5, 2, 9, 3)]
    assert corners(only(draw(rows=rows, model="complexity"))) == [(2e5, 2e6, 2), (9e5, 9e6, 9)]
    assert corners(only(draw(rows=rows[:3], model="complexity"))) == [
        (2e5, 2e6, 2),
        (pytest.approx(5e5), pytest.approx(5e6), 5),
        (9e5, 9e6, 9),
    ]


def test_launches_of_what_is_not_drawn_do_not_widen_the_axes(draw: Draw) -> None:
    many = point("copies", 0.0, 1e3, 1000, 10**9)
    assert draw(rows=[GEMM, many], model="complexity").x == draw(rows=[GEMM], model="complexity").x


def test_the_lstm_of_the_paper_is_overhead_bound(draw: Draw) -> None:
    # 36 launches of 4.2 us: at V100's 107.479 TFLOP/s and 828.8 GB/s 16.25 GFLOP and 125.3 MB
    peaks = [
        ceiling("tensor_fp16", peak_flop_per_s=107_479e9, work_flop=1.5e8),
        ceiling("dram", peak_bytes_per_s=828.8e9),
        ceiling("launch_overhead", overhead_ns=4200.0),
    ]
    run = point("lstm", 1.5e8, 2e7, 400_000, 36, bandwidth_ns=2e7 / 828.8, launch_ns=4200.0)
    panel = only(draw(rows=[run], ceilings=peaks, model="complexity", by="run"))
    assert placed(panel) == {"overhead": [("lstm", 2e7, 1.5e8)]}
    (box,) = panel.boxes
    assert (box.x, box.y) == pytest.approx((125_314_560, 16_250_824_800), rel=1e-12)
    assert (box.launch_count, box.launch_ns) == (36, 4200.0)
    (balance,) = of_kind(panel, "balance")
    assert balance.value == pytest.approx(129.68, abs=0.005)
    assert box.y / box.x == pytest.approx(balance.value, rel=1e-12)


# -- time -----------------------------------------------------------------------------------------


def test_a_time_plane(draw: Draw) -> None:
    chart = draw(model="time")
    panel = only(chart)
    assert (chart.x.unit, chart.y.unit) == ("ns", "ns")
    assert (chart.x.low, chart.x.high) == (chart.y.low, chart.y.high)
    # gemm 8000 * 10 / 40, relu 5000 * 0.25 / 10, tiny is on the machine balance
    assert placed(panel) == {
        "bandwidth": [("relu", 5000.0, 125.0)],
        "latency": [("gemm", 2000.0, 8000.0)],
        "overhead": [("tiny", 2000.0, 2000.0)],
    }
    assert corners(panel) == [(1000.0, 1000.0, 1), (2000.0, 2000.0, 2)]
    (balance,) = of_kind(panel, "balance")
    assert balance.x == balance.y
    # a run time is the longer of both: an L with its corner on the diagonal
    assert [line.value for line in of_kind(panel, "time")] == [100.0, 1000.0, 10000.0]
    for line in of_kind(panel, "time"):
        assert (line.x[1], line.y[1]) == (line.value, line.value)
        assert (line.y[0], line.x[2]) == (line.value, line.value)
    (zero,) = [m for m in panel.margins if m.kind == "zero_ai"]
    assert zero.x == (4000.0,)  # the time of pad is bandwidth time


# -- 4-D ------------------------------------------------------------------------------------------


def opened(panel: Panel) -> dict[str, tuple[float, float]]:
    found: dict[str, tuple[float, float]] = {}
    for series in panel.series:
        assert series.open_x is not None
        assert series.open_y is not None
        for name, x, y in zip(series.names, series.open_x, series.open_y, strict=True):
            found[name] = float(x), float(y)
    return found


def test_a_4d_chart_has_two_symbols_a_point(draw: Draw) -> None:
    chart = draw(model="4d")
    panel = only(chart)
    assert placed(panel) == placed(only(draw(model="complexity")))
    # times of the time plane by 100 bytes and 1000 FLOP a ns; gemm is twice as far from the
    # origin (half its roof), relu 1.25 times (4000 of 5000 ns), tiny 2000 times
    assert opened(panel) == {"gemm": (2e5, 8e6), "relu": (5e5, 1.25e5), "tiny": (2e5, 2e6)}
    assert (chart.seconds_x, chart.seconds_y) == (DRAM, FP32)
    assert corners(panel) == [(1e5, 1e6, 1), (2e5, 2e6, 2)]


def test_at_the_roof_both_symbols_are_in_one_place(draw: Draw) -> None:
    roof = [
        point("compute", 3e6, 7e4, 3000),  # 3000 ns at peak
        point("memory", 3e5, 7e5, 7000),
        point("both", 5e6, 5e5, 5000),
    ]
    panel = only(draw(rows=roof, model="4d"))
    for series in panel.series:
        assert series.open_x == pytest.approx(series.x, rel=1e-12)
        assert series.open_y == pytest.approx(series.y, rel=1e-12)


# -- runs, trajectories, panels -------------------------------------------------------------------


def run(name: str, row: Row, **more: Any) -> Row:
    return row | {"run_id": name, "run_name": name, "name": name} | more


SWEEP = [run(f"b{n}", point("", n * 1e6, n * 1e5, n * 2000)) for n in (128, 16, 64, 8)]
BATCHES = {f"b{n}": {"batch": str(n)} for n in (128, 16, 64, 8)}


@pytest.mark.parametrize("model", ["classic", "complexity", "time", "4d"])
def test_a_trajectory_goes_by_the_size_of_a_number(draw: Draw, model: str) -> None:
    chart = draw(rows=SWEEP, labels=BATCHES, model=model, trajectory="batch")
    (series,) = only(chart).series
    assert (series.kind, series.name) == ("trajectory", "")
    assert series.tags == ["8", "16", "64", "128"]
    assert series.names == ["b8", "b16", "b64", "b128"]
    assert chart.trajectory_label == "batch"


def test_values_that_are_no_numbers_come_last(draw: Draw) -> None:
    labels = BATCHES | {"b8": {"batch": "full"}, "b64": {"batch": "empty"}}
    (series,) = only(draw(rows=SWEEP, labels=labels, trajectory="batch")).series
    assert series.tags == ["16", "128", "empty", "full"]


def test_series_are_told_apart_by_labels(draw: Draw) -> None:
    labels = {
        "b8": {"batch": "8", "framework": "torch", "precision": "16"},
        "b16": {"batch": "16", "framework": "torch", "precision": "16"},
        "b64": {"batch": "64", "framework": "jax", "precision": "16"},
        "b128": {"batch": "128", "framework": "jax"},
    }
    chart = draw(rows=SWEEP, labels=labels, trajectory="batch", series=("framework", "precision"))
    found = {series.name: series.tags for series in only(chart).series}
    assert found == {"jax, 16": ["64"], "jax, no precision": ["128"], "torch, 16": ["8", "16"]}
    assert list(found) == ["jax, 16", "jax, no precision", "torch, 16"]
    assert chart.series_title == "framework · precision"
    assert sorted(rows_of(chart, "point", "name", "series", "tag")) == [
        ("b128", "jax, no precision", "128"),
        ("b16", "torch, 16", "16"),
        ("b64", "jax, 16", "64"),
        ("b8", "torch, 16", "8"),
    ]


def test_a_trajectory_of_each_kernel(draw: Draw) -> None:
    rows = [
        row | {"run_id": name, "run_name": name} for name in ("b16", "b8") for row in (GEMM, RELU)
    ]
    chart = draw(rows=rows, labels=BATCHES, trajectory="batch", by="name")
    assert {series.name: series.tags for series in only(chart).series} == {
        "gemm": ["8", "16"],
        "relu": ["8", "16"],
    }


def test_boxes_of_trajectories_say_whose_they_are(draw: Draw) -> None:
    rows = [run("b8", point("", 1e6, 1e5, 9000, 2)), run("b16", point("", 2e6, 1e5, 9000, 5))]
    labels = {"b8": {"batch": "8", "net": "a"}, "b16": {"batch": "16", "net": "b"}}
    asked: Row = {"model": "complexity", "trajectory": "batch", "series": ("net",)}
    boxes = only(draw(rows=rows, labels=labels, **asked)).boxes
    assert [(box.launch_count, box.series) for box in boxes] == [(2, "a"), (5, "b")]


def test_runs_without_the_label_are_in_no_trajectory(draw: Draw) -> None:
    rows = [*SWEEP, run("plain", GEMM)]
    (series,) = only(draw(rows=rows, labels=BATCHES, trajectory="batch")).series
    assert "plain" not in series.names


def test_a_panel_a_value_of_a_label(draw: Draw) -> None:
    labels = {"b8": {"depth": "18"}, "b16": {"depth": "101"}, "b64": {"depth": "18"}}
    more = point("", 5e6, 1e5, 2000, 2)
    rows = [run("b128", more), run("b16", GEMM), run("b64", GEMM), run("b8", more)]
    chart = draw(rows=rows, labels=labels, panels="depth", by="run")
    # numbers by size, then the run that has no depth
    assert [panel.title for panel in chart.panels] == ["depth = 18", "depth = 101", "no depth"]
    names = [[name for s in panel.series for name in s.names] for panel in chart.panels]
    assert [sorted(one) for one in names] == [["b64", "b8"], ["b16"], ["b128"]]
    # shares are of the panel: 8000 and 2000 ns
    assert rows_of(chart, "point", "name", "panel", "share_ratio") == [
        ("b128", "no depth", 1.0),
        ("b16", "depth = 101", 1.0),
        ("b64", "depth = 18", 0.8),
        ("b8", "depth = 18", 0.2),
    ]
    # and so is the overhead ceiling: 9e6 FLOP in 4 launches of 1 us, 4e6 and 5e6 in two
    values = rows_of(chart, "ceiling", "panel", "achieved_flop_per_s", "launch_count")[-3:]
    assert values == [
        ("depth = 18", pytest.approx(2.25e12), 4),
        ("depth = 101", pytest.approx(2e12), 2),
        ("no depth", pytest.approx(2.5e12), 2),
    ]


def test_a_panel_without_points_does_not_stop_the_others(draw: Draw) -> None:
    rows = [*SWEEP[:2], run("idle", PAD)]
    labels = BATCHES | {"idle": {"batch": "1", "phase": "backward"}}
    labels |= {name: BATCHES[name] | {"phase": "forward"} for name in ("b128", "b16")}
    backward, forward = draw(rows=rows, labels=labels, trajectory="batch", panels="phase").panels
    assert (backward.series, [m.kind for m in backward.margins]) == ((), ["zero_ai"])
    assert forward.series[0].tags == ["16", "128"]


def test_several_runs_are_series_of_their_own(draw: Draw) -> None:
    rows = [GEMM, RELU, GEMM | {"run_id": "s", "run_name": "other"}]
    panel = only(draw(rows=rows))
    assert {name: [p[0] for p in found] for name, found in placed(panel).items()} == {
        "train": ["gemm", "relu"],
        "other": ["gemm"],
    }
    assert {series.kind for series in panel.series} == {"run"}
    assert panel.series[0].bound_kinds == ["latency", "bandwidth"]


# -- several devices ------------------------------------------------------------------------------

#: Half as fast, twice the bandwidth, and less time: 500 FLOP and 200 bytes a ns.
SMALL = [
    ceiling("fp32", "Small", peak_flop_per_s=5e11, work_flop=1.0, total_ns=10),
    ceiling("dram", "Small", peak_bytes_per_s=2e11, total_ns=10),
    ceiling("launch_overhead", "Small", overhead_ns=500.0, total_ns=10),
]
ON_SMALL = point(
    "gemm",
    4e6,
    1e5,
    10000,
    device_name="Small",
    run_id="s",
    run_name="small",
    compute_ns=8000.0,
    bandwidth_ns=500.0,
    launch_ns=500.0,
)


def test_each_device_has_its_roof(draw: Draw) -> None:
    chart = draw(rows=[GEMM, ON_SMALL], ceilings=[*SMALL, *CEILINGS])
    panel = only(chart)
    assert panel.devices == ("Box", "Small")
    lines = [(line.device_name, line.value, line.x[0]) for line in of_kind(panel, "compute")]
    assert lines == [("Box", FP32, 10.0), ("Small", 5e11, 2.5)]
    assert [line.device_name for line in of_kind(panel, "bandwidth")] == ["Box", "Small"]
    # 8e6 FLOP; 2 launches of 1000 and one of 500 ns
    (overhead,) = of_kind(panel, "overhead")
    assert overhead.value == pytest.approx(8e6 / 2.5e-6, rel=1e-12)
    one = only(draw())
    assert {line.device_name for line in one.lines} == {None}


def test_points_are_held_against_their_own_device(draw: Draw) -> None:
    chart = draw(rows=[GEMM, ON_SMALL], ceilings=[*SMALL, *CEILINGS], model="time")
    # on Small 8000 and 500 ns at peak: 10000 and 10000 / 16
    assert placed(only(chart)) == {
        "train": [("gemm", 2000.0, 8000.0)],
        "small": [("gemm", 625.0, 10000.0)],
    }
    assert corners(only(chart)) == [(500.0, 500.0, 1), (2000.0, 2000.0, 2)]


def test_a_4d_chart_is_of_one_device(draw: Draw) -> None:
    with pytest.raises(UsageError, match=r"2 devices; draw the runs of each device separately"):
        draw(rows=[GEMM, ON_SMALL], ceilings=[*SMALL, *CEILINGS], model="4d")


@pytest.mark.parametrize("model", ["classic", "time", "complexity"])
def test_a_device_that_has_no_point_needs_no_peak(draw: Draw, model: str) -> None:
    lost = LOST | {"device_name": None, "run_id": "s", "run_name": "lost"}
    idle = PAD | {"device_name": "Odd", "run_id": "t", "run_name": "idle"}
    nothing = [
        ceiling("l2", None, peak_bytes_per_s=1.0, total_ns=1),
        ceiling("l2", "Odd", peak_bytes_per_s=1.0, total_ns=2),
    ]
    chart = draw(rows=[GEMM, lost, idle], ceilings=[*CEILINGS, *nothing], model=model)
    assert placed(only(chart))["train"][0][0] == "gemm"
    assert only(chart).devices == ("Box",)
    assert {margin.kind for margin in only(chart).margins} == {"unknown", "zero_ai"}


def test_where_runs_disagree_about_a_device_the_largest_counts(draw: Draw) -> None:
    more = [*CEILINGS, ceiling("fp32", peak_flop_per_s=2e12, work_flop=1.0, source_text="yours")]
    chart = draw(ceilings=more)
    assert [line.value for line in of_kind(only(chart), "compute")] == [2e12]
    (source,) = [
        row[1] for row in rows_of(chart, "ceiling", "name", "source_text") if row[0] == "fp32"
    ]
    assert source == "user: yours"


# -- the table ------------------------------------------------------------------------------------


def test_the_table_has_all_that_is_in_the_chart(draw: Draw) -> None:
    chart = draw()
    assert rows_of(
        chart,
        "point",
        "name",
        "place_kind",
        "bound_kind",
        "intensity_flop_per_byte",
        "achieved_flop_per_s",
        "launch_count",
        "known_launch_count",
        "overhead_ns",
    ) == [
        ("gemm", "drawn", "latency", 40.0, 5e11, 2, 2, 2000.0),
        ("relu", "drawn", "bandwidth", 0.25, 2e10, 1, 1, 1000.0),
        # no operation: 0 FLOP/byte and 0 FLOP/s; 4000 ns of bytes against 3 launches
        ("pad", "zero_ai", "bandwidth", 0.0, 0.0, 3, 3, 3000.0),
        ("tiny", "drawn", "overhead", 10.0, 5e8, 1, 1, 1000.0),
        ("lost", "unknown", None, None, None, 1, 0, None),
        # 5 ns of operations against a launch; 5e3 / 500 ns; no bytes, no intensity
        ("still", "no_bytes", "overhead", None, 1e10, 1, 1, 1000.0),
    ]
    assert rows_of(
        chart, "point", "name", "compute_time_ns", "bandwidth_time_ns", "roof_ratio"
    ) == [
        ("gemm", 8000.0, 2000.0, 0.5),
        ("relu", 125.0, 5000.0, 0.8),
        ("pad", 0.0, 4000.0, 1.0),
        ("tiny", 2000.0, 2000.0, 0.0005),
        ("lost", None, None, None),
        ("still", 500.0, 0.0, 0.01),
    ]
    assert rows_of(
        chart,
        "ceiling",
        "name",
        "achieved_flop_per_s",
        "intensity_flop_per_byte",
        "peak_bytes_per_s",
        "overhead_ns",
        "launch_count",
        "source_text",
    ) == [
        ("fp32", FP32, 10.0, None, None, None, "user: mine"),
        ("dram", None, None, DRAM, None, None, "user: mine"),
        ("launch_overhead", None, None, None, 1000.0, 1, None),
        ("overhead", pytest.approx(4106000 / 8e-6), None, None, None, 8, None),
    ]
    assert rows_of(chart, "box", "name") == []


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("complexity", [(1, 1000.0, 1e5, 1e6), (2, 2000.0, 2e5, 2e6)]),
        ("4d", [(1, 1000.0, 1e5, 1e6), (2, 2000.0, 2e5, 2e6)]),
        ("time", [(1, 1000.0, None, None), (2, 2000.0, None, None)]),
    ],
)
def test_the_table_has_the_boxes(draw: Draw, model: str, expected: list[Any]) -> None:
    columns = ("launch_count", "overhead_ns", "total_bytes", "total_flop")
    assert rows_of(draw(model=model), "box", *columns) == expected


def test_the_table_has_ridges_of_the_farthest_level(draw: Draw) -> None:
    chart = draw(rows=LEVELS, model="hierarchical")
    found = {
        row[0]: row[1:]
        for row in rows_of(chart, "ceiling", "name", "intensity_flop_per_byte", "peak_bytes_per_s")
    }
    assert found["fp32"] == (10.0, None)
    assert [found[level] for level in ("dram", "l2", "l1")] == [
        (None, DRAM),
        (None, L2),
        (None, L1),
    ]


def test_columns_carry_their_unit_and_meaning(draw: Draw) -> None:
    data = draw().data
    assert data.table.column_names == [column.name for column in data.columns]
    assert all(column.unit == unit_of(column.name) and column.doc for column in data.columns)


def test_drawn_points_are_those_of_the_table(draw: Draw) -> None:
    for model in ("classic", "complexity", "time", "4d"):
        chart = draw(model=model)
        names = {name for series in only(chart).series for name in series.names}
        drawn = {r[0] for r in rows_of(chart, "point", "name", "place_kind") if r[1] == "drawn"}
        assert names == drawn == {"gemm", "relu", "tiny"}


# -- little data ----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["classic", "hierarchical", "complexity", "time", "4d"])
@pytest.mark.parametrize("row", [GEMM, RELU, TINY])
def test_one_point_alone_makes_a_chart(draw: Draw, model: str, row: Row) -> None:
    chart = draw(rows=[row], model=model)
    (series,) = only(chart).series
    assert series.share_ratio.tolist() == [1.0]
    assert chart.x.low < float(series.x[0]) < chart.x.high
    assert chart.y.low < float(series.y[0]) < chart.y.high


def test_huge_and_tiny_figures_make_a_chart(draw: Draw) -> None:
    rows = [point("huge", 1e30, 1e25, 2**62), point("least", 1.0, 1.0, 1)]
    for model in ("classic", "complexity", "time", "4d"):
        chart = draw(rows=rows, model=model)
        for axis in (chart.x, chart.y):
            assert 0 < axis.low < axis.high < math.inf


# -- what cannot be drawn -------------------------------------------------------------------------

NONE_KNOWN = [LOST, LOST | {"name": "lost 2"}]
CANNOT: list[tuple[Row, str]] = [
    (
        {"rows": []},
        r"no kernels with hardware counters.*nsight-compute --metrics --device.*tracekit ingest",
    ),
    (
        {"rows": NONE_KNOWN},
        r"for any of the 2 points \(FP32 operations: not collected\)\. To collect.*tracekit ingest",
    ),
    (
        {"rows": [LOST, PAD]},
        r"unknown for 1 of the 2 points, and the others have no floating-point operations",
    ),
    (
        {"rows": [point("k", None, None, 5, reason="dram: nan")]},
        r"the only point \(bytes of DRAM: not a number in the file\)",
    ),
    (
        {"rows": [point("k", None, None, 5, reason="duration: not_collected")]},
        (
            r"the time is unknown for the only point \(durations: not collected\)\. "
            r"--model complexity"
        ),
    ),
    (
        {"rows": [PAD, PAD | {"name": "copy"}]},
        r"none of the 2 points has floating-point operations.*tracekit query zero_ai_kernels",
    ),
    ({"rows": [STILL, PAD]}, r"no kernel .* moved bytes at level dram.*use another --level"),
    ({"rows": [STILL | {"level_name": "l2"}], "level": "l2"}, r"at level l2"),
    (
        {"rows": [GEMM | {"device_name": None}], "ceilings": []},
        r"no peaks are known for the device.*--replace --device NAME.*tracekit devices.*--peaks",
    ),
    (
        {"ceilings": CEILINGS[3:]},
        r"no peaks are known for the device 'Box'.*--replace --peaks FILE",
    ),
    ({"ceilings": CEILINGS[:3]}, r"no bandwidth 'dram' is known for the device 'Box'; known: none"),
    ({"ceilings": CEILINGS[:3], "model": "hierarchical"}, r"no bandwidth 'dram' is known"),
    (
        {"ceilings": [c for c in CEILINGS if c["ceiling_name"] != "l1"], "level": "l1"},
        r"no bandwidth 'l1' is known for the device 'Box'; known: l2, dram\. .*--peaks FILE",
    ),
    ({"ceiling": "tensor_fp8"}, r"no peak 'tensor_fp8' is known.*known: tensor_fp16, fp32, fp64"),
    (
        {"trajectory": "batch"},
        (
            r"batch: none of the runs has the label 'batch'; labels: none"
            r".*--label batch=VALUE"
        ),
    ),
    (
        {"panels": "phase", "labels": {"r": {"batch": "8"}}},
        r"--panels phase: none of the runs has the label 'phase'; labels: batch\.",
    ),
]


@pytest.mark.parametrize(("asked", "says"), CANNOT)
def test_what_is_missing_is_said_with_what_supplies_it(draw: Draw, asked: Row, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        draw(**asked)
    assert "\n" not in str(caught.value)
    assert "nan" not in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"model": "roof"}, "--model: invalid value 'roof'; use one of: classic, hierarchical, "),
        (
            {"by": "colour"},
            "--by: invalid value 'colour'; use one of: name, launch, class, phase, ",
        ),
        ({"level": "l3"}, "--level: invalid value 'l3'; use one of: dram, l2, l1"),
        ({"fp16_convention": "half"}, "--fp16-convention: invalid value 'half'; use one of: arith"),
        ({"launch_ns": 0.0}, "--launch-overhead-ns 0: must be a time above 0"),
        ({"launch_ns": -1.0}, "--launch-overhead-ns -1: must be a time above 0"),
        ({"launch_ns": math.nan}, "--launch-overhead-ns nan: must be a time above 0"),
        ({"launch_ns": math.inf}, "--launch-overhead-ns inf: must be a time above 0"),
        ({"series": ("framework",), "by": "name"}, "add --trajectory LABEL"),
        ({"trajectory": "b", "model": "hierarchical"}, "omit --trajectory, or use another"),
        ({"trajectory": "b", "by": "launch"}, "--trajectory cannot use --by launch"),
    ],
)
def test_what_does_not_go_together_is_refused(asked: Row, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        RooflineRequest(**asked)
    assert says in str(caught.value)


def test_a_point_is_a_kernel_or_in_a_trajectory_a_run() -> None:
    assert RooflineRequest().granularity == "name"
    assert RooflineRequest(trajectory="batch").granularity == "run"
    assert RooflineRequest(trajectory="batch", by="class").granularity == "class"


def test_a_chart_is_never_changed_by_another(draw: Draw) -> None:
    first, second = draw(), draw(launch_ns=3000.0)
    assert first.data.table.column("overhead_ns") != second.data.table.column("overhead_ns")
    assert rows_of(first, "point", "overhead_ns")[0] == (2000.0,)


def test_series_have_columns_of_one_length(draw: Draw) -> None:
    for series in only(draw(model="4d")).series:
        sizes = {
            len(getattr(series, field.name))
            for field in fields(RooflineSeries)
            if isinstance(getattr(series, field.name), list | np.ndarray) and field.name != "tags"
        }
        assert sizes == {len(series.names)}


# -- counted, though it is not drawn ---------------------------------------------------------------


def test_runs_without_the_label_are_counted(draw: Draw) -> None:
    rows = [RELU | {"run_id": "a"}, TINY | {"run_id": "b"}, GEMM | {"run_id": "c"}]
    chart = draw(rows, labels={"a": {"batch": "1"}, "c": {"batch": "2"}}, trajectory="batch")
    (margin,) = only(chart).margins
    assert (margin.kind, margin.group_count, margin.launch_count) == ("no_label", 1, 1)
    assert margin.share_ratio == pytest.approx(2000 / 15000)
    kinds = {row["name"]: row["place_kind"] for row in chart.data.rows()}
    assert (kinds["relu"], kinds["tiny"], kinds["gemm"]) == ("drawn", "no_label", "drawn")


def test_launches_without_operations_within_a_point_are_counted(draw: Draw) -> None:
    """A run of 36 launches, of which 2 that took 8 of 250 ns did nothing."""
    run = point("lstm", 1e3, 1e2, 250, 36, zero_launch_count=2, zero_ns=8)
    (margin,) = only(draw([run])).margins
    assert (margin.kind, margin.group_count, margin.launch_count) == ("zero_ai", 0, 2)
    assert margin.share_ratio == pytest.approx(8 / 250)


def test_runs_of_one_name_are_told_apart_by_their_ids(draw: Draw) -> None:
    rows = [RELU | {"run_id": "a"}, TINY | {"run_id": "b"}, GEMM | {"run_id": "c", "run_name": "x"}]
    assert [s.name for s in only(draw(rows)).series] == ["train (a)", "train (b)", "x"]


def test_work_without_a_peak_of_its_own_is_held_against_no_other(draw: Draw) -> None:
    """A device whose tensor peak alone is known says nothing of FP32."""
    known = [
        ceiling("tensor_fp16", ceiling_kind="compute", peak_flop_per_s=TENSOR),
        ceiling("fp32", ceiling_kind="compute", work_flop=4106000.0),
        ceiling("dram", ceiling_kind="bandwidth", peak_bytes_per_s=DRAM),
    ]
    with pytest.raises(UsageError, match=r"done in fp32, but this peak .* known: tensor_fp16\."):
        draw([GEMM], known)


def test_one_device_s_work_draws_no_ceiling_of_another(draw: Draw) -> None:
    rows = [GEMM, RELU | {"device_name": "Crate"}]
    more = [
        ceiling(
            "tensor_fp16", "Crate", ceiling_kind="compute", peak_flop_per_s=5e12, work_flop=9.0
        ),
        ceiling("dram", "Crate", ceiling_kind="bandwidth", peak_bytes_per_s=DRAM),
    ]
    drawn = [
        (line.names, line.device_name)
        for line in of_kind(only(draw(rows, [*CEILINGS, *more])), "compute")
    ]
    assert drawn == [(("fp32",), "Box"), (("tensor_fp16",), "Crate")]


def test_the_overhead_ceiling_of_every_panel_is_within_the_axes(draw: Draw) -> None:
    """Run b does 1e3 FLOP in a launch of 1000 ns: 1e9 FLOP/s, below all else."""
    rows = [GEMM | {"run_id": "a"}, TINY | {"run_id": "b", "total_ns": 2, "known_ns": 2}]
    labels = {"a": {"batch": "1"}, "b": {"batch": "2"}}
    chart = draw(rows, labels=labels, panels="batch")
    values = [[line.value for line in of_kind(panel, "overhead")] for panel in chart.panels]
    assert values == [[pytest.approx(2e12)], [pytest.approx(1e9)]]
    assert chart.y.low < 1e9


def test_unknown_launches_within_a_point_are_counted(draw: Draw) -> None:
    """One launch of 1000 ns is known, ten of 9000 ns are not: the point is of the one alone."""
    row = point("k", 1e5, 1e3, 1000) | {
        "launch_count": 11,
        "total_ns": 10_000,
        "reason": "fp32: not_collected",
    }
    (margin,) = only(draw([row])).margins
    assert (margin.kind, margin.group_count, margin.launch_count) == ("unknown", 0, 10)
    assert margin.reason == "fp32: not_collected"
    assert margin.share_ratio == pytest.approx(0.9)


def test_what_is_partly_unknown_is_not_without_operations(draw: Draw) -> None:
    row = PAD | {"name": "half", "launch_count": 5, "total_ns": 5000, "reason": "fp32: nan"}
    chart = draw([GEMM, row])
    kinds = {margin.kind: margin for margin in only(chart).margins}
    assert (kinds["zero_ai"].group_count, kinds["zero_ai"].launch_count) == (0, 3)
    assert (kinds["unknown"].group_count, kinds["unknown"].launch_count) == (1, 2)
    assert sum(margin.share_ratio or 0 for margin in kinds.values()) == pytest.approx(5 / 13)


def test_no_launch_is_counted_in_two_margins(draw: Draw) -> None:
    rows = [GEMM | {"run_id": "a"}, point("b", 1e3, 1e2, 2000, 4, zero_launch_count=2, zero_ns=900)]
    rows[1]["run_id"] = "b"
    (margin,) = only(draw(rows, labels={"a": {"batch": "1"}}, trajectory="batch")).margins
    assert (margin.kind, margin.launch_count, margin.share_ratio) == ("no_label", 4, 0.2)


def test_a_kernel_drawn_at_one_level_is_drawn(draw: Draw) -> None:
    """Its bytes of DRAM were not counted, those of L2 were."""
    unknown = LOST | {"name": "gemm", "total_ns": 8000}
    rows = [unknown, GEMM | {"level_name": "l2"}]
    panel = only(draw(rows, model="hierarchical"))
    assert [(series.name, series.names) for series in panel.series] == [("l2", ["gemm"])]
    assert panel.margins == ()
    assert [line.launch_count for line in of_kind(panel, "overhead")] == [2]


def test_launches_of_two_ranks_are_two(draw: Draw) -> None:
    """Two files have a launch at the same place."""
    rows = [
        GEMM | {"source_id": source, "event_id": 835, "level_name": level}
        for source in ("s1", "s2")
        for level in ("dram", "l2")
    ]
    panel = only(draw(rows, model="hierarchical", by="launch"))
    assert len({group for series in panel.series for group in series.group}) == 2


def test_an_unknown_device_is_not_held_against_another(draw: Draw) -> None:
    rows = [GEMM, RELU | {"run_id": "b", "device_name": None}]
    with pytest.raises(UsageError, match=r"no peaks are known for the device.*--device"):
        draw(rows, model="time")


def test_a_label_of_series_that_no_run_has(draw: Draw) -> None:
    rows, labels = [GEMM | {"run_id": "a"}], {"a": {"batch": "1"}}
    with pytest.raises(UsageError, match="--series nosuch: none of the runs has the label"):
        draw(rows, labels=labels, trajectory="batch", series="nosuch")
    with pytest.raises(UsageError, match="--series precision: none"):
        draw(rows, labels=labels, trajectory="batch", series="batch, precision")


def test_each_panel_has_the_roofs_of_its_own_devices(draw: Draw) -> None:
    rows = [GEMM | {"run_id": "a"}, RELU | {"run_id": "b", "device_name": "Crate"}]
    more = [
        ceiling("fp32", "Crate", ceiling_kind="compute", peak_flop_per_s=2e12, work_flop=1e5),
        ceiling("dram", "Crate", ceiling_kind="bandwidth", peak_bytes_per_s=DRAM),
    ]
    labels = {"a": {"gpu": "1"}, "b": {"gpu": "2"}}
    chart = draw(rows, [*CEILINGS, *more], labels=labels, panels="gpu")
    values = [[line.value for line in of_kind(panel, "compute")] for panel in chart.panels]
    assert values == [[FP32], [2e12]]


def test_the_peak_of_a_chart_is_that_of_most_of_the_work(draw: Draw) -> None:
    """A few operations on tensor cores make them no peak of FP32 code."""
    more = [
        ceiling("tensor_fp16", ceiling_kind="compute", peak_flop_per_s=TENSOR, work_flop=512.0),
        ceiling("fp32", ceiling_kind="compute", peak_flop_per_s=FP32, work_flop=4e6),
        ceiling("dram", ceiling_kind="bandwidth", peak_bytes_per_s=DRAM),
    ]
    chart = draw([GEMM], more, model="time")
    (row,) = [row for row in chart.data.rows() if row["row_kind"] == "point"]
    assert row["compute_ns"] == 4000


def test_most_of_the_work_needs_a_peak(draw: Draw) -> None:
    more = [ceiling("fp16", ceiling_kind="compute", work_flop=5e6)]
    with pytest.raises(UsageError, match=r"most of the work was done in fp16, .* --ceiling NAME"):
        draw([GEMM], [*CEILINGS, *more], model="time")
    assert draw([GEMM], [*CEILINGS, *more], model="time", ceiling="fp32").panels


def test_an_overhead_ceiling_above_the_axes_is_told(draw: Draw) -> None:
    """4e6 FLOP in 2 launches of 1 ns: 2e15 FLOP/s, two thousand times the roof."""
    chart = draw([GEMM], launch_ns=1.0)
    (line,) = only(chart).beyond
    assert (line.kind, line.launch_count) == ("overhead", 2)
    assert line.value == pytest.approx(2e15)
    assert not of_kind(only(chart), "overhead")
    (row,) = [row for row in chart.data.rows() if row["name"] == "overhead"]
    assert row["achieved_flop_per_s"] == pytest.approx(2e15)


def test_a_kernel_without_a_name_has_a_place(draw: Draw) -> None:
    (series,) = only(draw([GEMM | {"name": None}])).series
    assert series.names == ["(no name)"]


def test_a_line_through_runs_of_one_value_is_told(draw: Draw) -> None:
    runs = {
        name: {"batch": batch, "net": net, "host": "h"}
        for name, batch, net in (("a", "16", "x"), ("b", "16", "y"), ("c", "32", "x"))
    }
    rows = [GEMM | {"run_id": name, "run_name": name.upper(), "name": "r"} for name in runs]
    chart = draw(rows=rows, labels=runs, trajectory="batch")
    (note,) = chart.data.notes
    assert note == (
        "a line connects several runs with batch=16, such as A and B; "
        "use --series net to separate them"
    )
    assert draw(rows=rows, labels=runs, trajectory="batch", series="net").data.notes == ()
    alike = {name: labels | {"net": "x"} for name, labels in runs.items()}
    (note,) = draw(rows=rows, labels=alike, trajectory="batch").data.notes
    assert note.endswith("such as A and B; their labels do not differ")
