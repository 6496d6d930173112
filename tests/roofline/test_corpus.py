"""Real reports: with operations and bytes they give a figure, else they say what is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ingested import Ingested
from tracekit.errors import FormatError, UsageError
from tracekit.render.charts import draw
from tracekit.render.figure import SIZES, encoded
from tracekit.roofline.chart import MODELS
from tracekit.roofline.request import RooflineRequest
from tracekit.session import Session

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "ncu"
FILES = sorted(path.name for path in FOLDER.iterdir()) if FOLDER.is_dir() else []
#: What ran them, by the notes beside the files; ncu does not say.
DEVICES = {
    "gardenia": "NVIDIA A100-SXM4-40GB",
    "lbnl": "NVIDIA GeForce RTX 4090",
    "nsightful": "Tesla T4",
    "olajide": "NVIDIA GeForce RTX 5070",
    "superbench": "NVIDIA B200",
}
DRAWN = {
    "gardenia-gemm-a100-roofline.csv",
    "gardenia-sgemm-a100-roofline.csv",
    "gardenia-sharedtile-a100-errors.csv",
    "lbnl-gpp-cc89-roofline-plain.csv",
    "lbnl-gpp-cc89-roofline.csv",
    "lbnl-gpp-run0.csv",
}
WITHOUT_KERNELS = {"gardenia-profile-error-only.csv", "lbnl-gpp-nokernels.csv"}


@pytest.fixture(autouse=True)
def needs_the_corpus(corpus: Path) -> None:
    """Without the corpus these tests are skipped."""


Opened = Callable[[str], Session]


@pytest.fixture
def opened(ingested: Ingested) -> Opened:
    """The run `real` of a file, and what ran it."""

    def session(name: str) -> Session:
        device = DEVICES.get(name.split("-")[0])
        return Session(ingested.database(FOLDER / name, run_name="real", device_name=device))

    return session


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", sorted(DRAWN))
def test_operations_and_bytes_make_a_figure(name: str, opened: Opened) -> None:
    session = opened(name)
    for model in MODELS:
        chart = session.roofline_data(["real"], RooflineRequest(model=model))
        if model == "hierarchical":
            figure = draw(chart).figure
            assert encoded(figure, "png", SIZES["page"], 100).startswith(b"\x89PNG")
        rows = [row for row in chart.data.rows() if row["row_kind"] == "point"]
        assert any(row["place_kind"] == "drawn" for row in rows)
        assert not any(row["is_above_roof"] for row in rows)


def test_a_point_of_a_real_report(opened: Opened) -> None:
    """4.328 TFLOP and 528,014,094,848 bytes in 80,919,089,043 cycles of 1,619,895,602.07 Hz."""
    (row,) = [
        row
        for row in opened("lbnl-gpp-cc89-roofline.csv").roofline_data().data.rows()
        if row["row_kind"] == "point"
    ]
    seconds = 80_919_089_043 / 1_619_895_602.07
    assert row["total_bytes"] == 528_014_094_848
    assert row["known_ns"] == pytest.approx(seconds * 1e9, rel=1e-9)
    assert row["total_flop"] / row["total_bytes"] == row["intensity_flop_per_byte"]
    assert row["achieved_flop_per_s"] == pytest.approx(row["total_flop"] / seconds, rel=1e-9)
    assert row["intensity_flop_per_byte"] == pytest.approx(8.196, abs=5e-4)


def test_operations_and_bytes_without_times_make_a_complexity_plane(opened: Opened) -> None:
    """One launch of nvprof's: 607,125,504 FLOP and 723,834 + 140,546 sectors of 32 bytes."""
    session = opened("darknet19-nvprof-metrics.txt")
    chart = session.roofline_data(["real"], RooflineRequest(model="complexity"))
    rows = {row["name"]: row for row in chart.data.rows() if row["row_kind"] == "point"}
    kinds = [row["place_kind"] for row in rows.values()]
    assert [kinds.count(kind) for kind in ("drawn", "zero_ai", "no_bytes", "unknown")] == [
        10,
        4,
        2,
        0,
    ]
    gemm = rows["volta_sgemm_128x64_nn"]
    assert (gemm["total_flop"], gemm["total_bytes"]) == (607_125_504, (723_834 + 140_546) * 32)
    assert (gemm["known_ns"], gemm["share_ratio"], gemm["roof_ratio"]) == (None, None, None)
    with pytest.raises(UsageError, match=r"time is unknown .* --model complexity needs no time"):
        session.roofline_data(["real"])


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", sorted(set(FILES) - DRAWN - WITHOUT_KERNELS))
def test_what_is_missing_is_said(name: str, opened: Opened) -> None:
    with pytest.raises(UsageError, match=r"unknown for|not have|no kernels with") as caught:
        opened(name).roofline_data(request=RooflineRequest())
    assert "nsight-compute --metrics" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", sorted(WITHOUT_KERNELS))
def test_what_has_no_kernel_does_not_come_in(name: str, opened: Opened) -> None:
    with pytest.raises(FormatError):
        opened(name)


def test_every_file_is_looked_at() -> None:
    assert set(FILES) > WITHOUT_KERNELS | DRAWN
    assert len(FILES) == 20
