"""Steps of real traces: those detected against those marked, the marks hidden."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.ingested import Ingested
from tracekit.attribution.repeats import find_steps
from tracekit.engine import Database

Opened = Callable[[str], Database]


@pytest.fixture
def opened(corpus: Path, ingested: Ingested) -> Opened:
    """The store of a file of the corpus."""
    return lambda name: ingested.database(corpus / name)


def hidden(database: Database) -> tuple[list[int], list[int]]:
    """Where marked steps begin in the work of the device, and where detected ones do."""
    rows = database.sql(
        "SELECT name, start_ns, coalesce(dur_ns, 0) AS dur_ns, step_index FROM attribution "
        "WHERE start_ns IS NOT NULL ORDER BY start_ns, event_id"
    ).rows()
    _, kinds = np.unique([str(row["name"]) for row in rows], return_inverse=True)
    columns = (np.array([row[name] for row in rows], np.int64) for name in ("start_ns", "dur_ns"))
    marks = [row["step_index"] for row in rows]
    first = [marks.index(step) for step in sorted({mark for mark in marks if mark is not None})]
    return first, find_steps(kinds.astype(np.int64), *columns).first.tolist()


@pytest.mark.parametrize(
    "name",
    [
        "kineto-resnet50-v100-torch18-list",
        "kineto-resnet50-v100-torch19-memory",
        "profilingtutorial-transformer-h100-stack-mem",
        "hta-v100-ns-resolution-rank0",
        "hta-v100-nccl-rank1of2-memory",
        "hta-tracediff-a100-rank3of8",
        "hta-a100-nccl-rank0of2-pgconfig",
    ],
)
def test_hidden_marks_are_found_to_the_kernel(opened: Opened, name: str) -> None:
    marked, detected = hidden(opened(f"torch/{name}.json.gz"))
    assert detected == marked


def test_a_step_before_the_first_mark_is_found_too(opened: Opened) -> None:
    database = opened("torch/tracelens-resnet-actckpt-mi300x-rank0of8.json.gz")
    marked, detected = hidden(database)
    assert detected == [73, *marked]
    assert len(marked) == 3


def test_steps_that_overlap_on_streams_are_as_many(opened: Opened) -> None:
    _, detected = hidden(opened("torch/hta-a100-sxm-rank0of16.json.gz"))
    assert np.diff(detected).tolist() == [1375] * 4  # as many as each mark launches


@pytest.mark.parametrize(
    "name",
    [
        "torch/tracelens-vllm-decode-graph-mi300.json.gz",  # 24 layers
        "torch/tracelens-sglang-qwen3-decode-mi300x.json.gz",  # 36 layers
        "torch/tracelens-eager-b200-rank0of8-stack.json.gz",  # 36 layers
        "torch/tracelens-nsfwvit-h100-flops-mem-stack.json.gz",  # 12 layers
        "torch/tracelens-timesformer-h100.json.gz",
        "torch/tracelens-bertsmall-h100.json.gz",  # 4 layers
        "torch/param-dlrm-8rank-worker0.json.gz",
        "torch/hta-vit-a100-sampled-rank0of128.json.gz",  # two steps
    ],
)
def test_layers_of_one_or_two_steps_are_no_steps(opened: Opened, name: str) -> None:
    assert hidden(opened(name))[1] == []


@pytest.mark.parametrize(
    ("name", "count", "launches"),
    [
        ("torch/kineto-resnet50-autogradapi-torch18.json.gz", 5, {1512}),
        ("torch/param-linear-rtx2080ti.json.gz", 39, {219, 261}),
        ("tf/tracelens-jax-te-fusedattn.xplane.pb", 5, {30}),
        ("tf/tracelens-jax-conv-mi300x-v08.xplane.pb", 5, {47}),  # 8 devices: 12 + 7 x 5
    ],
)
def test_a_trace_without_marks_gets_steps(
    opened: Opened, name: str, count: int, launches: set[int]
) -> None:
    rows = opened(name).sql("FROM step_span(NULL) ORDER BY step_index").rows()
    assert [row["step_index"] for row in rows] == list(range(count))
    assert {row["step_kind"] for row in rows} == {"detected"}
    assert {row["work_count"] for row in rows} == launches


@pytest.mark.parametrize(
    ("name", "phase"),
    [
        # marks of 210.9 to 220.6 ms, and work that ends within them; the first waits for 31.8 ms
        # for what was launched before it
        ("torch/kineto-resnet50-v100-torch18-list.json.gz", (6, 10)),
        # marks of 164.3 to 181.3 ms
        ("torch/kineto-resnet50-v100-torch19-memory.json.gz", (5, 10)),
        ("torch/tracelens-resnet-actckpt-mi300x-rank0of8.json.gz", (15, 17)),
        # the work of a step ends long after the next one is marked: the first waits for all of it
        ("torch/hta-a100-sxm-rank0of16.json.gz", (551, 554)),
        ("torch/param-dlrm-8rank-worker0.json.gz", (None, None)),
    ],
)
def test_the_stable_phase_of_real_traces(
    opened: Opened, name: str, phase: tuple[int | None, int | None]
) -> None:
    (row,) = opened(name).sql("FROM stable_phase(NULL)").rows()
    assert (row["first_step_index"], row["last_step_index"]) == phase
