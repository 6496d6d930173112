"""Nothing is loaded before it is needed: what a command imports."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

LOADED = """
import sys
try:
    sys.argv = ["tracekit", *sys.argv[1:]]
    import tracekit.cli
    tracekit.cli.main()
finally:
    print(*(name for name in sys.modules if "." not in name), file=sys.stderr)
"""
Loaded = Callable[..., set[str]]


@pytest.fixture
def loaded(here: Path) -> Loaded:
    """The modules that a command has loaded when it ends."""

    def call(*words: str | Path) -> set[str]:
        done = subprocess.run(
            [sys.executable, "-c", LOADED, *map(str, words)], capture_output=True, timeout=180,
            check=True,
        )  # fmt: skip
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


@pytest.mark.parametrize(
    "words", [["kernels"], ["runs"], ["issues"], ["queries"], ["query", "gpu_busy"],
              ["sql", "SELECT 1"], ["formats"]],
)  # fmt: skip
@pytest.mark.parametrize("form", ["table", "json"])
def test_no_question_loads_pandas(
    loaded: Loaded, filled: Path, words: list[str], form: str
) -> None:
    where = [] if words == ["formats"] else ["--store", filled]
    found = loaded(*words, *where, "--format", form)
    assert not found & {"pandas", "matplotlib"}
    assert ("duckdb" in found) == (words != ["formats"])
