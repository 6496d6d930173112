"""One classification of device work: every report of a run finds the same time for one class."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.ingested import Ingested, opened
from tracekit.cli.app import app
from tracekit.render.numbers import human

#: A TPU whose instructions are called after JAX's operators, one whose profile says no categories,
#: a GPU with NCCL beside compute and copies, ranks of a job in one file.
FILES = [
    "tf/vllm-tpu-inference-0112b.trace.json.gz",
    "tf/xprof-tpu-inference2.xplane.pb",
    "torch/hta-a100-nccl-rank0of2-pgconfig.json.gz",
    "torch/amd-merged-nccl-only-8rank-mi300x.json.gz",
]


def added(rows: Iterable[dict[str, Any]], key: str, value: str) -> dict[str, int]:
    total: dict[str, int] = defaultdict(int)
    for row in rows:
        total[row[key]] += row[value] or 0
    return total


def own_words(trace: Path) -> dict[str, float]:
    """The time of instructions by the categories that the file itself has, in ns."""
    found: dict[str, float] = defaultdict(float)
    for event in json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]:
        args = event.get("args", {})
        name, category = event.get("name", ""), args.get("hlo_category")
        if category in ("all-reduce", "all-gather"):
            found["communication"] += int(args["device_duration_ps"]) / 1000
        elif category in ("copy-start", "copy-done") or name.startswith(("slice-s", "slice-d")):
            found["memcpy"] += int(args["device_duration_ps"]) / 1000
    return found


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", FILES)
def test_every_report_finds_the_same_time_for_a_class(
    name: str, corpus: Path, ingested: Ingested
) -> None:
    store = ingested.store(corpus / name)
    database = opened(store)
    run = database.run_id(None)

    def ask(report: str, **parameters: Any) -> list[dict[str, Any]]:
        return database.query(report, {"run_id": run, **parameters}).rows()

    overlap = [row for row in ask("overlap") if row["work_class"] != "idle"]
    sums, unions, exposed, counts = (
        added(overlap, "work_class", value)
        for value in ("sum_ns", "union_ns", "exposed_ns", "work_count")
    )
    assert sums["communication"] > 0
    if name.endswith(".trace.json.gz"):
        for kind, ns in own_words(corpus / name).items():
            assert ns > 0
            assert sums[kind] == pytest.approx(ns, abs=counts[kind])  # each to a whole ns

    utilization = ask("gpu_utilization")
    assert sum(row["compute_ns"] for row in utilization) == unions["compute"]
    assert (
        sum(row["busy_ns"] for row in utilization) == exposed["compute"] + exposed["communication"]
    )
    assert sum(row["sum_ns"] for row in utilization) == sums["compute"] + sums["communication"]
    assert (
        sum(row["kernel_count"] for row in utilization)
        == counts["compute"] + counts["communication"]
    )
    streams = added(ask("stream_utilization"), "device_id", "kernel_count")
    assert sum(streams.values()) == counts["compute"] + counts["communication"]

    ranks = ask("ranks")
    assert sum(row["communication_ns"] or 0 for row in ranks) == unions["communication"]
    assert sum(row["compute_ns"] or 0 for row in ranks) == unions["compute"]
    calls = ask("collectives", by="kind")
    assert sum(row["total_ns"] for row in calls) == sums["communication"]

    compared = {row["name"]: row for row in ask("comparison", other_run_id=run, by="category")}
    if "(elapsed)" in compared:  # without steps the whole recording is compared
        found = {kind: row["a_ns"] for kind, row in compared.items() if kind[0] != "("}
        assert found == {kind: ns for kind, ns in sums.items() if ns}

    by_class = added(ask("reported_op_breakdown", by="class", min_share=0.0), "op_class", "self_ns")
    if by_class:  # a TPU: each kernel is an instruction, summed up in picoseconds
        for kind, op_class in (("communication", "communication"), ("memcpy", "asynchronous copy")):
            assert by_class[op_class] == pytest.approx(sums[kind], abs=counts[kind])
        assert sum(by_class.values()) == pytest.approx(sum(sums.values()), rel=1e-4)
        assert added(ask("reported_op_by_category"), "op_class", "self_ns") == by_class

    said = CliRunner().invoke(app, ["summary", run, "--store", str(store)]).output
    share = exposed["communication"] / sum(row["exposed_ns"] for row in ask("overlap"))
    assert f"communication {human(share, 'ratio')}" in said
