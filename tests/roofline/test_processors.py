"""Rooflines of what perf stat counted: runs along a label, intervals in time, sockets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tracekit import ingest
from tracekit import open as opened
from tracekit.errors import UsageError
from tracekit.roofline.request import RooflineRequest
from tracekit.session import Session

JAVED = ROOT / "fixtures" / "javed2019"
SINGLES = ("scalar_single", "128b_packed_single", "256b_packed_single", "512b_packed_single")
DOUBLES = ("scalar_double", "128b_packed_double", "256b_packed_double", "512b_packed_double")


def lines(prefix: str, of_256: int, of_512: int, read: int, write: int) -> list[str]:
    """Eight counts and two of memory, as `perf stat -x,` has them behind `prefix`."""
    counts = dict.fromkeys((*SINGLES, *DOUBLES), 0) | {SINGLES[2]: of_256, SINGLES[3]: of_512}
    found = [
        f"{prefix}{n},,fp_arith_inst_retired.{event},1000,100.00,," for event, n in counts.items()
    ]
    found += [
        f"{prefix}{n},,unc_m_cas_count.{kind},1000,100.00,,"
        for kind, n in (("rd", read), ("wr", write))
    ]
    return found


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp("processors")
    store = folder / "S"
    for nodes in (1, 2, 4, 8):
        name = f"alexnet-ps4-vanilla-64-{nodes}"
        ingest(
            [JAVED / name],
            store,
            run_name=name,
            labels={"nodes": nodes},
            device_name="2x Xeon Gold 6126",
        )
    files: dict[str, list[str]] = {
        # 8 and 80 GFLOP/s; 6.4 and 3.2 GB/s
        "intervals": [
            *lines("1.000000000,", 10**9, 0, 10**8 // 2, 10**8 // 2),
            *lines("3.000000000,", 0, 10**10, 10**8 // 2, 10**8 // 2),
        ],
        "sockets": [
            *lines("S0,12,", 10**9, 0, 10**8, 0),
            *lines("S1,12,", 10**9, 0, 10**8, 10**8),
            "S0,12,1000000000,ns,duration_time,1000,100.00,,",
        ],
        "no-events": ["1000000000,ns,duration_time,1000,100.00,,", "5,,cycles,1000,100.00,,"],
    }
    for name, rows in files.items():
        (folder / f"{name}.csv").write_text("".join(row + "\n" for row in rows))
        ingest([folder / f"{name}.csv"], store, run_name=name, device_name="2x Xeon Gold 6126")
    ingest(
        [ROOT / "fixtures" / "roofline" / "blue.csv"],
        store,
        run_name="gpu",
        device_name="V100 (Wang 2020, measured)",
    )
    return opened(store)


def points(session: Session, *runs: str, **asked: Any) -> list[dict[str, Any]]:
    rows = session.roofline_data(runs, RooflineRequest(**asked)).data.rows()
    return [row for row in rows if row["row_kind"] == "point"]


def test_runs_along_a_label_have_the_rate_of_a_node(session: Session) -> None:
    found = sorted(points(session, "alexnet*", trajectory="nodes"), key=lambda row: row["tag"])
    assert [row["tag"] for row in found] == ["1", "2", "4", "8"]
    rates = [row["achieved_flop_per_s"] for row in found]
    assert rates == pytest.approx([311e9, 250e9, 168e9, 98e9])
    assert [row["intensity_flop_per_byte"] for row in found] == pytest.approx(
        [2.6, 2.4, 2.2, 2.0], rel=1e-6
    )
    # 128 GB/s: 93, 81, 60 and 38 % of the roof, the third just below
    shares = [311 / 2.6, 250 / 2.4, 168 / 2.2, 98 / 2.0]
    assert [row["bound_kind"] for row in found] == [
        "bandwidth" if share / 128 >= 0.6 else "latency" for share in shares
    ]


def test_the_roof_is_that_of_the_width_in_use(session: Session) -> None:
    chart = session.roofline_data(["alexnet-ps4-vanilla-64-1"], RooflineRequest())
    drawn = {line.names: line.value for line in chart.panels[0].lines}
    assert drawn == {
        ("fp32_avx2",): pytest.approx(710.4e9),
        ("dram",): pytest.approx(119.21 * 2**30),
    }
    chart = session.roofline_data(["intervals"], RooflineRequest())
    names = {line.names for line in chart.panels[0].lines}
    assert names == {("fp32_avx2",), ("fp32_avx512",), ("dram",)}


def test_intervals_are_a_line_in_time(session: Session) -> None:
    chart = session.roofline_data(["intervals"], RooflineRequest(by="interval"))
    (series,) = chart.panels[0].series
    assert (series.kind, series.name, series.tags) == ("trajectory", "intervals", ["1 s", "3 s"])
    assert chart.trajectory_label == "time"
    # 8e9 FLOP in the first second, 16e10 in the two after it; 6.4e9 bytes each time
    assert series.y.tolist() == pytest.approx([8e9, 80e9])
    assert series.x.tolist() == pytest.approx([8e9 / 6.4e9, 160e9 / 6.4e9])


def test_sockets_stand_apart(session: Session) -> None:
    found = {row["name"]: row for row in points(session, "sockets", by="scope")}
    assert found["S0"]["intensity_flop_per_byte"] == pytest.approx(8e9 / 6.4e9)
    assert found["S1"]["intensity_flop_per_byte"] == pytest.approx(8e9 / 12.8e9)
    (whole,) = points(session, "sockets")
    assert whole["intensity_flop_per_byte"] == pytest.approx(16e9 / 19.2e9)
    assert whole["achieved_flop_per_s"] == pytest.approx(16e9)


def test_processors_and_gpus_can_be_in_one_chart(session: Session) -> None:
    found = points(session, "gpu", "alexnet-ps4-vanilla-64-1", by="run")
    assert {row["device_name"] for row in found} == {
        "V100 (Wang 2020, measured)",
        "2x Xeon Gold 6126 (Javed 2019)",
    }


@pytest.mark.parametrize(
    ("runs", "asked", "message"),
    [
        (
            ("gpu",),
            {"by": "interval"},
            r"--by interval is for .* \(perf stat\), .*: name, launch, c",
        ),
        (
            ("no-events",),
            {},
            r"no event that counts them was collected.*tracekit formats perf-stat",
        ),
        (("intervals",), {"level": "l2"}, "bytes of L2 are not counted on processors"),
        (
            ("intervals",),
            {"by": "interval", "trajectory": "nodes"},
            "cannot use --by interval: intervals of",
        ),
        (("intervals",), {"ceiling": "fp64"}, "no peak 'fp64' is known for the device '2x Xeon"),
    ],
)
def test_what_cannot_be_drawn_is_said(
    session: Session, runs: tuple[str, ...], asked: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        session.roofline_data(runs, RooflineRequest(**asked))


def test_many_intervals_draw_quickly_enough_to_look_at(tmp_path: Path) -> None:
    rows = [
        row
        for i in range(1, 301)
        for row in lines(f"{i / 10:.9f},", i * 10**6, 0, 10**6 + i, 10**6)
    ]
    (tmp_path / "long.csv").write_text("".join(row + "\n" for row in rows))
    ingest([tmp_path / "long.csv"], tmp_path / "S", device_name="2x Xeon Gold 6126")
    drawn = opened(tmp_path / "S").roofline(by="interval")
    assert len([row for row in drawn.data.rows() if row["row_kind"] == "point"]) == 300
    (axes,) = drawn.figure.axes
    arrows = [text for text in axes.texts if getattr(text, "arrow_patch", None) is not None]
    assert len(arrows) < 20  # of names, none along the line
