"""What Nsight Compute wrote of an H100, against plain csv, its other pages, and the timeline."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

from tests.parsers.conftest import Parsed, gathered
from tracekit.parser import Report
from tracekit.registry import detect
from tracekit.source import Source

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
SMALL = FIXTURES / "nsight_compute" / "small-program-h100"
PROGRAMS = sorted(path.parent for path in (FIXTURES / "h100").glob("*/raw.csv.gz"))
PAGES = [*(folder / "raw.csv.gz" for folder in PROGRAMS), SMALL / "raw-base-units.csv.gz"]
TIME = "gpu__time_duration.sum"
#: 1.591 %/Kbyte on the one page is 1,591 %/byte on the other: ncu multiplies where it must divide.
WRONG_UNIT = "derived__pct_occupancy_per_shared_mem_size"


def read(path: Path) -> Parsed:
    source, report = Source.at(path), Report()
    return gathered(detect(source).parser.parse(source, report), report)


def metrics_of(found: Parsed) -> dict[tuple[int, str], float | None]:
    """Values by launch, in the order of the page, and metric."""
    launches = {row["event_id"]: number for number, row in enumerate(found["kernel"])}
    return {
        (launches[row["event_id"]], row["metric_name"]): row["value"]
        for row in found["kernel_metric"]
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.parent.name)
def test_each_launch_is_what_plain_csv_finds(page: Path) -> None:
    found = read(page)
    assert found.codes == []
    metrics = metrics_of(found)
    with (page.parent / "expected" / "launches.csv").open(encoding="utf-8", newline="") as lines:
        expected = list(csv.DictReader(lines))
    assert len(found["kernel"]) == len(expected) == found.report.event_count
    for number, (kernel, wanted) in enumerate(zip(found["kernel"], expected, strict=True)):
        name, grid, block, dur_ns, *counters = wanted
        shape = [tuple(kernel[f"{what}_{axis}"] for axis in "xyz") for what in ("grid", "block")]
        assert kernel["name"] == wanted[name]
        assert [str(one) for one in shape] == [wanted[grid], wanted[block]]
        assert kernel["dur_ns"] == pytest.approx(float(wanted[dur_ns]), abs=0.51)
        for counter in counters:
            value = metrics.get((number, counter))
            assert value == (pytest.approx(float(wanted[counter])) if wanted[counter] else None)
    with gzip.open(page, "rt", encoding="utf-8", newline="") as lines:
        header, _, *rows = csv.reader(lines)
    first = header.index("CC") + 1
    cells = sum(1 for row in rows for cell in row[first:] if cell)
    assert sum(row["status_kind"] != "empty" for row in found["kernel_metric"]) == cells


def test_the_pages_of_one_report_agree() -> None:
    """The raw page rounds to two decimals of a thousand, a million …"""
    raw, base = (metrics_of(read(SMALL / f"{n}.csv.gz")) for n in ("raw", "raw-base-units"))
    assert raw.keys() == base.keys()
    for (launch, name), value in base.items():
        scale = 1e-6 if name == WRONG_UNIT else 1
        wanted = None if value is None else pytest.approx(value * scale, rel=0.006, abs=0.006)
        assert raw[launch, name] == wanted
    times = [value for (_, name), value in base.items() if name == TIME]
    details = read(SMALL / "details.csv.gz")
    assert [row["dur_ns"] for row in details["kernel"]] == pytest.approx(times, rel=0.006)


@pytest.mark.parametrize("folder", PROGRAMS, ids=lambda path: path.name)
def test_a_step_of_the_timeline_launches_what_was_counted(folder: Path) -> None:
    """The timeline has two steps, in order; memory sets are kernels in neither."""
    timeline, counted = read(folder / "trace.json.gz"), read(folder / "raw.csv.gz")
    kernels = sorted(timeline["kernel"], key=lambda row: row["start_ns"])
    axes = [f"{what}_{axis}" for what in ("grid", "block") for axis in "xyz"]
    shapes = [[row[axis] for axis in axes] for row in kernels]
    step = [[row[axis] for axis in axes] for row in counted["kernel"]]
    assert shapes == step * 2
