"""What a shell gets from TAB: names of this store, of reports, charts, devices and formats."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tracekit.cli.app import run

Offered = Callable[..., list[str]]


def variables(line: str, store: Path) -> dict[str, str]:
    """What bash sets to ask for the words for a line, whose last word is incomplete."""
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    return {"_TRACEKIT_COMPLETE": "complete_bash", "TRACEKIT_STORE": str(store), **words}


@pytest.fixture
def offered(
    filled: Path, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Offered:
    """The words that bash gets."""

    def call(line: str, store: Path = filled) -> list[str]:
        for name, text in variables(line, store).items():
            monkeypatch.setenv(name, text)
        with pytest.raises(SystemExit, match=r"^0$"):
            run([])
        data, messages = capsys.readouterr()
        assert messages == ""
        assert list(here.iterdir()) == []
        return [name for name in data.split("\n") if name]

    return call


def test_of_a_process(filled: Path, here: Path) -> None:
    asked = variables("tracekit summary ", filled)
    done = subprocess.run(
        [sys.executable, "-m", "tracekit"],
        env=os.environ | asked,
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    assert (done.stdout.split(), done.stderr) == (["gpu", "cpu", "small"], "")
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("tracekit kern", ["kernels"]),
        ("tracekit summary g", ["gpu"]),
        ("tracekit kernels --run g", ["gpu"]),
        ("tracekit compare gpu c", ["cpu"]),
        ("tracekit query kernel_t", ["kernel_time"]),
        ("tracekit query idle_st", ["idle_stall"]),
        ("tracekit query kernel_time sm", ["small"]),
        ("tracekit chart mem", ["memory"]),
        ("tracekit roofline --model h", ["hierarchical"]),
        ("tracekit roofline --by ph", ["phase"]),
        ("tracekit devices V100S", ["V100S-PCIE-32GB"]),
        ("tracekit formats nsi", ["nsight-compute"]),
        ("tracekit runs --format mark", ["markdown"]),
    ],
)
def test_names(offered: Offered, line: str, names: list[str]) -> None:
    assert offered(line) == names


def test_a_store_in_the_line_counts(offered: Offered, filled: Path, tmp_path: Path) -> None:
    assert offered(f"tracekit summary --store {filled} g", tmp_path / "none") == ["gpu"]


def test_without_a_store_no_run_is_offered(offered: Offered, tmp_path: Path) -> None:
    assert offered("tracekit summary g", tmp_path / "none") == []
