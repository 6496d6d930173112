"""Real traces beside each other: one model on two devices, two ranks of a job, one trace twice."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.ingested import Ingested, opened
from tracekit.session import Session

TRACES = {
    "bert-h100": "tracelens-bertsmall-h100.json.gz",
    "bert-mi300x": "tracelens-bertsmall-mi300x.json.gz",
    "vit-h100": "tracelens-nsfwvit-h100-flops-mem-stack.json.gz",
    "vit-mi300x": "tracelens-nsfwvit-mi300x-flops-mem-stack.json.gz",
    "rank0": "hta-vit-a100-sampled-rank0of128.json.gz",
    "rank1": "hta-vit-a100-sampled-rank1of128.json.gz",
    "before": "kineto-h100-outoforder-before.json",
    "after": "kineto-h100-outoforder-after.json",
}
PAIRS = (
    ("bert-h100", "bert-mi300x"),
    ("vit-h100", "vit-mi300x"),
    ("rank0", "rank1"),
    ("before", "after"),
)
Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def session(corpus: Path, ingested: Ingested) -> Session:
    files = {name: corpus / "torch" / file for name, file in TRACES.items()}
    return Session(opened(ingested.runs(**files)))


@cache
def device_ns(trace: Path) -> dict[str, int]:
    """The time of kernels, copies and sets by name, by a plain reading of the JSON."""
    content = trace.read_bytes()
    text = gzip.decompress(content) if trace.suffix == ".gz" else content
    found: Counter[str] = Counter()
    for event in json.loads(text, parse_float=Decimal)["traceEvents"]:
        if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            found[event["name"]] += int(event["dur"] * 1000)
    return found


def parts_of(session: Session, a: str, b: str, by: str) -> tuple[dict[str, Any], Rows]:
    """The row of all, and the parts."""
    rows = session.compare(a, b, by=by, phase="all").rows()
    (total,) = [row for row in rows if row["row_kind"] == "total"]
    return total, [row for row in rows if row["row_kind"] == "part"]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("a", "b"), PAIRS)
@pytest.mark.parametrize("by", ["kernel", "op", "layer", "phase", "category"])
def test_the_parts_add_up_to_the_time_in_the_file(
    session: Session, corpus: Path, a: str, b: str, by: str
) -> None:
    total, parts = parts_of(session, a, b, by)
    given = {"run_id": a, "other_run_id": b, "by": by}
    runs = session.query("comparison_runs", given).rows()
    for name, run, side in zip((a, b), runs, "ab", strict=True):
        in_file = sum(device_ns(corpus / "torch" / TRACES[name]).values())
        in_steps = (in_file - run["outside_ns"]) / max(run["step_count"], 1)
        assert run["work_ns"] == in_file
        assert total[f"{side}_ns"] == pytest.approx(in_steps, rel=1e-12)
        assert sum(row[f"{side}_ns"] for row in parts) == pytest.approx(in_steps, rel=1e-12)
    assert sum(row["delta_ns"] for row in parts) == pytest.approx(total["delta_ns"], abs=1e-3)


@pytest.mark.parametrize(
    ("a", "b", "by"),
    [
        ("bert-h100", "bert-mi300x", "op"),
        ("bert-h100", "bert-mi300x", "layer"),
        ("bert-h100", "bert-mi300x", "kernel"),
        ("vit-h100", "vit-mi300x", "op"),
        ("vit-h100", "vit-mi300x", "layer"),
    ],
)
def test_one_model_on_two_devices_aligns(session: Session, a: str, b: str, by: str) -> None:
    _, parts = parts_of(session, a, b, by)
    assert len(parts) > 5
    assert {row["match_basis"] for row in parts} <= {"name", "owner, module, shapes"}


def test_kernels_of_other_names_are_found_by_their_operator(session: Session, corpus: Path) -> None:
    _, parts = parts_of(session, "bert-h100", "bert-mi300x", "kernel")
    (attention,) = [row for row in parts if row["other_name"] == "attn_fwd"]
    assert attention["name"].startswith("void pytorch_flash::flash_fwd_kernel<")
    h100, mi300x = (device_ns(corpus / "torch" / TRACES[f"bert-{d}"]) for d in ("h100", "mi300x"))
    assert attention["a_ns"] == h100[attention["name"]]
    assert attention["b_ns"] == mi300x["attn_fwd"]


def test_convolutions_of_two_libraries_are_found_by_their_caller(session: Session) -> None:
    _, parts = parts_of(session, "vit-h100", "vit-mi300x", "op")
    renamed = [(row["name"], row["other_name"]) for row in parts if row["other_name"]]
    assert renamed == [("aten::cudnn_convolution", "aten::miopen_convolution")]


def test_devices_that_differ_are_said(session: Session) -> None:
    notes = session.compare("bert-h100", "bert-mi300x").notes
    assert "the devices differ" in notes
    assert notes[0].startswith("A: bert-h100, NVIDIA H100 80GB HBM3, 1 source, 1 step")


def test_one_trace_in_two_orders_is_the_same(session: Session) -> None:
    rows = session.compare("before", "after").rows()
    assert {(row["change_kind"], row["delta_ns"]) for row in rows} == {("same", 0.0)}
