"""Pictures of rooflines: what is in them, the same every time, and names that do nothing."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

import tracekit
from tests.conftest import ROOT
from tracekit.errors import UsageError
from tracekit.render.charts import draw
from tracekit.render.figure import (
    COLORS,
    SIZES,
    check_suffix,
    drawable,
    encoded,
    look,
    seen,
    size_named,
)
from tracekit.render.numbers import counted
from tracekit.render.roofline import _BOUNDS, _LEVELS
from tracekit.render.ticks import seconds
from tracekit.render.words import letter, short
from tracekit.roofline.chart import Chart, RooflineSeries
from tracekit.roofline.request import RooflineRequest
from tracekit.session import Session

pytestmark = pytest.mark.filterwarnings("error")

MODELS = ("classic", "hierarchical", "complexity", "time", "4d")
V100 = "V100 (Wang 2020, measured)"
NAMES = ["volta_h884gemm_128x128_ldg8_nn", "gemmSN_NN_kernel<float>", "axpby_half2"]
DETAILS = ROOT / "fixtures" / "nsight_compute" / "details-v100-handmade" / "report.csv"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """The hand-made reports: blue and red, a sweep, and four kernels with all levels of memory."""
    store = tmp_path_factory.mktemp("pictures") / "S"
    reports = ROOT / "fixtures" / "roofline"
    for name in ("blue", "red", "lstm"):
        tracekit.ingest([reports / f"{name}.csv"], store, run_name=name, device_name=V100)
    for batch in (16, 32, 64):
        tracekit.ingest(
            [reports / f"conv2d-tf-fp16-{batch}.csv"],
            store,
            run_name=f"conv2d-{batch}",
            device_name=V100,
            labels={"batch": str(batch), "framework": "tf"},
        )
    tracekit.ingest([DETAILS], store, run_name="four", device_name="Tesla V100-SXM2-16GB")
    return tracekit.open(store)


@pytest.fixture(scope="module")
def four(session: Session) -> Chart:
    """Four kernels on a V100, one of them without operations."""
    return session.roofline_data(["four"])


def axes_of(figure: Figure) -> Axes:
    (axes,) = figure.axes
    return axes


def signs(axes: Axes) -> list[tuple[float, float]]:
    """Where points are, each once."""
    found = [np.asarray(c.get_offsets()) for c in axes.collections if isinstance(c, PathCollection)]
    return sorted((float(x), float(y)) for x, y in np.concatenate(found))


def words(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def key_of(figure: Figure) -> dict[str, list[str]]:
    """What the legend says of each letter."""
    (legend,) = figure.legends
    letters = [text.get_text() for text in legend.findobj(Text) if len(text.get_text()) < 3]
    texts = [text.get_text() for text in legend.get_texts()]
    named = texts[len(texts) - len(list(filter(None, letters))) :]
    return dict(zip(filter(None, letters), (text.split("\n") for text in named), strict=True))


# -- what is in a picture -------------------------------------------------------------------------


def test_the_classic_roofline(four: Chart) -> None:
    figure = draw(four).figure
    axes = axes_of(figure)
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    # operations, bytes and times of the report's README; the copy has no operation and no place
    by_hand = sorted(
        (flop / moved, flop * 1e9 / time)
        for flop, moved, time in (
            (137_455_730_688, 268_435_456, 1_617_344),
            (17_184_063_488, 75_497_472, 1_494_016),
            (201_326_592, 402_653_184, 520_192),
        )
    )
    assert np.allclose(signs(axes), by_hand, rtol=1e-12)
    written = words(axes)
    assert {
        "Tensor FP16 125 TFLOP/s",
        "FP16 31.33 TFLOP/s",
        "FP32 15.7 TFLOP/s",
        "DRAM 900 GB/s",
    } <= set(written)
    # 137,455,730,688 FLOP at 125 TFLOP/s, 17,184,063,488 at 15.7, 402,653,184 B at 900 GB/s
    assert key_of(figure) == {
        "a": ["volta_h884gemm_128x128_ldg8_nn", "37.3 % of time, compute, 68 % of roof"],
        "b": ["gemmSN_NN_kernel<float>", "34.5 % of time, compute, 73.3 % of roof"],
        "c": ["axpby_half2", "12 % of time, bandwidth, 86 % of roof"],
    }
    assert {"a", "b", "c"} <= set(written)
    assert axes.get_xlabel() == (
        "Operational intensity [FLOP/B]\nzero AI: 1 kernel, 1 launch, 16.2 % of time\n"
        # (137,455,730,688 + 17,184,063,488 + 201,326,592) FLOP in 4 launches of 4.2 us
        "above the chart: launch overhead, 4 launches: 9.217 PFLOP/s"
    )


def test_the_area_of_a_sign_is_its_share_of_the_time(four: Chart) -> None:
    axes = axes_of(draw(four).figure)
    areas = sorted(
        float(area)
        for collection in axes.collections
        if isinstance(collection, PathCollection)
        for area in collection.get_sizes()
    )
    # 520,192, 1,494,016 and 1,617,344 of 4,331,968 ns
    assert np.allclose(np.array(areas) / areas[0], [1, 1_494_016 / 520_192, 1_617_344 / 520_192])


def test_levels_of_memory_are_joined(session: Session) -> None:
    axes = axes_of(
        draw(session.roofline_data(["four"], RooflineRequest(model="hierarchical"))).figure
    )
    assert {"DRAM 900 GB/s", "L2 3.133 TB/s", "L1 15.67 TB/s"} <= set(words(axes))
    assert len(signs(axes)) == 9  # three kernels at three levels
    dotted = [line for line in axes.lines if line.get_linestyle() == ":"]
    assert len(dotted) == 3
    for line in dotted:
        assert len(set(np.asarray(line.get_ydata()))) == 1  # one performance at all levels


def test_the_time_plane_has_curves_of_run_time(session: Session) -> None:
    axes = axes_of(
        draw(session.roofline_data(["blue", "red"], RooflineRequest(model="time", by="run"))).figure
    )
    (blue, red) = signs(axes)[1], signs(axes)[0]
    # blue is bandwidth-bound for 3 ms, red compute-bound for 5 ms
    assert [blue[0], red[1]] == pytest.approx([3e6, 5e6])
    assert {"1 ms", "100 µs", "machine balance", "launch overhead: 20 \u00d7 4.2 µs"} <= set(
        words(axes)
    )


def test_seconds_stand_on_the_other_axes_of_the_4d_model(session: Session) -> None:
    chart = session.roofline_data(["blue", "red"], RooflineRequest(model="4d", by="run"))
    axes = axes_of(draw(chart).figure)
    top, right = axes.child_axes
    # 828.8 GB take a second at peak, 107.47904 TFLOP too
    low, high = axes.get_xlim()
    assert top.get_xlim() == pytest.approx((low / 828.8e9, high / 828.8e9))
    low, high = axes.get_ylim()
    assert right.get_ylim() == pytest.approx((low / 107.47904e12, high / 107.47904e12))
    assert (top.get_xlabel(), right.get_ylabel()) == ("Bandwidth time", "Compute time")
    assert len(signs(axes)) == 4  # a closed and an open one each


def test_a_trajectory_names_its_ends_and_shows_its_direction(session: Session) -> None:
    chart = session.roofline_data([], RooflineRequest(trajectory="batch", series=("framework",)))
    axes = axes_of(draw(chart).figure)
    arrows = [text for text in axes.texts if hasattr(text, "arrow_patch") and text.arrow_patch]
    assert len(arrows) == 2  # 16 to 32 to 64
    assert {"batch 16", "64"} <= set(words(axes))
    (legend,) = draw(chart).figure.legends
    assert "tf" in [text.get_text() for text in legend.get_texts()]


def test_panels_have_common_axes(session: Session) -> None:
    figure = draw(
        session.roofline_data(["conv2d*"], RooflineRequest(by="name", panels="batch"))
    ).figure
    assert [axes.get_title() for axes in figure.axes] == ["batch = 16", "batch = 32", "batch = 64"]
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in figure.axes}) == 1


def test_too_many_panels_are_refused(four: Chart) -> None:
    with pytest.raises(UsageError, match="inches high; name fewer runs"):
        draw(replace(four, panels=four.panels * 900))


@pytest.mark.parametrize(("top", "size", "named"), [(0, "page", 0), (1, "page", 1), (8, "page", 3)])
def test_as_many_points_have_names_as_are_asked_for(
    session: Session, top: int, size: str, named: int
) -> None:
    figure = draw(session.roofline_data(["four"], RooflineRequest(top=top)), size=size).figure
    assert [names[0] for names in key_of(figure).values()] == NAMES[:named]
    assert set("abc") & set(words(axes_of(figure))) == set("abc"[:named])


def test_a_column_has_few_names_unless_more_are_asked_for(four: Chart) -> None:
    def named(top: int | None, size: str) -> int:
        figure = draw(replace(many(four, 40), top=top), size=size).figure
        written = [text for text in words(axes_of(figure)) if re.fullmatch("[a-z]{1,2}", text)]
        assert written == list(key_of(figure))
        assert len({names[0] for names in key_of(figure).values()}) == len(written)
        box = figure.legends[0].get_window_extent()
        assert 0 <= box.y0 < box.y1 <= figure.bbox.height + 1
        return len(written)

    assert [named(None, "column"), named(None, "page")] == [5, 8]
    assert [named(15, "column"), named(15, "page")] == [15, 15]
    assert named(30, "page") == 30


def test_letters_go_on_after_z() -> None:
    assert [letter(place) for place in (0, 25, 26, 51, 52, 701, 702)] == [
        *("a", "z", "aa", "az", "ba", "zz", "aaa")
    ]


def test_a_name_has_one_letter_in_all_panels_and_runs(session: Session) -> None:
    asked = RooflineRequest(by="name", panels="batch")
    figure = draw(session.roofline_data(["conv2d*"], asked)).figure
    written = [[t for t in words(axes) if re.fullmatch("[a-z]", t)] for axes in figure.axes]
    assert written[0] == written[1] == written[2] != []
    assert all(len(about) == 1 for about in key_of(figure).values())
    runs = draw(session.roofline_data(["conv2d-16", "conv2d-64"], RooflineRequest(by="name")))
    found = [t for t in words(axes_of(runs.figure)) if re.fullmatch("[a-z]", t)]
    assert sorted(found) == sorted(list(key_of(runs.figure)) * 2)


def test_runs_are_in_the_legend_only(session: Session) -> None:
    figure = draw(session.roofline_data(["blue", "red"], RooflineRequest(by="run"))).figure
    assert not [t for t in words(axes_of(figure)) if re.fullmatch("[a-z]", t)]
    assert {"blue", "red"} <= {text.get_text() for text in figure.legends[0].get_texts()}


def test_a_word_on_a_line_makes_room_for_points(four: Chart) -> None:
    """Points stand where the words of two ceilings would be."""
    figure = draw(four).figure
    box = {text.get_text(): text.get_window_extent() for text in axes_of(figure).texts}
    ours = ("Tensor FP16 125 TFLOP/s", "FP32 15.7 TFLOP/s")
    middles = [
        (box[name].x0 + share * box[name].width, (box[name].y0 + box[name].y1) / 2)
        for name in ours
        for share in (0.3, 0.7)
    ]
    spots = axes_of(figure).transData.inverted().transform(middles)
    series = replace(
        four.panels[0].series[0],
        x=spots[:, 0],
        y=spots[:, 1],
        names=["k"] * len(spots),
        share_ratio=np.full(len(spots), 0.1),
        group=[(i,) for i in range(len(spots))],
    )
    moved = axes_of(
        draw(replace(four, top=0, panels=(replace(four.panels[0], series=(series,)),))).figure
    )
    for text in moved.texts:
        if text.get_text() in ours:
            around = text.get_window_extent()
            inside = [around.contains(*place) for place in moved.transData.transform(spots)]
            assert not any(inside), text.get_text()


def test_several_panels_have_the_titles_of_axes_at_the_ends(session: Session) -> None:
    asked = RooflineRequest(by="name", panels="batch", model="4d")
    figure = draw(session.roofline_data(["conv2d*"], asked)).figure
    titles = [axes.get_ylabel() for axes in figure.axes]
    assert titles == ["Computational complexity [FLOP]", "", ""]
    seconds_axes = [axes.child_axes[1] for axes in figure.axes]
    assert [axes.get_ylabel() for axes in seconds_axes] == ["", "", "Compute time"]
    figure.draw_without_rendering()
    legend = figure.legends[0].get_window_extent()
    assert legend.y1 < min(axes.get_window_extent().y0 for axes in figure.axes)


def test_the_legend_tells_sizes_up_to_the_largest(four: Chart) -> None:
    texts = [text.get_text() for text in draw(four).figure.legends[0].get_texts()]
    # 37 % is the largest; a sign of 2 % or less is as small as they get
    sizes = [text for text in texts if "%" in text and "\n" not in text]
    assert sizes == ["5 % of time", "20 % of time"]
    unknown = tuple(
        replace(series, share_ratio=np.full(len(series.x), math.nan))
        for series in four.panels[0].series
    )
    untimed = draw(replace(four, panels=(replace(four.panels[0], series=unknown),))).figure
    assert not any("of time" in text.get_text() for text in untimed.legends[0].get_texts())


@pytest.mark.parametrize(("count", "is_above"), [(3_000, False), (3_001, True)])
def test_lines_are_seen_before_very_many_points(four: Chart, count: int, is_above: bool) -> None:
    axes = axes_of(draw(many(four, count)).figure)
    (points,) = [c for c in axes.collections if isinstance(c, PathCollection)]
    assert all((line.get_zorder() > points.get_zorder()) == is_above for line in axes.lines[:4])


def test_bounds_are_apart_without_colour_too() -> None:
    """By lightness (ITU-R BT.709), and by the form of the sign."""
    colors = [color for kind, (color, _) in _BOUNDS.items() if kind]
    light = sorted(
        sum(
            weight * int(color[place : place + 2], 16) / 255
            for weight, place in ((0.2126, 1), (0.7152, 3), (0.0722, 5))
        )
        for color in colors
    )
    assert all(b - a > 0.15 for a, b in pairwise(light))
    assert len({marker for _, marker in _BOUNDS.values()}) == len(_BOUNDS)


# -- files ----------------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("model", "size"),
    [*((model, "page") for model in MODELS), ("4d", "column"), ("hierarchical", "slide")],
)
def test_every_model_can_be_written(session: Session, model: Any, size: str) -> None:
    figure = draw(session.roofline_data(["four"], RooflineRequest(model=model)), size=size).figure
    assert figure.get_size_inches()[0] == SIZES[size].width
    assert encoded(figure, "png", SIZES[size]).startswith(b"\x89PNG")


@pytest.fixture(scope="module")
def twins(session: Session) -> list[Figure]:
    """One chart, asked for and drawn twice."""
    return [
        draw(session.roofline_data(["four"], RooflineRequest(model="4d"))).figure for _ in range(2)
    ]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_the_same_chart_is_the_same_file(twins: list[Figure], kind: str) -> None:
    one, other = (encoded(figure, kind, SIZES["page"]) for figure in twins)
    assert one == other


def test_styles_of_matplotlib(four: Chart, tmp_path: Path) -> None:
    dark = axes_of(draw(four, style="dark_background").figure)
    assert dark.get_facecolor()[:3] == (0, 0, 0)
    assert dark.texts[0].get_color() == "white"
    own = tmp_path / "own.mplstyle"
    own.write_text("axes.facecolor: yellow\n")
    assert axes_of(draw(four, style=str(own)).figure).get_facecolor()[:3] == (1, 1, 0)
    with pytest.raises(UsageError, match="--style nosuch: matplotlib has no such style"):
        draw(four, style="nosuch")


def contrast_with_black(color: str) -> float:
    """WCAG 2.1: (L + 0.05) / 0.05, L the relative luminance of sRGB."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in to_rgb(color)
    ]
    return (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05) / 0.05


