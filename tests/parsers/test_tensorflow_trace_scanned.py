"""Trace viewer files as the compiled scanner reads them: the rows are those that Python makes."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from build_backend import compiling
from tests.both_ways import Known, read_both
from tests.parsers.test_tensorflow_trace import interval, named, root
from tests.reading.chrome.test_scanner import damaged
from tracekit import compiled
from tracekit.parsers.tensorflow_trace import plain
from tracekit.parsers.tensorflow_trace import rows as trace_rows
from tracekit.reading.chrome import scanner as scanner_module
from tracekit.reading.chrome.events import EventDecoder
from tracekit.reading.chrome.scanner import Scan

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT.parent / "shared" / "corpus"
TRACES = sorted(
    path
    for folder in (
        CORPUS / "tf",
        CORPUS / "h100" / "jax",
        ROOT / "fixtures" / "tensorflow_trace",
        ROOT / "fixtures" / "tensorflow_profiler",
    )
    for pattern in ("*trace.json.gz", "*pu.json")
    for path in folder.rglob(pattern)
)
#: A process and thread of each kind: a TPU's instructions, programs, steps; a GPU's stream, its
#: derived line; a host's thread; counters; Python; a line that no name is known of.
NAMES = [
    *named(3, "/device:TPU:0", t0="_counters_", t2="XLA Modules", t3="XLA Ops", t5="Steps"),
    *named(4, "/device:TPU:1", t3="XLA Ops"),
    *named(5, "/device:GPU:0", t7="Stream #7(Kernel,Memcpy)", t8="Stream #8", t9="XLA Ops"),
    *named(701, "/host:CPU", t4="python"),
    *named(702, "/host:python-tracer", t1="main"),
]
RUNS = [interval(3, 2, f"jit_f({i})", 10 * i, 8) for i in range(1, 4)]


@pytest.fixture(scope="module", autouse=True)
def library() -> Any:
    found = compiled.library()
    assert found is not None or not compiling.has_compiler(), "run build_backend/compiling.py"
    if found is None:
        pytest.skip("no C compiler here")
    return found


def scanned(text: str) -> Scan | None:
    found = scanner_module.scanner_of(plain.PLAN)
    assert found is not None
    return found.scan(memoryview(text.encode()), 100, EventDecoder(trace_rows._TYPED_KEYS, {}))


def both(path: Path, content: str | bytes) -> Known:
    """The rows, which are the same in both ways."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    fast, slow = read_both(path, "tensorflow-trace")
    assert fast == slow
    assert not isinstance(fast, str)
    return fast


def written(event: dict[str, Any]) -> str:
    """An event as the profiler writes it."""
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False)


def trace(events: list[str]) -> str:
    """A trace of named tracks."""
    head = written(root([]))[: -len("]}")]
    return head + ",\n".join([*map(written, [*NAMES, *RUNS]), *events, "{}"]) + "]}"


