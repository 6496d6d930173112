"""Results of Google Benchmark: what names set, what was measured, repetitions and aggregates."""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from tests.parsers.configurations import FIXTURES, labels, metrics, names, read, status, units
from tests.parsers.conftest import Parsed
from tracekit.conformance import check_parser
from tracekit.errors import FormatError
from tracekit.parser import Report
from tracekit.parsers.google_benchmark import GoogleBenchmarkParser
from tracekit.parsers.google_benchmark.rows import labels_of
from tracekit.source import Source

HERE = FIXTURES / "google_benchmark"
NS = {"ns": 1, "us": 1e3}


def parsed(case: str, name: str = "out.json") -> Parsed:
    return read(HERE / case / name, "google-benchmark")


def of_text(folder: Path, content: str) -> Parsed:
    (folder / "file.json").write_text(content)
    return read(folder / "file.json", "google-benchmark")


def console(case: str) -> list[tuple[str, float, float]]:
    """Name, real and CPU time in ns, as Google Benchmark prints them."""
    line = re.compile(r"(\S.*?)\s+([\d.]+) (ns|us)\s+([\d.]+) (ns|us)\s+\d+\b.*")
    found = filter(None, map(line.fullmatch, (HERE / case / "console.txt").read_text().split("\n")))
    return [(f[1], float(f[2]) * NS[f[3]], float(f[4]) * NS[f[5]]) for f in found]


# -- what the tool itself says --------------------------------------------------------------------


def test_times_are_those_of_the_console() -> None:
    found = parsed("all")
    printed = [row for row in console("all") if not re.search("_(mean|median|stddev|cv)$", row[0])]
    measured = [
        (name, row["real_time"], row["cpu_time"])
        for name, row in zip(names(found), metrics(found), strict=True)
        if "real_time" in row
    ]
    assert len(printed) == 19
    for (name, real, cpu), row in zip(printed, measured, strict=True):
        assert row[0] == name
        assert row[1:] == pytest.approx((real, cpu), rel=0.005 if real > 2 else 0.25)


def test_rates_are_work_by_time() -> None:
    found = parsed("all")
    for told, row in zip(labels(found), metrics(found), strict=True):
        if told["benchmark"] == "copy":
            seconds, count = row["cpu_time"] * 1e-9, int(told["rows"])
            assert row["items_per_second"] * seconds == pytest.approx(count)
            assert row["bytes_per_second"] * seconds == pytest.approx(count * int(told["columns"]))
        elif "flop" in row:
            assert row["flop"] * row["cpu_time"] * 1e-9 == pytest.approx(int(told["arg0"]))
            assert row["numbers"] == int(told["arg0"])


def test_a_metric_has_one_unit() -> None:
    for case in ("all", "repetitions", "aggregates", "bindings"):
        told = units(parsed(case))
        assert {name for name, found in told.items() if len(found) > 1} == set()
        assert told["real_time"] == told["cpu_time"] == {"ns"}
    assert told["items_per_second"] == {"items/s"}


def test_labels_of_every_kind() -> None:
    told = dict(zip(names(parsed("all")), labels(parsed("all")), strict=True))
    one = {"threads": "1"}
    assert told["copy/rows:64/columns:512"] == {
        "benchmark": "copy",
        "rows": "64",
        "columns": "512",
        **one,
    }
    assert told["add/256"] == {"benchmark": "add", "arg0": "256", "label": "double", **one}
    template = "divide<std::vector<int>::size_type, double>"
    assert told[f"{template}/iterations:1000"] == {
        "benchmark": template,
        "iterations_set": "1000",
        **one,
    }
    assert told["wait_for/min_time:0.010/manual_time"] == {
        "benchmark": "wait_for",
        "min_time": "0.010",
        "clock": "manual_time",
        **one,
    }
    assert told["wait_for/process_time/real_time/threads:2"] == {
        "benchmark": "wait_for",
        "clock": "process_time/real_time",
        "threads": "2",
    }
    assert told["Sorted/search/-1/repeats:2"] == {
        "benchmark": "Sorted/search",
        "arg0": "-1",
        "repetitions": "2",
        "repetition": "1",
        **one,
    }
    assert told["named/a_case"] == {"benchmark": "named/a_case", **one}


