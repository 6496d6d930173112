from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from rich.cells import cell_len

from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.render import RenderOptions
from tracekit.render.charts import LEAST_WIDTH, plot
from tracekit.result import Result
from tracekit.roofline.chart import (
    MODELS,
    Chart,
    Margin,
    Model,
    OverheadBox,
    Panel,
    RooflineAxis,
    RooflineLine,
    RooflineSeries,
)
from tracekit.roofline.request import RooflineRequest
from tracekit.session import Session
from tracekit.store import open_store

REPORTS = Path(__file__).resolve().parents[2] / "fixtures" / "roofline"
DATA = Result("roofline", pa.table({}), ())
LIMITS = {"classic": ((0.1, 1e3), (1e9, 1e14)), "time": ((1e3, 1e8), (1e3, 1e8))}
AXES = {
    "classic": (("Operational intensity", "flop/byte"), ("Performance", "flop/s")),
    "time": (("Bandwidth time", "ns"), ("Compute time", "ns")),
    "complexity": (("Bandwidth complexity", "bytes"), ("Computational complexity", "flop")),
}
ROOF = (
    RooflineLine("compute", ("fp32",), 15.7e12, "flop/s", (17.44, 1e3), (15.7e12, 15.7e12), True),
    RooflineLine("compute", ("fp64",), 7.8e12, "flop/s", (8.67, 1e3), (7.8e12, 7.8e12)),
    RooflineLine("bandwidth", ("dram",), 900e9, "bytes/s", (0.1, 17.44), (90e9, 15.7e12), True),
    RooflineLine("overhead", (), 2e10, "flop/s", (0.1, 1e3), (2e10, 2e10), launch_count=4_000),
)
DIAGONALS = (
    RooflineLine("balance", ("fp32",), 17.44, "flop/byte", (1e4, 1e9), (1.744e5, 1.744e10), True),
    RooflineLine("intensity", (), 1.0, "flop/byte", (1e4, 1e9), (1e4, 1e9)),
)
CURVES = (
    RooflineLine("balance", ("",), 1.0, "", (1e3, 1e8), (1e3, 1e8)),
    RooflineLine("time", (), 1e6, "ns", (1e3, 1e6, 1e6), (1e6, 1e6, 1e3)),
)


def a_series(
    x: Sequence[float], y: Sequence[float], *, share: Sequence[float] | None = None, **given: Any
) -> RooflineSeries:
    size = len(x)
    shares = [1 / max(size, 1)] * size if share is None else share
    names = [f"void kernel_{i}<float>(float*)" for i in range(size)]
    plain = RooflineSeries(
        "bound",
        "",
        names,
        np.array(x, float),
        np.array(y, float),
        np.array(shares, float),
        [("run", name) for name in names],
        bound_kinds=["compute"] * size,
    )
    return replace(plain, **given)


def a_chart(
    *series: RooflineSeries,
    model: Model = "classic",
    margins: Sequence[Margin] = (),
    top: int = 8,
    boxes: Sequence[OverheadBox] = (),
    lines: Sequence[RooflineLine] | None = None,
    **given: Any,
) -> Chart:
    look = {"hierarchical": "classic", "4d": "complexity"}.get(model, model)
    (x, x_unit), (y, y_unit) = AXES[look]
    x_limits, y_limits = LIMITS.get(look, ((1e4, 1e9), (1e4, 1e11)))
    usual = {"classic": ROOF, "time": CURVES}.get(look, DIAGONALS)
    panel = Panel(
        "", series, usual if lines is None else tuple(lines), tuple(boxes), tuple(margins), ("V",)
    )
    plain = Chart(
        model,
        "",
        RooflineAxis(x, x_unit, *x_limits),
        RooflineAxis(y, y_unit, *y_limits),
        (panel,),
        DATA,
        top,
        "kernel",
        seconds_x=900e9 if model == "4d" else None,
        seconds_y=15.7e12 if model == "4d" else None,
    )
    return replace(plain, **given)