def test_signs_are_seen_on_a_dark_ground() -> None:
    """Nearly black and dark blue are 1.1:1 and 2.2:1 there."""
    colors = {*COLORS, *(color for color, _ in (*_BOUNDS.values(), *_LEVELS.values()))}
    faint = {color for color in colors if contrast_with_black(color) < 3}
    assert {"#111111", "#004488"} <= faint
    with look(SIZES["page"]):
        assert {seen(color) for color in colors} == colors
    with look(SIZES["page"], "dark_background"):
        found = {color: seen(color) for color in colors}
    assert all(contrast_with_black(color) >= 3 for color in found.values())
    assert {color for color in colors if found[color] != color} == faint


def test_latency_is_seen_on_a_dark_ground(four: Chart) -> None:
    figure = draw(four, style="dark_background").figure
    edges = [
        to_hex(edge)
        for drawn in axes_of(figure).collections
        if isinstance(drawn, PathCollection)
        for edge in np.asarray(drawn.get_edgecolor())
    ]
    assert edges
    assert all(contrast_with_black(edge) >= 3 for edge in edges)


def test_nothing_of_a_style_stays(four: Chart) -> None:
    used = matplotlib.get_backend()
    try:
        matplotlib.use("svg")  # another than that of this process
        before = dict(matplotlib.rcParams)
        draw(four, style="ggplot")
        assert dict(matplotlib.rcParams) == before
        assert matplotlib.get_backend() == "svg"
    finally:
        matplotlib.use(used)