def test_what_gave_up_has_failed_and_no_times() -> None:
    found = parsed("all")
    place = names(found).index("refuse/16")
    assert status(found)[place] == ("failed", "too large: 16 > 8")
    assert metrics(found)[place] == {}
    assert [kind for kind, _ in status(found)].count("failed") == 1
    assert status(parsed("bindings")).count(("failed", "no device")) == 2


def test_counters_that_are_no_number_are_missing() -> None:
    found = parsed("all")
    row = metrics(found)[names(found).index("odd")]
    assert (row["loss"], row["ratio"]) == (None, None)
    messages = [i.message for i in found.report.issues.values() if i.code == "no_number"]
    assert [re.findall("'(.*?)'", message) for message in messages] == [
        ["loss", "NaN"],
        ["ratio", "Infinity"],
    ]


# -- repetitions and aggregates -------------------------------------------------------------------


def test_aggregates_of_repetitions_in_the_file_are_left_out() -> None:
    found = parsed("repetitions")
    (issue,) = (i for i in found.report.issues.values() if i.code == "aggregate")
    assert (issue.severity_kind, issue.skipped_event_count) == ("info", 7 * 4)
    assert found.report.event_count == 7 * (3 + 4) + 2 == 7 * 3 + 2 + issue.skipped_event_count
    rows = list(zip(labels(found), metrics(found), strict=True))
    entries = json.loads((HERE / "repetitions" / "out.json").read_text())["benchmarks"]
    means = [e for e in entries if e.get("aggregate_name") == "mean"]
    measured = [row for told, row in rows if "repetition" in told]
    assert [told["repetition"] for told, _ in rows if "repetition" in told] == ["0", "1", "2"] * 7
    for number, entry in enumerate(means):
        of_it = measured[3 * number : 3 * number + 3]
        assert mean(row["real_time"] for row in of_it) == pytest.approx(entry["real_time"])


def test_no_two_configurations_have_the_same_labels() -> None:
    for case in ("all", "repetitions", "aggregates", "bindings"):
        told = [json.dumps(row, sort_keys=True) for row in labels(parsed(case))]
        assert len({*told}) == len(told)


def test_aggregates_alone_are_kept() -> None:
    found = parsed("aggregates")
    assert "aggregate" not in found.codes
    told = [row["aggregate"] for row in labels(found)]
    assert told == ["mean", "median", "stddev", "cv"] * 7 + ["BigO", "RMS"]
    first = metrics(found)[3]
    assert set(first) == {
        "iterations",
        "real_time_cv",
        "cpu_time_cv",
        "bytes_per_second_cv",
        "items_per_second_cv",
    }
    (stddev, average) = (metrics(found)[i]["real_time"] for i in (2, 0))
    assert first["real_time_cv"] == pytest.approx(stddev / average)


def test_the_fit_is_kept() -> None:
    found = parsed("all")
    fit, error = (
        dict(zip(names(found), metrics(found), strict=True))[f"add_{name}"]
        for name in ("BigO", "RMS")
    )
    sizes = {64: 69.238, 256: 267.891, 1024: 1097.798}  # the console's times
    slope = sum(n * t for n, t in sizes.items()) / sum(n * n for n in sizes)
    assert fit["real_coefficient"] == pytest.approx(slope, rel=1e-4)
    assert error == {"rms": pytest.approx(0.0077703, rel=1e-4)}
    assert units(found)["rms"] == {"ratio"}


# -- what the file says of itself -----------------------------------------------------------------


def test_the_context_is_kept_and_warns() -> None:
    found = parsed("all")
    said = json.loads(found.facts["metadata_json"])
    assert (said["host_name"], said["num_cpus"], said["load_avg"][0]) == ("host", 2, 0.928223)
    assert found.facts["recording_kind"] == "results"
    assert found.issues["debug_build"].severity_kind == "warning"
    assert "cpu_scaling" not in found.codes
    assert parsed("bindings").facts["profiler_name"] == "Google Benchmark 1.9.5"
    old = parsed("hand-made", "old.json")
    assert old.issues["cpu_scaling"].severity_kind == "warning"
    assert "debug_build" not in old.codes


# -- old, sorted and damaged ----------------------------------------------------------------------


