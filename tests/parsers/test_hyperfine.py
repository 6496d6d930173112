"""Results of hyperfine: commands, parameters, exit codes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.parsers.configurations import FIXTURES, labels, metrics, names, read, status, units
from tests.parsers.conftest import Parsed, gathered
from tracekit.conformance import check_parser
from tracekit.errors import FormatError
from tracekit.parser import Report
from tracekit.parsers.hyperfine import HyperfineParser
from tracekit.registry import detect
from tracekit.source import Source

HERE = FIXTURES / "hyperfine"
FIGURES = ("mean", "stddev", "median", "user", "system", "min", "max")


def parsed(case: str, name: str = "out.json") -> Parsed:
    return read(HERE / case / name, "hyperfine")


def exported(case: str) -> list[dict[str, str]]:
    with (HERE / case / "out.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("case", ["parameters", "commands", "failing"])
def test_figures_are_those_of_the_csv(case: str) -> None:
    found = parsed(case)
    for name, row, expected in zip(names(found), metrics(found), exported(case), strict=True):
        assert name == expected["command"]
        assert [row[figure] for figure in FIGURES] == [float(expected[f]) for f in FIGURES]


def test_figures_are_those_of_the_markdown_in_ms() -> None:
    lines = (HERE / "parameters" / "out.md").read_text().splitlines()[2:]
    for row, line in zip(metrics(parsed("parameters")), lines, strict=True):
        mean, least, most = (float(cell.split()[0]) for cell in line.split(" | ")[-4:-1])
        assert (row["mean"] * 1e3, row["min"] * 1e3, row["max"] * 1e3) == pytest.approx(
            (mean, least, most), abs=0.051
        )


def test_the_csv_is_read_as_a_table_of_results() -> None:
    path = HERE / "parameters" / "out.csv"
    parser = detect(Source.at(path)).parser
    assert parser.name == "results-table"
    report = Report()
    found = gathered(parser.parse(Source.at(path), report), report)
    told = [
        {name.removeprefix("parameter_"): text for name, text in row.items() if name != "command"}
        for row in labels(found)
    ]
    assert told == labels(parsed("parameters"))
    assert metrics(found) == [
        {name: row[name] for name in FIGURES} for row in metrics(parsed("parameters"))
    ]


def test_parameters_are_labels_and_the_command_only_where_they_do_not_tell_it() -> None:
    assert labels(parsed("parameters")) == [
        {"level": level, "tool": tool} for level in "12" for tool in ("gzip", "xz")
    ]
    assert labels(parsed("commands")) == [{"command": 'waits | "a bit"'}, {"command": "true"}]
    assert labels(parsed("hand-made", "memory.json")) == [
        {"command": "sleep 1", "n": "1"},
        {"command": "sleep 1 || true", "n": "1"},
        {"command": "exit 1", "n": "2"},
    ]


def test_a_single_run_has_no_deviation() -> None:
    (row,) = metrics(parsed("single"))
    assert "stddev" not in row
    assert row["mean"] == row["min"] == row["max"] == 0.0039027690000000004
    assert row["runs"] == 1


def test_memory_and_units() -> None:
    found = parsed("hand-made", "memory.json")
    assert [row.get("memory_usage_byte") for row in metrics(found)] == [2_097_152, 0, None]
    assert units(found) == {name: {"s"} for name in FIGURES} | {
        "memory_usage_byte": {"byte"},
        "runs": {None},
    }
    assert [row["runs"] for row in metrics(found)] == [2, 1, 3]


def test_exit_codes_are_said_and_times_kept() -> None:
    found = parsed("failing")
    assert status(found) == [
        ("ok", "exit code 3: 3 of 3 runs"),
        ("ok", "exit code 137: 3 of 3 runs"),
    ]
    issue = found.issues["exit_code"]
    assert (issue.severity_kind, issue.occurrence_count) == ("warning", 2)
    assert status(parsed("hand-made", "memory.json")) == [
        ("ok", None),
        ("ok", "exit code none (killed): 1 of 1 runs"),
        ("ok", "exit code 1: 1, 2: 1 of 3 runs"),
    ]
    assert "exit_code" not in parsed("parameters").codes


def test_what_is_no_result_is_counted() -> None:
    found = parsed("hand-made", "memory.json")
    assert found.issues["damaged_row"].skipped_event_count == 1
    assert found.report.event_count == 4


def test_a_cut_file_gives_its_rows_up_to_the_cut(tmp_path: Path) -> None:
    content = (HERE / "parameters" / "out.json").read_text()
    whole = metrics(parsed("parameters"))
    ends = [i + 5 for i in range(len(content)) if content.startswith("\n    }", i - 1)]
    assert len(ends) == 4
    for end in range(ends[0] + 1, len(content) - 4, 37):
        (tmp_path / "file").write_text(content[:end])
        found = read(tmp_path / "file", "hyperfine")
        assert metrics(found) == whole[: sum(place <= end for place in ends)]
        assert "cut_content" in found.codes


@pytest.mark.parametrize(
    "content", ['{"results": []}', '{"results": [', "[]", "", '{"results": 1}']
)
def test_what_has_no_result_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(content)
    with pytest.raises(FormatError, match="no results found; hyperfine stops at the first command"):
        list(HyperfineParser().parse(Source.at(tmp_path / "file"), Report()))


def test_other_results_are_not_claimed() -> None:
    sniff = HyperfineParser().sniff
    assert sniff(b'{"results": [{"command": "x", "score": 1}]}') is None
    assert sniff(b'{"results": [1, 2]}') is None
    assert sniff(b'[{"command": "x", "mean": 1, "user": 1, "system": 1}]') is None
    shuffled = {"results": [{"exit_codes": [0], "command": "x"}]}
    assert sniff(json.dumps(shuffled).encode()) is not None


@pytest.mark.parametrize("case", ["parameters/out.json", "hand-made/memory.json"])
def test_it_passes_the_conformance_suite(case: str) -> None:
    check_parser(HyperfineParser(), (HERE / case).read_bytes(), effort=40)