def some_chart(model: Model, count: int) -> Chart:
    """A chart of any model with points all over it."""
    random = np.random.default_rng(count)
    look = a_chart(model=model)
    x = np.geomspace(look.x.low * 1.1, look.x.high / 4, count)
    y = look.y.low * 2 * (look.y.high / look.y.low / 8) ** random.uniform(0, 1, count)
    share = random.pareto(1, count)
    one = a_series(x.tolist(), y.tolist(), share=(share / share.sum()).tolist())
    if model == "4d":
        one = replace(one, open_x=x * 3, open_y=y * 3)
    series = [one]
    if model == "hierarchical":
        levels = (("dram", 1.0), ("l2", 0.5), ("l1", 0.2))
        series = [replace(one, kind="level", name=name, x=x * by) for name, by in levels]
    return a_chart(*series, model=model, margins=MARGINS)


MARGINS = (
    Margin("zero_ai", 3, 12, 0.081),
    Margin("no_bytes", 1, 1, None),
    Margin("unknown", 2, 5, 0.1, "no counters of operations"),
)


def text_of(chart: Chart, width: int = 80, height: int = 24, *, color: bool = False) -> str:
    return plot(chart, RenderOptions(width, color), height).decode()


def canvas_of(text: str) -> list[str]:
    """The rows between the axes."""
    rows = [line for line in text.splitlines() if re.match(r" *\S{0,3} ?\S?[│┤]", line)]
    return [re.split("[│┤]", row, maxsplit=1)[1] for row in rows]


def unpainted(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)


