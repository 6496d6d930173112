"""What the time of a run depends on, as the command line says it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tracekit as package

Tracekit = Callable[..., Any]


def test_kinds_come_first_then_names(
    tracekit: Tracekit, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    answer = tracekit("critical-path", "gpu", "--store", filled, "--top", "3")
    assert (answer.code, answer.messages) == (0, "")
    lines = answer.text.splitlines()
    assert lines[0].startswith("Critical path of 11.90 ms: ")
    rows = [line.split() for line in lines if line.startswith(("host", "launch", "kernel"))]
    assert rows[0][:2] == ["host", "(all)"]
    assert "run: gpu" in lines
    assert all(len(line) <= 80 for line in lines)


def test_rows_for_programs_are_in_base_units(tracekit: Tracekit, filled: Path) -> None:
    words = ("critical-path", "--run", "gpu", "--store", filled)
    rows = list(csv.DictReader(io.StringIO(tracekit(*words, "--format", "csv").text)))
    of_kinds = [row for row in rows if row["row_kind"] == "kind"]
    window = tracekit(
        *("sql", "SELECT end_ns - start_ns AS ns FROM step_window('gpu', 'all')"),
        *("--store", filled, "--format", "csv"),
    )
    assert sum(int(row["path_ns"]) for row in of_kinds) == int(window.text.split()[1])
    assert len(rows) == len(of_kinds) + 10
    steps = tracekit(*words, "--phase", "1..1", "--format", "json", "--top", "0")
    assert {row["row_kind"] for row in json.loads(steps.text)["rows"]} == {"kind"}
    session = package.open(filled).critical_path("gpu")
    assert [str(row["path_ns"]) for row in session.rows()] == [row["path_ns"] for row in rows]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("gpu", "--rank", "5"), "the run has no rank 5; "),
        (("gpu", "--top", "-1"), "Invalid value for '--top'"),
        (("gpu", "--phase", "x"), 'there is no phase "x"'),
        (("nothing",), "there is no run called 'nothing'"),
        (("gpu", "--run", "other"), "the argument 'gpu' and --run 'other' differ"),
    ],
)
def test_bad_input_is_refused(
    tracekit: Tracekit, filled: Path, words: tuple[str, ...], message: str
) -> None:
    answer = tracekit("critical-path", *words, "--store", filled)
    assert answer.code in (2, 5)
    assert message in answer.messages
    assert "Traceback" not in answer.messages


def test_a_run_without_a_device_has_none(tracekit: Tracekit, filled: Path) -> None:
    answer = tracekit("critical-path", "cpu", "--store", filled)
    assert answer.code == 2
    assert answer.error.startswith("the run cpu has no timeline of devices")
