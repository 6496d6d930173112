"""JAX on a real H100, with command buffers: one account of its time, by plain walks over files."""

from __future__ import annotations

import collections
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.parsers.conftest import Parsed, gathered
from tests.xplane import fields
from tracekit.parser import Report
from tracekit.registry import detect
from tracekit.source import Source

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "h100"
FOLDER = CORPUS / "jax" / "plugins" / "profile" / "2026_11_22_16_40_31"
DUMP, TRACE = FOLDER / "vm.xplane.pb", FOLDER / "vm.trace.json.gz"

Rows = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def needs_the_corpus(corpus: Path) -> None:
    """Without the corpus these tests are skipped."""


def read(path: Path) -> Parsed:
    report, source = Report(), Source.at(path)
    return gathered(detect(source).parser.parse(source, report), report)


@pytest.fixture(scope="module")
def dump() -> Parsed:
    return read(DUMP)


@pytest.fixture(scope="module")
def trace() -> Parsed:
    return read(TRACE)


def on_stream() -> Rows:
    """Everything on the GPU's stream, by the trace viewer's file."""
    events = json.loads(gzip.decompress(TRACE.read_bytes()))["traceEvents"]
    streams = {
        (e["pid"], e["tid"])
        for e in events
        if e.get("name") == "thread_name" and e["args"]["name"].startswith("Stream #")
    }
    return [e for e in events if (e.get("pid"), e.get("tid")) in streams and e["ph"] == "X"]


def instructions() -> set[str]:
    """The names of the instructions of ``jit_step``, out of its HloProto."""
    found: set[str] = set()
    for content in protos(DUMP.read_bytes(), b"jit_step("):
        module = one(content, 1)
        for computation in (value for n, _, value in fields(module) if n == 3):
            assert isinstance(computation, bytes)
            found |= {one(v, 1).decode() for n, _, v in fields(computation) if n == 2}  # type: ignore[arg-type]
    return found


def one(content: bytes, number: int) -> bytes:
    return next((v for n, _, v in fields(content) if n == number and isinstance(v, bytes)), b"")


def protos(dump: bytes, name: bytes) -> list[bytes]:
    planes = [v for n, _, v in fields(dump) if n == 1 and isinstance(v, bytes)]
    (plane,) = (p for p in planes if one(p, 2) == b"/host:metadata")
    programs = [one(v, 2) for n, _, v in fields(plane) if n == 4 and isinstance(v, bytes)]
    return [one(one(p, 5), 6) for p in programs if one(p, 2).startswith(name)]


def device_ops(found: Parsed, kind: str = "hlo") -> Rows:
    return [r for r in found["op_stat"] if (r["op_kind"], r["side_kind"]) == (kind, "device")]


@pytest.mark.parametrize("kind", ["hlo", "framework"])
@pytest.mark.parametrize("form", ["dump", "trace"])
def test_the_time_of_the_operators_is_that_of_the_device(
    form: str, kind: str, request: pytest.FixtureRequest
) -> None:
    found: Parsed = request.getfixturevalue(form)
    expected = round(1000 * sum(e["dur"] for e in on_stream()))
    work = [*found["kernel"], *found["transfer"]]
    assert sum(r["self_ns"] for r in device_ops(found, kind)) == expected
    assert sum(r["dur_ns"] for r in work) == expected
    if kind == "hlo":  # each event counts in one operator
        assert sum(r["occurrence_count"] for r in device_ops(found)) == len(work) == 81


def test_kernels_of_a_graph_are_of_their_instructions(dump: Parsed, trace: Parsed) -> None:
    graphs = [e for e in on_stream() if e["args"]["hlo_op"] == "command_buffer_5"]
    expected: collections.Counter[str] = collections.Counter()
    for event in graphs:
        expected[event["name"]] += round(event["dur"] * 1000)
    assert len(expected) == 12
    for found in (dump, trace):
        ops = {r["name"].replace(".", "_"): r["self_ns"] for r in device_ops(found)}
        assert {name: ops[name] for name in expected} == expected
        assert "command_buffer_5" not in ops
        replayed = [r for r in found["kernel"] if r["graph_id"] == 10]
        assert len(replayed) == len(graphs) == 36
        assert len({r["graph_node_id"] for r in replayed}) == 12
    assert {r["hlo_op_name"] for r in dump["kernel"]} <= instructions()
    assert {r["name"] for r in device_ops(dump)} <= instructions()
    (product,) = (r for r in device_ops(dump) if r["name"] == "gemm_fusion_dot.2")
    assert (product["category_name"], product["type_name"]) == ("custom fusion", "fusion")
    assert product["op_name"] == "jit(step)/jvp(mlp)/dot_general"


def test_memory_sets_have_their_sizes(dump: Parsed, trace: Parsed) -> None:
    says = [e["args"]["Memset_details"] for e in on_stream() if "Memset_details" in e["args"]]
    sizes = sorted(int(text.split("num_bytes:")[1].split()[0]) for text in says)
    for found in (dump, trace):
        assert sorted(r["size_bytes"] for r in found["transfer"]) == sizes
        assert {r["transfer_kind"] for r in found["transfer"]} == {"memset"}


def test_the_device_has_its_name_and_its_steps_their_process(dump: Parsed) -> None:
    (device,) = dump["device"]
    assert device["name"] == "NVIDIA H100 80GB HBM3"
    steps = [r for r in dump["step"] if r["step_kind"] == "host"]
    marked = {(r["name"], r["process_id"]) for r in dump["slice"] if r["name"] == "train"}
    assert {("train", r["process_id"]) for r in steps} == marked == {("train", 9932)}


def test_steps_of_the_profiler_are_from_the_first_kernel_to_the_last(dump: Parsed) -> None:
    pytest.importorskip("xprof", reason="xprof is not installed here")
    marks = sorted(row["start_ns"] for row in dump["step"] if row["step_kind"] == "host")
    spans = []
    for start, end in zip(marks, [*marks[1:], 1 << 62], strict=True):
        of_step = [row for row in dump["kernel"] if start <= row["start_ns"] < end]
        last = max(row["start_ns"] + row["dur_ns"] for row in of_step)
        spans.append(last - min(row["start_ns"] for row in of_step))
    reported = [row["dur_ns"] for row in dump["step"] if row["step_kind"] == "reported"]
    # the last as xprof's own page of the input pipeline has it, in ms
    assert reported == spans == [582_560, 567_168, 432_448]