PLAIN = [
    *map(
        written,
        (
            interval(701, 4, "no arguments") | {"args": {}},
            interval(701, 4, "PjitFunction", ts=0.0005, dur=1e-06),
            interval(701, 4, "x", ts=1712195495519689.047, dur=7.4999999999999993e-05),
            interval(701, 4, "before zero", ts=-3.5),
            interval(701, 4, "$train.py:7 step"),
            interval(702, 1, "$train.py:7 step"),
            interval(701, 4, "layer/MatMul:MatMul", run_id="-473493851"),
            interval(701, 4, "layer", long_name="layer/Cast_1:Cast", is_eager="1"),
            interval(701, 4, "cuLaunchKernel", correlation_id="43"),
            interval(701, 4, "x", correlation_id="43"),
            interval(701, 4, "dot.1", hlo_op="dot.1", hlo_module="jit_f"),
            interval(701, 4, "wait", hlo_op="dot.1", hlo_module="jit_f", program_id="17"),
            interval(701, 4, "train", step_num="5", _r="1"),
            interval(701, 4, "train", step_num="-5"),
            interval(701, 4, 'quote " back \\ slash \n \t é 漢 😀', a="é 漢", source='"\\\n'),
            interval(701, 4, "MemoryAllocation", allocation_bytes="256", allocator_name="GPU_1_bfc")
            | {"ph": "i", "dur": None},
            interval(701, 4, "MemoryDeallocation", allocation_bytes="256", address="5"),
            interval(701, 4, "MemoryDeallocation", allocation_bytes="-1", addr="0", z="1"),
            interval(
                701, 4, "MemoryAllocation", allocator_name="gpu_host_bfc", bytes_allocated="7"
            ),
            interval(3, 0, "P state") | {"args": {"P State": "3"}},
            interval(3, 0, "P state") | {"args": {"P State": "3.5", "long_name": "x", "n": None}},
            interval(3, 0, "P state"),
            interval(3, 5, "5", group_id="6"),
            interval(3, 5, "five", group_id="6"),
            interval(3, 5, "six"),
            interval(3, 4, "unknown line", hlo_category="copy"),
            interval(9, 9, "unknown process"),
        ),
    ),
    *(
        written(interval(pid, 3, name, ts, 4, **more))
        for pid in (3, 4)
        for ts in (5, 12, 19.5, 30)
        for name, more in (
            ("fusion.1", {"tf_op": "jit(f)/dot:", "hlo_category": "loop fusion", "flops": "7"}),
            ("fusion.1", {"model_flops": "100", "bytes_accessed": "64", "flops": "-7"}),
            ("while.1", {"correlation_id": "4"}),
            ("x", {"hlo_category": "while", "device_duration_ps": "3999500"}),
            ("x", {"long_name": "%x = f32[2]{0} call(%y)", "device_duration_ps": "-5"}),
            ("y", {"hlo_category": "custom-call", "model_flops": "0", "device_offset_ps": "9"}),
        )
    ),
    written(interval(3, 3, "copy-done", 13, device_duration_ps="1250") | {"ph": "i", "dur": None}),
    written(interval(3, 3, "copy-done", 14) | {"ph": "i", "dur": None, "s": "t"}),
    *map(
        written,
        (
            interval(
                5, 7, "gemm", kernel_details="regs:38 grid:160,2,1 block:1024,1,1 occ_pct:62.5"
            ),
            interval(5, 7, "gemm", kernel_details="", context_id="$$5", correlation_id="9"),
            interval(5, 7, "gemm", hlo_op="gemm.1", hlo_module="jit_f", tf_op="XlaModule:"),
            interval(5, 7, "wrapped_add", hlo_op="command_buffer", cuda_graph_id="10"),
            interval(5, 7, "wrapped_add", hlo_op="add.1", cuda_graph_node_id="3"),
            interval(5, 7, "k") | {"args": {"tf_op": "", "name": "jit(f)/dot"}},
            interval(5, 7, "k", annotation="a:A#x#::b:B#"),
            interval(5, 7, "copy", memcpy_details="kind_src:host kind_dst:device size:4096"),
            interval(5, 7, "fill", memset_details="size:512", context_id="6"),
            interval(5, 7, "fill", Memset_details="size:1024"),
            interval(5, 8, "MemcpyD2H", correlation_id="0"),
            interval(5, 8, "what", correlation_id="-0"),
            interval(5, 9, "gemm.1", long_name="17/gemm.1"),
        ),
    ),
    ' {\n"ph" :\t"X" , "pid":701,"tid":4,"ts":1 ,"dur":2,"name":"x","args":{"b": [1 ,2],"a":{}} }',
]
PLAIN = [text.replace('"dur":null,', "") for text in PLAIN]
EVENT = written(interval(5, 7, "k", correlation_id="9", a="b"))
ODD = [
    "{}",
    written({"ph": "M", "pid": 5, "name": "process_labels", "args": {"labels": "x"}}),
    EVENT.replace('"X"', '"R"'),
    EVENT.replace('"X"', '"C"'),
    EVENT.replace('"pid":5', '"pid":"5"'),
    EVENT.replace('"tid":7', '"tid":"seven"'),
    EVENT.replace('"tid":7', '"tid":7.0'),
    EVENT.replace('"ts":10', '"ts":"10"'),
    EVENT.replace('"ts":10', '"ts":1e1'),
    EVENT.replace('"ts":10', '"ts":1.5e-4'),
    EVENT.replace('"ts":10', '"ts":-1e-6'),
    EVENT.replace('"ts":10', '"ts":12e-6'),
    EVENT.replace('"ts":10', '"ts":1e-400'),
    EVENT.replace('"dur":2', '"dur":-2'),
    EVENT.replace(',"dur":2', ""),
    EVENT.replace(',"ts":10', ""),
    EVENT.replace('"name":"k"', '"name":5'),
    EVENT.replace('"ph":"X"', '"ph":"X","cat":"kernel"'),
    EVENT.replace('"ph":"X"', '"ph":"X","cat":""'),
    EVENT.replace('"ph":"X"', '"ph":"X","id":5'),
    EVENT.replace('"ph":"X"', '"ph":"X","extra":"y"'),
    EVENT.replace('"9"', "9"),
    EVENT.replace('"9"', '"09"'),
    EVENT.replace('"9"', '"0x9"'),
    EVENT.replace('"9"', '"nine"'),
    EVENT.replace('"9"', '"$$9"'),
    EVENT.replace('"9"', f'"{2**63}"'),
    *(
        written(interval(5, 7, "k", **more))
        for more in (
            {"context_id": "$5"},
            {"context_id": "-5"},
            {"context_id": "$$-5"},
            {"context_id": 5},
            {"hlo_op": 5},
            {"long_name": ["x"]},
            {"addr": "1", "address": "2"},
        )
    ),
    EVENT.replace('"a":"b"', '"tf_op":"\\u0041"'),
    EVENT.replace('"a":"b"', '"tf_op":"\\/"'),
    EVENT.replace('"a":"b"', '"tf_op":"x","tf_op":"y"'),
    EVENT.replace('"a":"b"', '"a":"x","a":"y"'),
    '{"args":{"a":"b"},"ph":"X","pid":5,"tid":7,"ts":1,"dur":2,"name":"k"}',
]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name)
def test_every_trace_is_what_python_makes_of_it(path: Path) -> None:
    fast, slow = read_both(path, "tensorflow-trace")
    assert fast == slow


