"""Nothing is loaded before it is needed: what a command imports."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

LOADED = """
import sys
from tracekit.cli.app import run
assert run(sys.argv[1:]) == 0
print(*sys.modules, file=sys.stderr)
"""
#: A module of each format, and of what formats share, that telling files apart does not need.
READERS = {
    *(
        f"tracekit.parsers.{name}.rows"
        for name in (
            "google_benchmark",
            "hyperfine",
            "pytest_benchmark",
            "tensorflow_timeline",
            "tensorflow_tools",
            "tensorflow_trace",
            "torch_profiler",
        )
    ),
    *(
        f"tracekit.parsers.{name}.reading"
        for name in (
            "caffe_time",
            "mlperf",
            "nvprof",
            "perf_stat",
            "results_table",
        )
    ),
    "tracekit.parsers.nsight_compute.report",
    "tracekit.parsers.tensorflow_profiler.dump",
    *(f"tracekit.reading.{name}" for name in ("chrome.reader", "configurations", "xla")),
}
Loaded = Callable[..., set[str]]


@pytest.fixture
def loaded(here: Path) -> Loaded:
    """The modules that a command has loaded when it ends."""

    def call(*words: str | Path) -> set[str]:
        done = subprocess.run(
            [sys.executable, "-c", LOADED, *map(str, words)],
            capture_output=True,
            timeout=180,
            check=True,
        )
        return set(done.stderr.decode().splitlines()[-1].split())

    return call


@pytest.mark.parametrize("words", [["--help"], ["ingest", "--help"], ["kernels", "--help"]])
def test_help_loads_no_more_than_it_shows(loaded: Loaded, words: list[str]) -> None:
    found = loaded(*words)
    assert "typer" in found
    assert not found & {"pyarrow", "numpy", "duckdb", "pandas", "matplotlib", "msgspec"}


def test_an_ingest_loads_no_engine(loaded: Loaded, gpu_trace: Path) -> None:
    found = loaded("ingest", gpu_trace)
    assert "pyarrow" in found
    assert not found & {"duckdb", "pandas", "matplotlib"}


def test_an_ingest_loads_the_reader_of_one_format(loaded: Loaded, gpu_trace: Path) -> None:
    found = loaded("ingest", gpu_trace)
    assert found & READERS == {
        "tracekit.parsers.torch_profiler.rows",
        "tracekit.reading.chrome.reader",
    }
    assert not loaded("formats") & READERS


@pytest.mark.parametrize("words", [["kernels"], ["runs"], ["summary"]])
def test_a_question_loads_no_more_than_the_engine(
    loaded: Loaded, filled: Path, words: list[str]
) -> None:
    found = loaded(*words, "--store", filled)
    assert "duckdb" in found
    assert not found & {"pandas", "matplotlib", "filelock", "pyarrow.compute", "pydantic"}


QUESTIONS = """
import sys
from tracekit.cli.app import run
for line in sys.argv[2:]:
    words = line.split("|")
    assert run([*words, "--format", sys.argv[1]]) == 0, line
    print(line, *(name for name in sys.modules if "." not in name), sep="\\t", file=sys.stderr)
"""


@pytest.mark.parametrize("form", ["table", "json"])
def test_no_question_loads_pandas(here: Path, filled: Path, form: str) -> None:
    """One after the other in one process: what none of them may load is never there."""
    questions = ["kernels", "runs", "issues", "queries", "query|gpu_utilization", "sql|SELECT 1"]
    lines = ["formats", *(f"{words}|--store|{filled}" for words in questions)]
    done = subprocess.run(
        [sys.executable, "-c", QUESTIONS, form, *lines],
        capture_output=True,
        timeout=180,
        check=True,
    )
    told = [line.split("\t") for line in done.stderr.decode().splitlines() if "\t" in line]
    assert [line for line, *_ in told] == lines
    for line, *found in told:
        assert not set(found) & {"pandas", "matplotlib"}, line
        assert ("duckdb" in found) == (line != "formats"), line
