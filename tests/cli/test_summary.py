"""A run on one screen; the figures are those of the READMEs beside the traces."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tracekit.render.text import inert

Tracekit = Callable[..., Any]
LINES, COLUMNS = 24, 80


def lines_of(answer: Any) -> dict[str, str]:
    assert (answer.code, answer.messages) == (0, "")
    rows = csv.DictReader(io.StringIO(answer.text))
    return {row["about"]: row["summary"] for row in rows}


def test_a_run_with_kernels(tracekit: Tracekit, filled: Path) -> None:
    lines = lines_of(tracekit("summary", "gpu", "--store", filled, "--format", "csv"))
    assert lines["run"] == "gpu: 1 file (torch-profiler), 619 events"
    assert lines["device"] == "NVIDIA H100 80GB HBM3"
    # busy 1707.772 us of 10106 us
    assert lines["busy"] == "16.9 %: kernels run for 1.708 ms of 10.11 ms; with copies 17.9 %"
    assert lines["steps"] == "median 4.000 ms, spread 0.0 %, 2 of 3 steps (stable; host)"
    # three all-reduces of 120 us of 1961.272
    assert lines["kernel 1"].startswith("18.4 %, 360.0 µs: 3 \u00d7 ncclDevKernel_AllR")
    assert "kernel 5" in lines
    assert "kernel 6" not in lines
    assert lines["data"] == "whole: every event of every file has its row"


def test_what_is_not_there_has_a_reason(tracekit: Tracekit, filled: Path) -> None:
    lines = lines_of(tracekit("summary", "cpu", "--store", filled, "--format", "csv"))
    assert lines["device"] == "no file names one"
    assert lines["busy"] == "not known: no kernels with a start and a duration"
    assert lines["kernels"] == "none with a known duration"
    assert "op 1" in lines  # of the processor, as there are no kernels
    assert lines["bound"] == "not known: no shapes; no FLOP modelled from shapes"


def test_of_some_steps(tracekit: Tracekit, filled: Path) -> None:
    words = ("summary", "gpu", "--store", filled, "--format", "csv")
    lines = lines_of(tracekit(*words, "--phase", "stable"))
    assert lines["phase"] == "stable: times and memory are of these steps only"
    # two steps of 4 ms, and no time outside of them
    assert " of 8.0" in lines["busy"]
    refused = tracekit(*words, "--phase", "90..91")
    assert (refused.code, refused.data) == (5, b"")
    assert "the run has no steps 90..91" in refused.messages


@pytest.mark.parametrize("run", ["gpu", "cpu", "small"])
def test_it_fits_the_screen(
    tracekit: Tracekit, filled: Path, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    lines = tracekit("summary", run, "--store", filled).text.splitlines()
    assert len(lines) < LINES
    assert max(map(len, lines)) <= COLUMNS


def test_names_that_mean_harm(tracekit: Tracekit, hostile: Path) -> None:
    answer = tracekit("summary", "--store", hostile)
    assert answer.code == 0
    assert inert(answer.text, newline=True) == answer.text


def test_a_run_that_is_not_there(tracekit: Tracekit, filled: Path) -> None:
    answer = tracekit("summary", "nothing", "--store", filled)
    assert (answer.code, answer.data) == (2, b"")
    assert "there is no run called 'nothing'" in answer.messages


def test_jax_on_a_gpu_with_command_buffers(
    tracekit: Tracekit, tmp_path: Path, corpus: Path
) -> None:
    """What `op_breakdown`, the device and the marked steps say stands on the screen, too."""
    folder, store = corpus / "h100" / "jax", tmp_path / "store"
    assert tracekit("ingest", folder, "--store", store, "--run", "jax").code == 0
    lines = lines_of(tracekit("summary", "jax", "--store", store, "--format", "csv"))
    assert lines["device"] == "NVIDIA H100 80GB HBM3"
    assert " 3 steps (" in lines["steps"]
    assert "step 100.0 %" in lines["known"]
    answer = tracekit("query", "op_breakdown", "--run", "jax", "--store", store, "--format", "csv")
    row = next(csv.DictReader(io.StringIO(answer.text)))
    names = {"bandwidth": "memory_bound", "compute": "compute_bound", "no FLOP": "zero_flop",
             "not known": "unknown"}  # fmt: skip
    shares = {kind: float(row[f"{name}_ratio"]) for kind, name in names.items()}
    assert sum(shares.values()) == pytest.approx(1)
    said = ", ".join(f"{kind} {100 * share:.1f} %" for kind, share in shares.items() if share)
    assert lines["bound"].startswith(f"{said} of operators' time")
