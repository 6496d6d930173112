"""Results of pytest-benchmark: parameters, statistics, what tests say themselves."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.parsers.configurations import FIXTURES, labels, metrics, names, read, status, units
from tests.parsers.conftest import Parsed
from tracekit.conformance import check_parser
from tracekit.errors import FormatError
from tracekit.parser import Report
from tracekit.parsers.pytest_benchmark import PytestBenchmarkParser
from tracekit.source import Source

HERE = FIXTURES / "pytest_benchmark"


def parsed(case: str, name: str = "out.json") -> Parsed:
    return read(HERE / case / name, "pytest-benchmark")


def of_text(folder: Path, content: str) -> Parsed:
    (folder / "file.json").write_text(content)
    return read(folder / "file.json", "pytest-benchmark")


@pytest.mark.parametrize("case", ["json", "saved"])
def test_statistics_and_parameters_are_those_of_compare(case: str) -> None:
    found = parsed(case)
    rows = dict(zip(names(found), zip(labels(found), metrics(found), strict=True), strict=True))
    with (HERE / case / "compare.csv").open() as file:
        expected = list(csv.DictReader(file))
    assert len(expected) == len(rows) == 8
    for row in expected:
        told, measured = rows[row["name"]]
        for column in (
            "min",
            "max",
            "mean",
            "stddev",
            "median",
            "iqr",
            "ops",
            "rounds",
            "iterations",
        ):
            assert measured[column] == float(row[column])
        outliers = f"{measured['stddev_outliers']:.0f};{measured['iqr_outliers']:.0f}"
        assert outliers == row["outliers"]
        parameters = {
            key.removeprefix("param:"): value
            for key, value in row.items()
            if key.startswith("param:") and value
        }
        if "UNSERIALIZABLE" in parameters.get("word", ""):
            parameters = {"word": "word2"}
        assert {name: told[name] for name in ("n", "kind", "word") if name in told} == parameters


def test_labels() -> None:
    told = labels(parsed("saved"))
    common = {"timer": "perf_counter", "disable_gc": "false"}
    assert told[0] == {
        "benchmark": "test_sum",
        "suite": "test_small.py",
        "n": "2000",
        "kind": "list",
        "elements": "2000",
        "library": "builtin",
        **common,
    }
    assert told[4] == {
        "benchmark": "test_sort",
        "suite": "test_small.py",
        "group": "sort",
        "timer": "process_time",
        "disable_gc": "true",
    }
    suite = {"benchmark": "test_upper", "suite": "test_small.py::TestText", **common}
    assert told[5:] == [suite | {"word": word} for word in ("a-b", "[x]", "word2")]


def test_what_a_test_says_itself_is_a_label_or_a_metric() -> None:
    found = parsed("saved")
    assert [(row.get("read_bytes"), row.get("fill_ratio")) for row in metrics(found)] == [
        (16_000, 0.5),
        (16_000, 0.5),
        (160_000, 0.5),
        (160_000, 0.5),
        *[(None, None)] * 4,
    ]
    told = units(found)
    assert (told["read_bytes"], told["fill_ratio"]) == ({"byte"}, {"ratio"})


def test_units() -> None:
    told = units(parsed("saved"))
    seconds = {name for name, unit in told.items() if unit == {"s"}}
    assert seconds == {
        "min",
        "max",
        "mean",
        "stddev",
        "median",
        "iqr",
        "q1",
        "q3",
        "ld15iqr",
        "hd15iqr",
        "total",
    }
    assert told["ops"] == {"1/s"}
    for row in metrics(parsed("saved")):
        assert row["ops"] * row["mean"] == pytest.approx(1)
        assert row["total"] == pytest.approx(row["mean"] * row["rounds"])


def test_times_of_rounds_are_told_and_left_out() -> None:
    issue = parsed("json").issues["single_times"]
    assert (issue.severity_kind, issue.occurrence_count) == ("info", 8)
    assert parsed("saved").codes == []


def test_what_the_file_says_of_itself() -> None:
    facts = parsed("saved").facts
    said = json.loads(facts["metadata_json"])
    assert facts["profiler_name"] == "pytest-benchmark 5.3.1"
    assert facts["recording_kind"] == "results"
    assert said["machine_info"]["node"] == "host"
    assert said["commit_info"]["dirty"] is False
    assert said["options"]["max_time"] == 0.001
    assert "timer" not in said["options"]


def test_a_file_of_version_3() -> None:
    found = parsed("hand-made", "old.json")
    suite = {"suite": "tests/test_a.py"}
    assert labels(found) == [
        {"benchmark": "test_a", "group": "g", "param": "8-x"} | suite,
        {"benchmark": "test_b"} | suite,
    ]
    assert metrics(found) == [
        {"min": 0.5, "max": None, "mean": 1, "stddev": 0, "rounds": 3, "ops": 1},
        {"min": None},
    ]
    assert status(found) == [("ok", None), ("failed", None)]
    assert found.issues["damaged_row"].skipped_event_count == 2
    assert found.codes.count("no_number") == 2
    assert found.report.event_count == 4


def test_several_objects_stay_as_they_are(tmp_path: Path) -> None:
    found = of_text(
        tmp_path,
        json.dumps(
            {
                "machine_info": {},
                "benchmarks": [
                    {
                        "name": "t[a0-b0]",
                        "param": "a0-b0",
                        "stats": {"min": 1},
                        "fullname": "f",
                        "extra_info": {},
                        "params": {"a": "UNSERIALIZABLE[<A at 0x1>]", "b": [1, {"x": 2.5}]},
                    }
                ],
            }
        ),
    )
    assert labels(found) == [
        {"benchmark": "t", "a": "UNSERIALIZABLE[<A at 0x1>]", "b": '[1,{"x":2.5}]'}
    ]


def test_a_cut_file_gives_its_rows_up_to_the_cut(tmp_path: Path) -> None:
    content = (HERE / "saved" / "out.json").read_text()
    whole = metrics(parsed("saved"))
    starts = [i for i in range(len(content)) if content.startswith('"fullname"', i)]
    for end in range(starts[1], len(content) - 5, 331):
        found = of_text(tmp_path, content[:end])
        got = metrics(found)
        assert got == whole[: len(got)]
        assert len(got) >= sum(start < end for start in starts) - 1
        assert found.issues["cut_content"].severity_kind == "error"


@pytest.mark.parametrize(
    "content", ['{"machine_info": {}, "benchmarks": []}', "{", "", "7", "[{}]"]
)
def test_what_has_no_benchmark_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(content)
    with pytest.raises(FormatError, match="no benchmarks found; the tests may have failed"):
        list(PytestBenchmarkParser().parse(Source.at(tmp_path / "file"), Report()))


@pytest.mark.parametrize("case", ["saved/out.json", "hand-made/old.json"])
def test_it_passes_the_conformance_suite(case: str) -> None:
    check_parser(PytestBenchmarkParser(), (HERE / case).read_bytes(), effort=40)