def test_a_style_that_cannot_be_read(four: Chart, tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(bytes(range(128, 256)))
    with pytest.raises(UsageError, match="no readable file of that name"):
        draw(four, style=str(tmp_path / "binary"))


def test_what_needs_a_program_of_its_own_is_no_kind_of_file() -> None:
    with pytest.raises(UsageError, match=r"has '\.pgf'"):
        check_suffix(".pgf")


def test_eps_makes_no_noise(four: Chart, caplog: pytest.LogCaptureFixture) -> None:
    assert encoded(draw(four).figure, "eps", SIZES["column"]).startswith(b"%!PS")
    assert not caplog.records


@pytest.mark.parametrize("size", ["column", "page"])
def test_a_long_name_of_a_device_leaves_room(four: Chart, size: str) -> None:
    (panel,) = four.panels
    named = replace(four, panels=(replace(panel, devices=("NVIDIA " * 60,)),), title="t" * 500)
    figure = draw(named, size=size).figure
    (legend,) = figure.legends
    assert len(legend.get_title().get_text()) <= 40
    encoded(figure, "png", SIZES[size], 60)
    assert axes_of(figure).get_position().width > 0.3


def test_of_many_series_those_with_the_most_time_are_named(four: Chart) -> None:
    (panel,) = four.panels
    one = panel.series[0]
    series = tuple(
        replace(
            one,
            kind="trajectory",
            name=f"s{n}",
            tags=["1"] * len(one.x),
            share_ratio=one.share_ratio * n,
        )
        for n in range(60)
    )
    chart = replace(four, panels=(replace(panel, series=series),), trajectory_label="batch")
    figure = draw(chart).figure
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "s59" in texts
    assert "s1" not in texts
    assert "and 46 more" in texts
    assert sum(text.startswith("batch") for text in words(axes_of(figure))) <= 8


def test_sizes_and_kinds_that_there_are_not() -> None:
    with pytest.raises(
        UsageError, match="--size: invalid value 'poster'; use one of: column, page"
    ):
        size_named("poster")
    with pytest.raises(UsageError, match=r"has '\.docx'; use one of: .*png.*svg"):
        check_suffix(".docx")
    with pytest.raises(UsageError, match="has no extension"):
        check_suffix("")
    assert check_suffix(".SVG") == "svg"


# -- names from traces ----------------------------------------------------------------------------

HOSTILE = (
    "$\\frac{1}{0}$",
    "_hidden",
    "a\\b",
    "<script>alert(1)</script>",
    "one\ntwo",
    "x" * 4_000,
    "核函数",
    "\u202ereversed\x1b[31m",
    "]]>&amp;%s{0}",
    "",
    "\ud800",
)


def renamed(chart: Chart, name: str) -> Chart:
    """The chart with every name another."""

    def of(series: RooflineSeries) -> RooflineSeries:
        return replace(series, names=[name] * len(series.names))

    panels = tuple(
        replace(panel, title=name, series=tuple(map(of, panel.series))) for panel in chart.panels
    )
    return replace(chart, panels=panels, title=name)


@pytest.fixture(scope="module")
def plain(session: Session) -> Axes:
    """A picture whose names are harmless."""
    return axes_of(draw(renamed(session.roofline_data(["four"]), "plain")).figure)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:20])
