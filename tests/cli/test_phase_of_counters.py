"""Work of some steps: a timeline of two steps with joined counters, file in, rows out."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Tracekit = Callable[..., Any]
CONV = Path(__file__).resolve().parents[2] / "fixtures" / "h100" / "conv2d-fp16-b64"


@pytest.fixture(scope="module")
def kernels_of_steps() -> tuple[Counter[str], Counter[str]]:
    """How often each kernel runs in all, and within the mark of step 2, by the file alone."""
    with gzip.open(CONV / "trace.json.gz", "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    marks = [e for e in events if e.get("name") == "ProfilerStep#2" and e["cat"] != "kernel"]
    mark = next(e for e in marks if e["cat"] == "user_annotation")
    calls = {
        event["args"]["correlation"]: float(event["ts"])
        for event in events
        if event.get("cat") == "cuda_runtime" and "correlation" in event.get("args", {})
    }
    begin, end = float(mark["ts"]), float(mark["ts"]) + float(mark["dur"])
    second = [e for e in kernels if begin <= calls[e["args"]["correlation"]] < end]
    return Counter(e["name"] for e in kernels), Counter(e["name"] for e in second)


def test_kernels_and_points_of_one_step(
    tracekit: Tracekit, tmp_path: Path, kernels_of_steps: tuple[Counter[str], Counter[str]]
) -> None:
    every, second = kernels_of_steps
    assert every == second + second
    store = ("--store", tmp_path / "S")
    for run, name in (("t", "trace.json.gz"), ("c", "raw.csv.gz")):
        assert tracekit("ingest", CONV / name, "--run", run, *store).code == 0
    assert tracekit("join", "t", "c", *store).code == 0

    def rows(*words: object) -> list[dict[str, str]]:
        answer = tracekit(*words, *store, "--format", "csv")
        assert answer.code == 0, answer.messages
        return list(csv.DictReader(io.StringIO(answer.text, newline="")))

    for phase, expected in (((), every), (("--phase", "2..2"), second)):
        found = rows("kernels", "t", "--top", "99", "--ceiling", "fp32", *phase)
        assert {row["name"]: int(row["launch_count"]) for row in found} == expected
        found = rows("query", "roofline_points", "t", *phase)
        assert {row["name"]: int(row["launch_count"]) for row in found} == expected
    assert "1 step: 2..2" in tracekit("kernels", "t", "--phase", "2..2", *store).text
    assert "all 2 steps" in tracekit("kernels", "t", *store).text
    picture = ("-o", tmp_path / "x.svg")
    drawn = tracekit("roofline", "t", "--phase", "2..2", *picture, *store)
    assert drawn.code == 0
    assert "1 step: 2..2" in (tmp_path / "x.svg").read_text(encoding="utf-8")
    lines = {row["about"]: row["summary"] for row in rows("summary", "t", "--phase", "2..2")}
    assert "6 \u00d7 nchwToNhwcKernel" in lines["kernel 1"]  # 12 in both steps
    assert "bound by latency" in lines["kernel 1"]

    refused = tracekit("roofline", "c", "--phase", "2..2", *store)
    assert (refused.code, refused.data) == (2, b"")
    assert "join its counters to one with tracekit join" in refused.error
    refused = tracekit("query", "kernel_figures", "c", "--phase", "2..2", *store)
    assert refused.code == 5
    assert "the run has no steps 2..2" in refused.error
