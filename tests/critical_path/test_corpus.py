"""Critical paths of real files: planted bottlenecks are on them, and their pieces add up."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest

from tests.ingested import Ingested
from tracekit.critical_path import critical_path
from tracekit.engine import Database
from tracekit.errors import QueryError

#: By file: what the path is mostly, and the least share of it, from what was planted (the README of
#: the folder) or what the profile is of.
MOST = {
    "h100/planted/baseline.trace.json.gz": ("kernel", 0.9),
    "h100/planted/dataloader.trace.json.gz": ("host", 0.8),
    "h100/planted/pageable_copy.trace.json.gz": ("copy", 0.8),
    "h100/planted/fp32_no_tf32.trace.json.gz": ("kernel", 0.9),
    "h100/planted/foreach_off.trace.json.gz": ("host", 0.9),
    "h100/planted/gc_stall.trace.json.gz": ("host", 0.7),
    "h100/lstm.trace.json.gz": ("host", 0.9),
    "h100/conv2d_tf32_b64.trace.json.gz": ("kernel", 0.9),
    "torch/hta-alexnet-a100-cudasync.json.gz": ("host", 0.9),
    "torch/hta-a100-nccl-rank0of2-pgconfig.json.gz": ("host", 0.7),
    "torch/tracelens-timesformer-h100.json.gz": ("host", 0.5),
    "torch/tracelens-resnet-actckpt-mi300x-rank0of8.json.gz": ("communication", 0.5),
    "torch/param-dlrm-8rank-worker0.json.gz": ("host", 0.6),
    "torch/tracelens-vllm-decode-graph-mi300.json.gz": ("kernel", 0.5),
}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", MOST)
def test_what_was_planted_is_on_the_path_and_the_pieces_are_the_time_of_the_window(
    ingested: Ingested, corpus: Path, name: str
) -> None:
    database = ingested.database(corpus / name)
    kind, least_ratio = MOST[name]
    ratios = {row["path_kind"]: row["path_ratio"] for row in check_path(database, "all")}
    assert max(ratios, key=lambda other: ratios[other]) == kind
    assert ratios[kind] >= least_ratio
    with contextlib.suppress(QueryError):  # no steps, or none alike
        check_path(database, "stable")


def check_path(database: Database, phase: str) -> list[dict[str, Any]]:
    """That the pieces add up; the rows of kinds."""
    run = database.run_id(None)
    windows = database.sql(f"FROM step_window('{run}', '{phase}')").rows()
    elapsed_ns = max(window["end_ns"] - window["start_ns"] for window in windows)
    rows = critical_path(database, run, phase, top=1_000).rows()
    for row_kind in ("kind", "name"):
        assert sum(row["path_ns"] for row in rows if row["row_kind"] == row_kind) == elapsed_ns
    for row in rows:
        assert row["path_ns"] > 0
        assert 0 <= (row["saved_ns"] or 0) <= row["path_ns"] <= (row["total_ns"] or elapsed_ns)
    return [row for row in rows if row["row_kind"] == "kind"]