def test_a_name_changes_nothing_but_itself(four: Chart, plain: Axes, name: str) -> None:
    figure = draw(renamed(four, name)).figure
    other = axes_of(figure)
    assert signs(other) == signs(plain)
    assert [list(np.asarray(line.get_xdata())) for line in other.lines[:4]] == [
        list(np.asarray(line.get_xdata())) for line in plain.lines[:4]
    ]
    assert not any(c in text for text in words(other) for c in "\n\x1b\u202e\ud800")
    root = ET.fromstring(encoded(figure, "svg", SIZES["page"]))
    assert not [element for element in root.iter() if element.tag.endswith("script")]
    assert figure.get_size_inches()[0] == SIZES["page"].width


def test_what_the_font_has_no_glyph_for_is_escaped() -> None:
    assert drawable("a$b_c") == "a$b_c"
    assert drawable("µs \u00d7") == "µs \u00d7"
    assert drawable("核") == "\\u6838"
    assert drawable("a\nb\x1b") == "a\\nb\\x1b"


# -- words ----------------------------------------------------------------------------------------


def test_other_words() -> None:
    assert [seconds(v) for v in (1e-6, 1, 0.02)] == ["1 µs", "1 s", "20 ms"]
    assert [short(v, "flop/s") for v in (1.25e14, 1.57e13, 1e9)] == [
        "125 TFLOP/s",
        "15.7 TFLOP/s",
        "1 GFLOP/s",
    ]
    assert [short(v, "ns") for v in (4200, 1e6, 100)] == ["4.2 µs", "1 ms", "100 ns"]
    assert [counted(n, "launch") for n in (1, 2)] == ["1 launch", "2 launches"]
    assert [counted(n, "class") for n in (1, 3_000)] == ["1 class", "3,000 classes"]


# -- many points ----------------------------------------------------------------------------------


def many(chart: Chart, count: int) -> Chart:
    """The chart with so many points in place of its own."""

    def places(low: float, high: float) -> Any:
        return np.exp(np.linspace(math.log(low), math.log(high), count))

    (panel,) = chart.panels
    series = replace(
        panel.series[0],
        names=[f"k{i}" for i in range(count)],
        x=places(chart.x.low, chart.x.high),
        y=places(chart.y.low, chart.y.high),
        share_ratio=np.full(count, 1 / count),
        group=[(i,) for i in range(count)],
    )
    return replace(chart, panels=(replace(panel, series=(series,)),))


@pytest.mark.parametrize(("count", "is_image"), [(3_000, False), (3_001, True)])
def test_very_many_points_are_an_image_in_files_of_vectors(
    four: Chart, count: int, is_image: bool
) -> None:
    figure = draw(many(four, count)).figure
    svg = encoded(figure, "svg", SIZES["page"])
    assert (b"<image" in svg) == is_image
    assert len(svg) < 3_000_000
    assert len(signs(axes_of(figure))) == count