def test_a_file_of_before_1_5_has_aggregates_by_name() -> None:
    found = parsed("hand-made", "old.json")
    sort, find = ({"benchmark": b, "arg0": "8"} for b in ("sort", "find"))
    assert labels(found) == [
        sort | {"threads": "2"},
        sort | {"threads": "2"},
        find | {"aggregate": "mean"},
        find | {"aggregate": "cv"},
    ]
    assert metrics(found) == [
        {"iterations": 100, "real_time": 1.5e6, "cpu_time": 2.5e6, "cv": 0.25},
        {"iterations": 100, "real_time": 2.5e6, "cpu_time": 3.5e6, "cv": 0.75},
        {"iterations": 2, "real_time": 20_000, "cpu_time": 30_000},
        {"iterations": 2, "real_time_cv": 0.5, "cpu_time_cv": 0.25},
    ]
    skipped = {code: issue.skipped_event_count for code, issue in found.issues.items()}
    assert skipped == {"aggregate": 2, "damaged_row": 2, "cpu_scaling": 0}


def test_a_file_with_sorted_names() -> None:
    found = parsed("hand-made", "sorted.json")
    assert labels(found) == [
        {"benchmark": "a<b/c>", "x": "1", "arg1": "2", "arg2": "word", "arg3": "y", "threads": "1"},
        {"benchmark": "gpu", "clock": "real_time", "threads": "1"},
    ]
    first, second = metrics(found)
    assert first == {"cpu_time": 2e9, "iterations": 10, "real_time": 1e9, "wide": None}
    assert (status(found), second) == ([("ok", None), ("failed", "no GPU")], {})
    assert found.facts["profiler_name"] == "Google Benchmark v1.9.4"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("a", {"benchmark": "a"}),
        ("", {"benchmark": ""}),
        ("/", {"benchmark": "/"}),
        ("a/1/2", {"benchmark": "a", "arg0": "1", "arg1": "2"}),
        ("a/n:1/2", {"benchmark": "a", "n": "1", "arg1": "2"}),
        ("a/threads:2/1", {"benchmark": "a", "threads": "2", "arg0": "1"}),
        ("operator<</8", {"benchmark": "operator<</8"}),
        ("a>b/8", {"benchmark": "a>b", "arg0": "8"}),
    ],
)
def test_names(name: str, told: dict[str, Any]) -> None:
    assert labels_of(name) == told


def test_a_cut_file_gives_its_rows_up_to_the_cut(tmp_path: Path) -> None:
    content = (HERE / "all" / "out.json").read_text()
    whole = metrics(parsed("all"))
    for end in range(content.index("copy/rows:64"), len(content) - 4, 499):
        found = of_text(tmp_path, content[:end])
        got = metrics(found)
        assert got == whole[: len(got)]
        aggregates = len(re.findall('"name": "[^"]*_(?:mean|median|stddev|cv)"', content[:end]))
        assert len(got) >= content[:end].count('"name"') - 1 - aggregates
        assert found.issues["cut_content"].severity_kind == "error"
        assert found.facts["is_complete"] is False


def test_something_behind_the_document_is_told(tmp_path: Path) -> None:
    content = (HERE / "hand-made" / "sorted.json").read_text()
    assert "trailing_content" in of_text(tmp_path, content * 2).codes


@pytest.mark.parametrize(
    "content", ['{"context": {}, "benchmarks": []}', '{"context": {', "[]", "", '{"benchmarks": 7}']
)
def test_what_has_no_benchmark_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(content)
    with pytest.raises(FormatError, match="no benchmarks found; run the program with"):
        list(GoogleBenchmarkParser().parse(Source.at(tmp_path / "file"), Report()))


@pytest.mark.deep
def test_a_hundred_thousand_runs(tmp_path: Path) -> None:
    runs = ",\n".join(
        f'{{"name": "f/{i}", "run_name": "f/{i}", "run_type": "iteration", "repetitions": 1, '
        f'"threads": 1, "iterations": 5, "real_time": {i}.5, "cpu_time": 1, "time_unit": "ns"}}'
        for i in range(100_000)
    )
    found = of_text(
        tmp_path, f'{{"context": {{"num_cpus": 1, "mhz_per_cpu": 1}}, "benchmarks": [{runs}]}}'
    )
    told = metrics(found)
    assert len(told) == 100_000
    assert sum(row["real_time"] for row in told) == 100_000 * 50_000


@pytest.mark.parametrize(
    "case", ["bindings/out.json", "hand-made/old.json", "hand-made/sorted.json"]
)
def test_it_passes_the_conformance_suite(case: str) -> None:
    check_parser(GoogleBenchmarkParser(), (HERE / case).read_bytes(), effort=40)
