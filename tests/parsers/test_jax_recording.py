"""A dump of JAX and its viewer export, of one recording: both are read, and say the same."""

from __future__ import annotations

import collections
import gzip
import json
from pathlib import Path

import pytest

from tests.parsers.conftest import Parsed, gathered
from tracekit.parser import Report
from tracekit.registry import detect
from tracekit.source import Source

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "tensorflow_profiler" / "jax-cpu"
DUMP, EXPORT = FOLDER / "host.xplane.pb", FOLDER / "trace.json.gz"


def read(path: Path) -> Parsed:
    report, source = Report(), Source.at(path)
    return gathered(detect(source).parser.parse(source, report), report)


@pytest.fixture(scope="module")
def dump() -> Parsed:
    return read(DUMP)


@pytest.fixture(scope="module")
def export() -> Parsed:
    return read(EXPORT)


def test_each_is_read_by_its_own_parser() -> None:
    names = [detect(Source.at(path)).parser.name for path in (DUMP, EXPORT)]
    assert names == ["tensorflow-profiler", "tensorflow-trace"]


def test_they_have_the_same_intervals(dump: Parsed, export: Parsed) -> None:
    """The export has the microseconds as text; moments (no duration) it marks as such."""
    intervals = [
        collections.Counter(
            (row["name"], row["start_ns"], row["dur_ns"]) for row in found["slice"] if row["dur_ns"]
        )
        for found in (dump, export)
    ]
    assert intervals[0] == intervals[1]
    assert intervals[0].total() > 100


def test_they_are_those_of_the_export_as_json() -> None:
    events = json.loads(gzip.decompress(EXPORT.read_bytes()))["traceEvents"]
    longest = max((e for e in events if e.get("ph") == "X"), key=lambda e: e["dur"])
    row = max(read(DUMP)["slice"], key=lambda row: row["dur_ns"])
    assert (row["name"], row["dur_ns"]) == (longest["name"], round(longest["dur"] * 1000))


def test_they_have_the_same_steps(dump: Parsed, export: Parsed) -> None:
    steps = [
        [
            (row["step_index"], row["start_ns"], row["dur_ns"])
            for row in found["step"]
            if row["step_kind"] == "host"
        ]
        for found in (dump, export)
    ]
    assert steps[0] == steps[1]
    assert [index for index, _, _ in steps[0]] == [0, 1, 2]


def test_they_have_the_same_instructions(dump: Parsed, export: Parsed) -> None:
    sums = [
        {
            (row["name"], row["occurrence_count"], row["dur_ns"])
            for row in found["op_stat"]
            if row["op_kind"] == "hlo"
        }
        for found in (dump, export)
    ]
    assert sums[0] == sums[1]
    assert any(name.startswith("dot") or "fusion" in name for name, _, _ in sums[0])


def test_the_dump_says_what_wrote_it(dump: Parsed) -> None:
    assert dump.facts["profiler_name"].startswith("JAX profiler 0.10.2")
    assert dump.facts["base_time_ns"] > 1_790_000_000 * 10**9