@pytest.mark.parametrize("text", PLAIN)
def test_plain_events_are_scanned(text: str, tmp_path: Path) -> None:
    found = scanned(text)
    assert found is not None
    assert (found.plain_count, found.odd, found.closed_at) == (1, [], None)
    both(tmp_path / "trace.json", trace([text]))


@pytest.mark.parametrize("text", ODD)
def test_odd_events_are_left_to_python(text: str, tmp_path: Path) -> None:
    found = scanned(text)
    assert found is not None
    assert (found.plain_count, [group.ids.tolist() for group in found.odd]) == (0, [[100]])
    both(tmp_path / "trace.json", trace([text]))


@pytest.mark.parametrize("texts", [PLAIN, [*PLAIN, *ODD] * 3], ids=["plain", "both"])
@pytest.mark.parametrize("size", [300, 5000, 1 << 21])
def test_rows_of_such_events_are_those_of_python(
    texts: list[str], size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracekit.reading.chrome.reader.BLOCK_BYTES", size)
    content = trace(texts)
    tables, _ = both(tmp_path / "trace.json", content)
    assert {"kernel", "transfer", "slice", "step", "counter", "memory_event"} <= tables.keys()
    # Names and programs may be behind what they name.
    events = content.index(written(NAMES[0])), content.index(texts[0])
    names = content[slice(*events)].rstrip(",\n")
    behind = content.replace(names + ",\n", "").replace(",\n{}]", f",\n{names},\n{{}}]")
    later, _ = both(tmp_path / "trace.json", behind)
    for name in ("kernel", "transfer"):
        assert without_places(later[name]) == without_places(tables[name])


def without_places(table: Any) -> list[dict[str, Any]]:
    return [row | {"event_id": None} for row in table.to_pylist()]


@pytest.mark.deep
def test_many_kinds_of_events_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracekit.reading.chrome.reader.BLOCK_BYTES", 2000)
    path = tmp_path / "trace.json"
    texts = [text.replace('"name":"', f'"name":"{i % 7}') for i in range(20) for text in PLAIN]
    whole = both(path, trace(texts))
    for limit in ("_MOST_KINDS", "_MOST_KIND_BYTES"):
        with monkeypatch.context() as patch:
            patch.setattr(scanner_module, limit, 3)
            assert both(path, trace(texts)) == whole
    monkeypatch.setattr(plain, "_MOST_OPS", 3)
    assert both(path, trace(texts)) == whole


@pytest.mark.sampled(8)
@pytest.mark.parametrize("part", range(8))
def test_damaged_traces_give_what_python_gives(part: int, tmp_path: Path) -> None:
    rng, path = random.Random(part), tmp_path / "trace.json"
    hand_made = ROOT / "fixtures" / "tensorflow_trace" / "hand-made"
    contents = [trace([*PLAIN[::3], *ODD[::3]]).encode(), trace(PLAIN[1::3]).encode()]
    contents += [path.read_bytes() for path in hand_made.glob("*.json")]
    for _ in range(30):
        path.write_bytes(damaged(rng.choice(contents), rng))
        fast, slow = read_both(path, "tensorflow-trace")
        assert fast == slow, path.read_bytes()


def test_a_compressed_trace_that_is_cut(tmp_path: Path) -> None:
    content = gzip.compress(trace(PLAIN * 9).encode())
    path = tmp_path / "trace.json.gz"
    path.write_bytes(content[: len(content) * 2 // 3])
    fast, slow = read_both(path, "tensorflow-trace")
    assert fast == slow
    assert not isinstance(fast, str)
    assert not fast[1]["facts"]["is_complete"]
