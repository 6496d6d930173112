"""Kernels of some steps, as a user asks for them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Tracekit = Callable[..., Any]


def trace(step_ns: list[int]) -> dict[str, Any]:
    """Marked steps from number 10 on, each with a gemm and a relu of a quarter of it."""
    events: list[dict[str, Any]] = []
    ts = 0
    for number, us in enumerate(step_ns):
        events.append(
            {
                "ph": "X",
                "cat": "user_annotation",
                "name": f"ProfilerStep#{number + 10}",
                "pid": 9,
                "tid": 1,
                "ts": ts,
                "dur": us,
            }
        )
        for place, name in enumerate(("gemm", "relu")):
            args = {"device": 0, "stream": 7, "correlation": 2 * number + place + 1}
            at = {"pid": 9, "tid": 1, "ts": ts + 1 + place, "dur": 1}
            events += [
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", **at, "args": args},
                {
                    "ph": "X",
                    "cat": "kernel",
                    "name": name,
                    "pid": 0,
                    "tid": 7,
                    "ts": ts + 5 + place * us // 2,
                    "dur": us // 4,
                    "args": args,
                },
            ]
        ts += us
    return {"schemaVersion": 1, "traceEvents": events}


@pytest.fixture
def store(tmp_path: Path, tracekit: Tracekit, traces: Path) -> Path:
    """A run of four steps, the first twice as long, and one of counters."""
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(trace([800, 400, 400, 400])))
    counters = traces.parent / "nsight_compute" / "details-v100-handmade" / "report.csv"
    for path, run in ((counters, "ncu"), (file, "train")):
        assert tracekit("ingest", path, "--run", run, "--store", tmp_path / "S").code == 0
    return tmp_path / "S"


def test_kernels_of_the_stable_phase(tracekit: Tracekit, store: Path) -> None:
    words = ["kernels", "--phase", "stable", "--run", "train", "--store", store]
    rows = list(csv.DictReader(io.StringIO(tracekit(*words, "--format", "csv").text)))
    found = [(row["name"], row["launch_count"], row["total_ns"]) for row in rows]
    assert found == [("gemm", "3", "300000"), ("relu", "3", "300000")]  # 3 x 400 us / 4
    assert "steps: 11..13, the stable phase" in tracekit(*words).text


def test_kernels_of_steps_by_number(tracekit: Tracekit, store: Path) -> None:
    answer = tracekit("kernels", "--phase", "10..11", "--run", "train", "--store", store)
    assert "steps: 10..11" in answer.text
    assert "300.0" in answer.text  # us: 200 and 100


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (
            ["--run", "train", "--phase", "7..8"],
            5,
            (
                "the run has no steps 7..8. The report steps lists those that it has. "
                "Ask for phase all"
            ),
        ),
        (["--run", "train", "--phase", "warm"], 5, "phase must be all, stable or N..M, e.g. 3..7"),
        (
            ["--run", "train", "--phase", "stable", "--ceiling", "fp32"],
            2,
            (
                "run train has no hardware counters, which ceiling needs; ingest the output of "
                "`ncu --csv` into the same run"
            ),
        ),
        (
            ["--run", "ncu", "--phase", "stable"],
            2,
            "ingest a trace (torch.profiler, *.xplane.pb …) into it, or omit the phase",
        ),
    ],
)
def test_steps_that_cannot_be_meant(
    tracekit: Tracekit, store: Path, words: list[str], code: int, error: str
) -> None:
    answer = tracekit("kernels", *words, "--store", store)
    assert (answer.code, answer.data) == (code, b"")
    assert answer.error.endswith(error)


def test_steps_one_by_one(tracekit: Tracekit, store: Path) -> None:
    answer = tracekit("query", "steps", "--run", "train", "--format", "csv", "--store", store)
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [(row["step_name"], row["elapsed_ns"], row["is_stable"]) for row in rows] == [
        ("(stable)", "400000", "true"),
        ("(all)", "400000", "false"),
        ("10", "800000", "false"),
        ("11", "400000", "true"),
        ("12", "400000", "true"),
        ("13", "400000", "true"),
    ]
    assert rows[2]["reason"] == "takes 2.00 of their time"


def test_a_stable_phase_that_is_the_lesser_part_is_told(
    tracekit: Tracekit, tmp_path: Path, corpus: Path
) -> None:
    """A process that sleeps for 60 ms before every third of six steps, and one that does not."""
    store = tmp_path / "S"
    for run in ("baseline", "gc_stall"):
        trace = corpus / "h100" / "planted" / f"{run}.trace.json.gz"
        assert tracekit("ingest", trace, "--run", run, "--store", store).code == 0
    words = ("--format", "csv", "--store", store)
    rows = list(
        csv.DictReader(io.StringIO(tracekit("query", "steps", "--run", "gc_stall", *words).text))
    )
    stalls = {r["step_name"]: int(r["stall_ns"]) for r in rows if r["stall_ns"]}
    assert set(stalls) == {"(all)", "1", "4"}
    for step in ("1", "4"):
        assert 55_000_000 < stalls[step] < 61_000_000
    lines = {
        r["about"]: r["summary"]
        for r in csv.DictReader(io.StringIO(tracekit("summary", "gc_stall", *words).text))
    }
    assert lines["steps"].endswith("2 of 6 steps (stable; host)")
    # 2 x 60 ms of sleep, and 6 x 5.7 ms
    assert "mean 25.09 ms" in lines["all steps"]
    assert "warning: stable are 2 of 6 steps, 7.6 % of their time" in lines["all steps"]
    assert lines["stalls"].startswith("2 of 6 steps lost 116.4 ms")
    notes = tracekit("compare", "baseline", "gc_stall", "--store", store).text
    assert "all steps: A 6 steps of 5.716 ms on average, B 6 steps of 25.09 ms" in notes
    assert "warning: B: stable are 2 of 6 steps, 7.6 % of their time" in notes
    lines = {
        r["about"]: r["summary"]
        for r in csv.DictReader(io.StringIO(tracekit("summary", "baseline", *words).text))
    }
    assert not {"all steps", "stalls"} & lines.keys()