# -- what is drawn ---------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("count", [0, 1, 4, 12, 3_000])
@pytest.mark.parametrize("width", [40, 80, 160])
def test_no_line_is_wider_than_the_terminal(model: Model, count: int, width: int) -> None:
    text = text_of(some_chart(model, count), width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize("model", MODELS)
def test_with_colour_the_text_is_the_same(model: Model) -> None:
    chart = some_chart(model, 40)
    painted = text_of(chart, color=True)
    assert "\x1b[" in painted
    assert [line.rstrip() for line in unpainted(painted).splitlines()] == text_of(
        chart
    ).splitlines()


def test_the_axes_are_as_high_as_asked() -> None:
    text = text_of(a_chart(a_series([1], [1e12])), height=30)
    assert text.split("\n\n")[0].count("\n") + 1 == 30


def test_the_classic_roofline() -> None:
    text = text_of(
        a_chart(
            a_series(
                [100, 1, 0.5],
                [10e12, 500e9, 4e9],
                share=[0.5, 0.4, 0.1],
                bound_kinds=["compute", "bandwidth", None],
            ),
            margins=MARGINS,
            title="ResNet",
        )
    )
    assert text.startswith("ResNet\n\nPerformance [FLOP/s]\n")
    assert "Operational intensity [FLOP/B]" in text
    for tick in ("1 G┤", "10 G┤", "100 G┤", "1 T┤", "10 T┤", " 0.1 ", " 1 ", " 100 "):
        assert tick in text
    assert re.sub(" {2,}", "|", text).splitlines()[-10:-6] == [
        "|kernel|intensity|performance|bound by|share",
        "a|kernel_0<float>|100.0 FLOP/B|10.00 TFLOP/s|compute|50.0 %",
        "b|kernel_1<float>|1.000 FLOP/B|500.0 GFLOP/s|bandwidth|40.0 %",
        "c|kernel_2<float>|0.5000 FLOP/B|4.000 GFLOP/s|–|10.0 %",  # noqa: RUF001
    ]
    assert "roof: FP32 15.70 TFLOP/s, DRAM 900.0 GB/s; other ceilings: FP64 7.800 TFLOP/s\n" in text
    assert "launch overhead: 20.00 GFLOP/s (4,000 launches)\n" in text
    assert "not drawn, zero AI (no operations): 3 kernels, 12 launches, 8.1 % of the" in text
    assert "not drawn, no bytes moved: 1 kernel, 1 launch\n" in text
    assert "not drawn, unknown: 2 kernels, 5 launches, 10.0 % of the time; no" in text


def test_points_and_lines_are_where_their_values_are() -> None:
    rows = canvas_of(text_of(a_chart(a_series([10], [1e11])), width=86, height=25))
    text = text_of(a_chart(a_series([10], [1e11])), width=86, height=25).splitlines()
    row = next(line for line in text if line.startswith("100 G┤"))
    ticks = next(line for line in text if "┬" in line)
    assert row[[i for i, sign in enumerate(ticks) if sign == "┬"][2]] == "a"
    assert "FP32" in rows[2]
    assert rows[3].rstrip().endswith("⠒")
    assert not rows[0].strip()


def test_names_stand_beside_the_lines() -> None:
    drawing = "\n".join(canvas_of(text_of(a_chart(a_series([1], [1e12])))))
    for name in ("FP32", "FP64", "DRAM", "launch overhead"):
        assert drawing.count(name) == 1


def test_several_points_of_one_cell_are_counted() -> None:
    series = a_series([1, 1, 1, 100], [1e12] * 4, share=[0.1, 0.5, 0.2, 0.2])
    text = text_of(a_chart(series, top=3, lines=()))
    drawing = "".join(canvas_of(text))
    assert [drawing.count(sign) for sign in "abc•"] == [1, 0, 1, 0]
    assert "not seen, in one cell with a larger share: 2 points (b under a)" in text
    assert re.search(r"^• +1 more +10\.0 %$", text, re.MULTILINE)


def test_without_letters_there_are_only_dots() -> None:
    text = text_of(a_chart(a_series([1, 10], [1e12] * 2), top=0))
    assert "".join(canvas_of(text)).count("•") == 2
    assert re.search(r"^•  2 more +100\.0 %$", text, re.MULTILINE)


def test_no_more_letters_than_there_are() -> None:
    series = a_series(np.geomspace(0.2, 900, 40).tolist(), [1e11] * 40)
    text = text_of(a_chart(series, top=1_000), 160)
    assert re.search(r"^z  ", text, re.MULTILINE)
    assert "14 more" in text


def test_points_beyond_the_axes_are_counted() -> None:
    text = text_of(a_chart(a_series([1, 1e6, float("nan")], [1e12] * 3)))
    assert "beyond the axes: 2 points\n" in text


def test_a_wide_terminal_has_the_coordinates_too() -> None:
    text = text_of(a_chart(a_series([0.5], [1e12])), 160)
    assert re.search(r"0\.5000 FLOP/B +1\.000 TFLOP/s +compute", text)


def test_levels_have_signs_and_a_letter_beside_them() -> None:
    one = a_series([100], [1e12], kind="level")
    two = replace(one, name="l1", x=np.array([1.0]), bound_kinds=["bandwidth"])
    text = text_of(a_chart(replace(one, name="dram"), two, model="hierarchical"))
    drawing = "\n".join(canvas_of(text))
    assert "•a" in drawing
    assert "▲a" in drawing
    assert "levels: • DRAM, ▲ L1\n" in text
    assert re.search(r"^a  kernel_0<float>  compute/bandwidth  100\.0 %$", text, re.MULTILINE)


def test_the_4d_model_has_capitals_and_axes_of_seconds() -> None:
    series = a_series(
        [1e6, 1e7],
        [1e8, 1e9],
        share=[0.9, 0.1],
        open_x=np.array([1e7, 1e8]),
        open_y=np.array([1e9, 1e10]),
    )
    text = text_of(a_chart(series, model="4d", top=1))
    drawing = "".join(canvas_of(text))
    assert "Bandwidth time  " in text
    assert "Compute time\n" in text
    assert "├1 ms" in text
    assert [drawing.count(sign) for sign in "aA•○"] == [1, 1, 0, 1]
    assert "not seen, in one cell with a larger share: 1 point\n" in text
    assert "machine balance: FP32 17.44 FLOP/B" in text


def test_times_have_curves_and_boxes() -> None:
    chart = a_chart(
        a_series([1e5], [1e4]),
        model="time",
        boxes=[OverheadBox(4200.0, 4200.0, 1, 4200.0)],
        margins=[Margin("zero_ai", 1, 2, 0.1, x=(1e5, 1e7))],
    )
    text = text_of(chart)
    assert "overhead box: 1 launch × 4.200 µs = 4.200 µs\n" in text  # noqa: RUF001
    assert "(+ on" in text
    assert next(line for line in text.splitlines() if "└" in line).count("+") == 2
    assert "1 ms" in "".join(canvas_of(text))
    assert "10 µs┤" in text


def test_a_trajectory_is_one_letter_with_its_tags() -> None:
    one = a_series(
        [1, 10, 100],
        [1e11, 1e12, 1e13],
        kind="trajectory",
        name="adam",
        tags=["32", "64", "128"],
        bound_kinds=["bandwidth", "bandwidth", "compute"],
    )
    chart = a_chart(one, series_title="optimizer", trajectory_label="batch", noun="run")
    text = text_of(chart, 160)
    drawing = "".join(canvas_of(text))
    assert drawing.count("a") - drawing.count("launch overhead") * 2 == 3
    assert " 32 " in drawing
    assert "   batch: 32 → 64 → 128\n" in text
    assert re.search(r"^   optimizer", text, re.MULTILINE)
    assert re.search(r"^a  adam +bandwidth → compute +100\.0 %$", text, re.MULTILINE)


def test_where_no_time_is_known_there_are_no_shares() -> None:
    unknown = a_series([1, 2], [1e12, 1e11], share=[math.nan, math.nan])
    text = text_of(a_chart(unknown))
    assert "  bound by\n" in text
    assert "share" not in text
    assert "nan" not in text


def test_a_narrow_terminal_keeps_names_and_bounds_longest() -> None:
    chart = a_chart(a_series([1], [1e12], names=["k" * 30]))
    columns = {}
    for width in (100, 70, 44, 40):
        lines = text_of(chart, width=width).splitlines()
        columns[width] = next(line.split() for line in lines if line.startswith("   kernel"))
    assert (
        columns[100]
        == columns[70]
        == ["kernel", "intensity", "performance", "bound", "by", "share"]
    )
    assert columns[44] == columns[40] == ["kernel", "bound", "by", "share"]


def test_runs_have_signs_and_a_column() -> None:
    one, two = a_series([1, 2], [1e12, 1e11]), a_series([100, 50], [1e12, 1e11])
    chart = a_chart(
        replace(one, kind="run", name="v100"), replace(two, kind="run", name="a100"), top=2
    )
    text = text_of(chart)
    assert "runs: • v100, ▲ a100\n" in text
    assert re.search(r"^a  kernel_0<float> +v100 +1\.000 FLOP/B +1\.000 T", text, re.MULTILINE)
    assert "▲" in "".join(canvas_of(text))


def test_panels_stand_one_below_the_other() -> None:
    chart = some_chart("classic", 4)
    panel = chart.panels[0]
    panels = (replace(panel, title="gpu = V100"), replace(panel, title="gpu = A100"))
    text = text_of(replace(chart, panels=panels))
    assert text.count("Operational intensity [FLOP/B]") == 2
    assert text.index("gpu = V100") < text.index("gpu = A100")


def test_ceilings_are_told_by_device() -> None:
    lines = [
        replace(ROOF[0], device_name="V100"),
        replace(ROOF[2], device_name="V100"),
        replace(ROOF[1], device_name="A100", is_roof=True),
    ]
    text = text_of(a_chart(a_series([1], [1e12]), lines=lines))
    assert "roof of A100: FP64 7.800 TFLOP/s\n" in text
    assert "roof of V100: FP32 15.70 TFLOP/s, DRAM 900.0 GB/s\n" in text
    assert "FP32, V100" in "".join(canvas_of(text))


# -- what a file may hold --------------------------------------------------------------------------


@pytest.mark.sampled(12)
@pytest.mark.parametrize("width", [LEAST_WIDTH, 80, 160])
@pytest.mark.parametrize("kind", ["bound", "run", "level", "trajectory"])
def test_names_do_no_harm(kind: str, hostile: str, width: int) -> None:
    series = a_series(
        [1, 100],
        [1e12, 1e11],
        kind=kind,
        name=hostile,
        names=[hostile, hostile + "2"],
        tags=[hostile, "2"],
        group=[(hostile,), (hostile, 2)],
    )
    lines = [replace(line, names=(hostile,), device_name=hostile) for line in ROOF]
    chart = a_chart(
        series,
        replace(series, name=hostile + "b"),
        lines=lines,
        title=hostile,
        boxes=[OverheadBox(1, 1e12, 1, 4200.0, hostile)],
        series_title=hostile,
        trajectory_label=hostile,
        margins=[Margin("unknown", 1, 1, None, hostile)],
        data=replace(DATA, notes=(hostile,)),
    )
    chart = replace(chart, panels=(replace(chart.panels[0], title=hostile),))
    text = text_of(chart, width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert all(line.isprintable() for line in text.split("\n"))


def test_wide_characters_keep_the_columns() -> None:
    lines = [replace(ROOF[0], names=("漢字",)), *ROOF[1:]]
    text = text_of(a_chart(a_series([1], [1e12], names=["漢字カーネル"]), lines=lines))
    named = next(line for line in text.splitlines() if "漢字" in line)
    assert cell_len(named) <= 80
    row = r"^a  漢字カーネル  1\.000 FLOP/B  1\.000 TFLOP/s  compute   100\.0 %$"
    assert re.search(row, text, re.MULTILINE)


def test_points_at_no_place_are_no_error() -> None:
    none = [float("nan"), 0.0, -1.0, float("inf")]
    text = text_of(a_chart(a_series(none, none, kind="trajectory", tags=list("abcd"))))
    assert "beyond the axes: 4 points" in text


def test_a_line_that_goes_far_beyond_the_axes_is_no_error() -> None:
    far = RooflineLine("compute", ("fp32",), 1.0, "flop/s", (1e-300, 1e300), (1e-300, 1e300), True)
    assert "roof: FP32" in text_of(a_chart(a_series([1], [1e12]), lines=[far]))


@pytest.mark.parametrize("model", MODELS)
def test_a_hundred_thousand_points_are_quick(model: Model) -> None:
    chart = some_chart(model, 100_000)
    start = time.perf_counter()
    text_of(chart)
    assert time.perf_counter() - start < 2


# -- from a store ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Reports made by hand; fixtures/roofline/README.md has their figures."""
    store = tmp_path_factory.mktemp("terminal") / "S"
    given: list[tuple[str, dict[str, str]]] = [("blue", {}), ("red", {})]
    given += [(f"conv2d-pytorch-fp16-{size}", {"batch": f"{size}"}) for size in (64, 16, 32)]
    for name, labels in given:
        ingest(
            [REPORTS / f"{name}.csv"],
            store,
            Options(run_name=name, labels=labels, device_name="V100 (Wang 2020, measured)"),
        )
    return Session(Database(open_store(store)))


@pytest.mark.parametrize("model", MODELS)
def test_every_model_of_a_store(session: Session, model: Model) -> None:
    text = text_of(session.roofline_data(["red"], RooflineRequest(model=model)))
    assert re.search(r"^a  \S.* compute +100\.0 %$", text, re.MULTILINE)
    assert "a" in "".join(canvas_of(text)).replace("launch overhead", "")


def test_runs_of_a_store(session: Session) -> None:
    text = text_of(session.roofline_data(["blue", "red"], RooflineRequest(model="time")))
    assert "runs: • blue, ▲ red\n" in text
    assert "overhead box: 20 launches × 4.200 µs = 84.00 µs\n" in text  # noqa: RUF001


def test_a_trajectory_of_a_store(session: Session) -> None:
    text = text_of(session.roofline_data([], RooflineRequest(model="time", trajectory="batch")))
    assert "   batch: 16 → 32 → 64\n" in text
    assert "not drawn" not in text
