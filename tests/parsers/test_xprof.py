"""What xprof answers: beside its own tools, beside the dump's own sums, and where it fails."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests import xplane
from tests.conftest import ROOT
from tracekit.intake import ingest
from tracekit.parsers.tensorflow_profiler.xprof import child
from tracekit.parsers.tensorflow_profiler.xprof.answer import Answer, OpCost, Refusal
from tracekit.parsers.tensorflow_profiler.xprof.ask import asking
from tracekit.source import Source

GIB = 2**30
FIXTURES = ROOT / "fixtures"
needs_xprof = pytest.mark.skipif(find_spec("xprof") is None, reason="xprof has no build here")
DIRECT = """
import json, sys
from xprof.convert import raw_to_tool_data
for tool in sys.argv[2:]:
    text, _ = raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], tool, {"use_saved_result": True})
    print(json.dumps(json.loads(text)))
"""
TOOLS = (
    "hlo_stats",
    "kernel_stats",
    "roofline_model",
    "framework_op_stats",
    "input_pipeline_analyzer",
)
Rows = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, which must be as empty afterwards as it was before."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def dump(corpus: Path) -> Callable[[str], Path]:
    """A dump of the corpus by its name."""
    return lambda name: corpus / "tf" / f"{name}.xplane.pb"


def ask(source: Source, limit_s: int | None = None) -> Answer | Refusal:
    with asking(source, limit_s) as answer:
        return answer()


@cache
def answered(path: Path) -> Answer:
    said = ask(Source.at(path))
    assert isinstance(said, Answer), said
    return said


@cache
def tools(path: Path) -> dict[str, list[tuple[dict[str, Any], Rows]]]:
    """Of each tool its tables, as xprof's own user gets them: properties and rows."""
    with tempfile.TemporaryDirectory() as folder:
        link = Path(folder) / "host.xplane.pb"
        link.symlink_to(path)
        command = [sys.executable, "-c", DIRECT, str(link), *TOOLS]
        lines = subprocess.run(command, check=True, capture_output=True).stdout.splitlines()
    return {
        tool: list(map(table, listed(json.loads(line))))
        for tool, line in zip(TOOLS, lines, strict=True)
    }


def listed(said: Any) -> list[Any]:
    return said if isinstance(said, list) else [said]


def table(said: Any) -> tuple[dict[str, Any], Rows]:
    ids = [column["id"] for column in said["cols"]]
    rows = ([(cell or {}).get("v") for cell in row["c"]] for row in said["rows"])
    return said.get("p") or {}, [dict(zip(ids, row, strict=False)) for row in rows]


def by_name(said: Answer) -> dict[tuple[int, str], OpCost]:
    costs = {(op.program_id, op.name): op for op in said.op_costs}
    assert len(costs) == len(said.op_costs)
    return costs


@needs_xprof
@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("xprof-tpu-inference2", 17),
        ("tracelens-jax-te-fusedattn", 20),
        ("tracelens-jax-conv-mi300x-v08", 4),
        ("tracelens-jax-gemm-mi300x", 16),
        ("tfprofiler-gpu-multiworker", 0),
    ],
)
def test_costs_are_what_the_rates_of_hlo_stats_say(
    dump: Callable[[str], Path], name: str, count: int
) -> None:
    # Rates are of the total time, not of the self time, and add up all devices: "per core".
    costs = by_name(answered(dump(name)))
    ((_, rows),) = tools(dump(name))["hlo_stats"]
    assert len(rows) == len(costs) == count
    for row in rows:
        cost = costs.pop((int(row["program_id"]), row["hlo_op_name"]))
        seconds = row["total_time"] / 1e6
        assert cost.occurrence_count == row["occurrences"]
        assert cost.flop_count or pytest.approx(row["model_flop_rate"] * 1e9 * seconds) == 0
        flop_count = row["normalized_flop_rate"] * 1e9 * seconds
        assert cost.normalized_flop_count or pytest.approx(flop_count) == 0
        byte_count = row["measured_memory_bw"] * GIB * seconds
        assert cost.accessed_bytes or pytest.approx(byte_count, abs=1) == 0
        if cost.dram_bytes is not None:
            assert cost.dram_bytes == pytest.approx(row["hbm_bw"] * GIB * seconds, abs=1)
        assert (cost.bound_name or "Unknown") == row["bound_by"]
        assert cost.category_name == row["category"]
        assert cost.hlo_text == row["hlo_op_expression"]
    assert not costs


@needs_xprof
def test_costs_of_a_tpu_are_the_sums_of_what_the_dump_says(dump: Callable[[str], Path]) -> None:
    path = dump("xprof-tpu-inference2")
    costs = by_name(answered(path))
    own = tpu_sums(path.read_bytes())
    assert costs.keys() == own.keys()
    for key, cost in costs.items():
        total = own[key]
        assert cost.occurrence_count == total["events"]
        assert cost.flop_count == total["model_flops"]
        assert cost.normalized_flop_count == total["flops"]
        assert cost.accessed_bytes == total["bytes_accessed"]
        # Where the dump has an empty breakdown, xprof's own tools take all bytes for HBM's.
        assert (cost.dram_bytes or 0) == total["hbm_bytes"]
    key = (12190760917235803885, "copy-done.4")
    assert costs[key].accessed_bytes == 400 * 5 * 1024 * 1024 * 256 * 4  # f32[5,1024,1024,256]


def tpu_sums(dump: bytes) -> dict[tuple[int, str], Counter[str]]:
    """By program and instruction, what the events of "XLA Ops" add up to."""
    found: dict[tuple[int, str], Counter[str]] = {}
    for plane in parts(dump, 1):
        if not first(plane, 2, b"").startswith(b"/device:TPU"):
            continue
        names = {first(e, 1, 0): first(first(e, 2, b""), 2, b"").decode() for e in parts(plane, 5)}
        kinds = {first(e, 1, 0): first(e, 2, b"") for e in parts(plane, 4)}
        for line in parts(plane, 3):
            if first(line, 2, b"") == b"XLA Ops":
                for one in parts(line, 4):
                    add(found, one, kinds[first(one, 1, 0)], names)
    return found


def add(
    found: dict[tuple[int, str], Counter[str]], one: bytes, kind: bytes, names: dict[int, str]
) -> None:
    stats = {names[first(s, 1, 0)]: last(s) for s in (*parts(kind, 5), *parts(one, 4))}
    name = (first(kind, 4, b"") or first(kind, 2, b"")).decode()
    total = found.setdefault((stats["program_id"], name), Counter())
    accessed = parts(stats["memory_access_breakdown"] or b"", 1)
    hbm = sum(first(a, 3, 0) for a in accessed if first(a, 2, 0) == 1)
    total.update(events=1, hbm_bytes=hbm)
    total.update({k: stats.get(k, 0) for k in ("flops", "model_flops", "bytes_accessed")})


def parts(message: bytes, number: int) -> Iterator[bytes]:
    return (v for n, _, v in xplane.fields(message) if n == number and isinstance(v, bytes))


def first(message: bytes, number: int, default: Any) -> Any:
    return next((v for n, _, v in xplane.fields(message) if n == number), default)


def last(stat: bytes) -> Any:
    return [v for n, _, v in xplane.fields(stat) if n != 1][-1]


@needs_xprof
def test_a_kernel_of_a_gpu_counts_for_a_whole_run(dump: Callable[[str], Path]) -> None:
    # A convolution by im2col and a GEMM is two kernels of one instruction.
    costs = by_name(answered(dump("tracelens-jax-conv-mi300x-v08")))
    conv = costs[15, "cudnn-conv.1"]
    assert conv.occurrence_count == 79
    # bf16[1,5120,34,31,53] from 16 channels by 1x2x2 taps, those of the padding left out:
    # of 34 places in depth, 62 taps in height and 106 in width 32, 60 and 104 hit the input.
    one_run = 2 * 5120 * 16 * 32 * 60 * 104
    assert conv.of_one_run(conv.flop_count) == one_run == 32_715_571_200
    assert conv.flop_count == 79 * one_run
    # The breakdown leaves its result out, a tuple: 70 MB of 5.79 GB would be shown as all of it.
    result = 2 * 5120 * 34 * 31 * 53
    assert (conv.of_one_run(conv.accessed_bytes) or 0) > result
    assert conv.dram_bytes is None


@needs_xprof
def test_no_cost_is_not_a_cost_of_zero(dump: Callable[[str], Path]) -> None:
    costs = by_name(answered(dump("tracelens-jax-gemm-mi300x")))
    call, copy = costs[49, "custom-call.1"], costs[1, "copy.1"]
    assert (call.flop_count, call.accessed_bytes, call.dram_bytes) == (None, None, None)
    assert call.of_one_run(call.flop_count) is None
    assert (copy.flop_count, copy.accessed_bytes) == (0, 12 * (2 + 2))  # bf16[]
    assert call.bound_name is None
    assert copy.bound_name == "HBM"


@needs_xprof
def test_what_an_instruction_comes_from(dump: Callable[[str], Path]) -> None:
    cost = by_name(answered(dump("xprof-tpu-inference2")))[9646411105960254074, "all-reduce"]
    assert cost.op_name == "jit(_psum)/jit(main)/reduce_sum"
    assert cost.source_text is not None
    assert cost.source_text.endswith("/host_offload_stress_test.py:38")


@needs_xprof
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("xprof-tpu-inference2", "tpu"),
        ("tracelens-jax-gemm-mi300x", "gpu"),
        ("tfprofiler-gpu-multiworker", "gpu"),
    ],
)
def test_peaks_are_decimal_and_of_one_device(
    dump: Callable[[str], Path], name: str, kind: str
) -> None:
    there = answered(dump(name)).environment
    assert there.device_kind == kind
    printed = tools(dump(name))["roofline_model"][0][0]
    assert float(printed["peak_flop_rate"]) * 1e9 == pytest.approx(
        there.peak_flop_per_s or 0, rel=1e-5
    )
    if kind == "tpu":  # of GPUs each version knows others
        assert there.peak_flop_per_s == 918e12


@needs_xprof
def test_steps_of_a_gpu_are_broken_down_as_the_analyzer_does(dump: Callable[[str], Path]) -> None:
    path = dump("tfprofiler-gpu-multiworker")
    (step,) = answered(path).steps
    (row,) = next(
        rows
        for _, rows in tools(path)["input_pipeline_analyzer"]
        if rows and "deviceComputeTimeMs" in rows[0]
    )
    parts_ns = {part.part_name: part.dur_ns for part in step.parts}
    compute = parts_ns["device_compute_32"] + parts_ns["device_compute_16"]
    assert compute == round(row["deviceComputeTimeMs"] * 1e6) == 14_875_539
    assert parts_ns["unknown"] == round(row["otherTimeMs"] * 1e6) == 6_434_813
    assert sum(parts_ns.values()) == step.dur_ns == round(row["stepTimeMs"] * 1e6) == 21_310_352
    assert (step.step_index, step.device_ordinal) == (0, None)
    assert {part.part_kind for part in step.parts} == {"compute", "other"}


@needs_xprof
def test_steps_of_a_tpu_are_per_core(dump: Callable[[str], Path], tmp_path: Path) -> None:
    made = tmp_path / "steps.xplane.pb"
    spans = [(10**13, 2 * 10**13), (4 * 10**13, 10**13)]
    content = dump("xprof-tpu-inference2").read_bytes()
    made.write_bytes(xplane.with_steps(content, spans, b"/device:TPU"))
    said = answered(made)
    assert {(s.device_ordinal, s.dur_ns) for s in said.steps} == {
        (core, length // 1000) for core in range(4) for _, length in spans
    }
    assert not said.remarks
    for step in said.steps:
        total_ns, rounding = sum(part.dur_ns for part in step.parts), len(step.parts)
        kinds = {part.part_name: part.part_kind for part in step.parts}
        assert kinds["IDLE"] == "idle"
        if step.step_index:  # a copy across the step's border counts in full, and nothing is idle
            assert step.dur_ns - rounding < total_ns < 1.03 * step.dur_ns
        else:
            assert total_ns == pytest.approx(step.dur_ns, abs=rounding)
        assert kinds["loop fusion"] == "compute"
        assert kinds["copy-done"] == "other"


@pytest.mark.parametrize(
    ("category", "kind"),
    [
        ("convolution fusion", "compute"),
        ("IDLE", "idle"),
        ("infeed", "infeed"),
        ("outfeed", "outfeed"),
        ("host send-done", "outfeed"),
        ("host recv", "host_to_device"),
        ("send", "device_to_device"),
        ("recv-done", "device_to_device"),
        ("all-reduce fusion", "collective"),
        ("collective-permute-done", "collective"),
        ("reduce-scatter", "collective"),
        ("copy-start", "other"),
        ("copy", "compute"),
    ],
)
def test_categories_of_instructions_are_kinds_of_parts(category: str, kind: str) -> None:
    assert child._kind(category) == kind


@needs_xprof
def test_remarks_are_plain_text(dump: Callable[[str], Path]) -> None:
    (remark,) = answered(dump("xprof-tpu-inference2")).remarks
    assert remark.severity_kind == "warning"
    assert remark.message.startswith("No step marker observed and hence the step time is unknown.")


@needs_xprof
def test_the_answer_is_the_same_each_time(dump: Callable[[str], Path]) -> None:
    path = dump("tracelens-jax-te-fusedattn")
    assert ask(Source.at(path)) == answered(path)


@needs_xprof
@pytest.mark.parametrize("name", ["[!a] b", "*", "a?b{c,d}", "%20", "ä\\#", "-x"])
def test_it_works_in_any_folder_for_temporary_files(
    dump: Callable[[str], Path], tmp_path: Path, temporary: Path, name: str
) -> None:
    """A store's, which the user has called so; xprof reads names as patterns in places."""
    scratch = tmp_path / name
    scratch.mkdir()
    path = dump("tracelens-jax-gemm-mi300x")
    assert ask(replace(Source.at(path), scratch=scratch)) == answered(path)
    assert not [*scratch.iterdir(), *temporary.iterdir()]


@needs_xprof
@pytest.mark.parametrize("is_compressed", [False, True])
def test_it_works_in_a_store_that_is_named_from_the_current_folder(
    dump: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_compressed: bool,
) -> None:
    """As most users name theirs."""
    content = dump("tracelens-jax-gemm-mi300x").read_bytes()
    name = f"vm.xplane.pb{'.gz' * is_compressed}"
    (tmp_path / name).write_bytes(gzip.compress(content) if is_compressed else content)
    monkeypatch.chdir(tmp_path)
    [outcome] = ingest(name, "S")
    assert "xprof_refused" not in {issue.code for issue in outcome.issues}
    assert outcome.rows["op_stat"] > 0


# -- what is left behind, and what is heard --------------------------------------------------------


@needs_xprof
def test_nothing_is_left_and_nothing_is_heard(
    dump: Callable[[str], Path], tmp_path: Path, temporary: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / 'it\'s a "folder" of ours; $(touch x)'
    folder.mkdir()
    path = folder / "a 'dump'\n of\\ours.pb"
    path.write_bytes(dump("tracelens-jax-gemm-mi300x").read_bytes())
    folder.chmod(0o500)
    try:
        before, known = set(os.environ), set(sys.modules)  # another test can have loaded xprof
        assert ask(Source.at(path)) == answered(dump("tracelens-jax-gemm-mi300x"))
        assert [p.name for p in folder.iterdir()] == [path.name]
        assert set(os.environ) == before
    finally:
        folder.chmod(0o700)
    assert not list(temporary.iterdir())
    assert capfd.readouterr() == ("", "")
    assert not any(n.partition(".")[0] == "xprof" for n in set(sys.modules) - known)


@needs_xprof
def test_a_compressed_dump_is_answered_too(dump: Callable[[str], Path], tmp_path: Path) -> None:
    path = tmp_path / "host.xplane.pb.gz"
    path.write_bytes(gzip.compress(dump("tracelens-jax-gemm-mi300x").read_bytes()))
    assert ask(Source.at(path)) == answered(dump("tracelens-jax-gemm-mi300x"))


@needs_xprof
@pytest.mark.parametrize("content", [b"hi\n", b"\x0a\xff\x01" + bytes(99), os.urandom(4096)])
def test_no_dump_is_refused(tmp_path: Path, temporary: Path, content: bytes) -> None:
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(content)
    said = ask(Source.at(path))
    assert isinstance(said, Refusal)
    assert said.reason.startswith("xprof returned nothing for the dump: ")
    assert str(tmp_path) not in said.reason
    assert not list(temporary.iterdir())


@needs_xprof
def test_a_mangled_dump_is_refused(dump: Callable[[str], Path]) -> None:
    said = ask(Source.at(dump("xprof-tpu-inference2-utf8mangled")))
    assert said == Refusal("xprof returned nothing for the dump: Can't parse it as binary proto")


@needs_xprof
def test_an_empty_dump_has_nothing_in_it(tmp_path: Path) -> None:
    path = tmp_path / "host.xplane.pb"
    path.touch()
    said = answered(path)
    assert (said.op_costs, said.steps) == ((), ())
    assert said.environment.peak_flop_per_s is None


# -- where it fails: another xprof in its place ----------------------------------------------------


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Source]:
    """Puts a package called xprof that runs a line of Python in the place of the real one."""

    def put(code: str) -> Source:
        package = tmp_path / "packages" / "xprof" / "convert"
        package.mkdir(parents=True)
        (package.parent / "__init__.py").touch()
        (package / "__init__.py").touch()
        (package / "raw_to_tool_data.py").write_text(code)
        monkeypatch.syspath_prepend(str(package.parent.parent))
        path = tmp_path / "host.xplane.pb"
        path.touch()
        return Source.at(path)

    return put


def test_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "host.xplane.pb"
    path.touch()
    for name in [name for name in sys.modules if name.partition(".")[0] == "xprof"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "meta_path", sys.meta_path[-1:])
    assert ask(Source.at(path)) == Refusal("tensorboard-plugin-profile is not installed")


def test_cannot_be_loaded(stand_in: Callable[[str], Source]) -> None:
    said = ask(stand_in("raise ImportError('libfoo.so: cannot open shared object file')"))
    assert said == Refusal(
        "tensorboard-plugin-profile cannot be loaded: libfoo.so: cannot open shared object file"
    )


@pytest.mark.skipif(os.name == "nt", reason="no signals there")
def test_crashed(stand_in: Callable[[str], Source], temporary: Path) -> None:
    fatal = "F0000 00:00:1795339731.959058   29489 steps.cc:7] Check failed: 1 == 2"
    more = "*** Check failure stack trace: ***"
    said = ask(stand_in(f"import os\nos.write(2, b'{fatal}\\n{more}\\n')\nos.abort()"))
    assert said == Refusal("xprof crashed (SIGABRT): Check failed: 1 == 2")
    assert not list(temporary.iterdir())


def test_failed(stand_in: Callable[[str], Source]) -> None:
    said = ask(stand_in("raise RuntimeError('no such tool: hlo_stats')"))
    assert said == Refusal("xprof failed (exit status 1): RuntimeError: no such tool: hlo_stats")


def test_said_nothing(stand_in: Callable[[str], Source]) -> None:
    said = ask(stand_in("import os; os._exit(0)"))
    assert isinstance(said, Refusal)
    assert said.reason.startswith("xprof gave an unexpected answer: ")


@pytest.mark.skipif(os.name == "nt", reason="no process groups there")
def test_took_too_long(stand_in: Callable[[str], Source], tmp_path: Path, temporary: Path) -> None:
    told = tmp_path / "pids"
    source = stand_in(
        "import os, subprocess, time\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        f"open({str(told)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        "while True: os.write(2, bytes(1 << 16))"
    )
    start = time.monotonic()
    assert ask(source, limit_s=2) == Refusal("xprof took longer than 2 s")
    assert time.monotonic() - start < 20
    for pid in map(int, told.read_text().split()):
        assert has_ended(pid)
    assert not list(temporary.iterdir())


def has_ended(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat")
            if state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z":
                return True  # nobody has fetched its status yet
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(os.name == "nt", reason="no process groups there")
def test_nobody_waits(stand_in: Callable[[str], Source], tmp_path: Path, temporary: Path) -> None:
    told = tmp_path / "pid"
    source = stand_in(
        f"import os, time; open({str(told)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    )
    with asking(source):
        while not (told.exists() and told.read_text()):
            time.sleep(0.01)
    assert has_ended(int(told.read_text()))
    assert not list(temporary.iterdir())


@needs_xprof
def test_other_work_goes_on(dump: Callable[[str], Path]) -> None:
    path = dump("tracelens-jax-gemm-mi300x")
    with asking(Source.at(path)) as answer, asking(Source.at(path)) as other:
        assert answer() == other() == answer()


def test_cannot_be_started(
    monkeypatch: pytest.MonkeyPatch, stand_in: Callable[[str], Source]
) -> None:
    source = stand_in("")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert ask(source) == Refusal("xprof could not be started: No such file or directory")


def test_no_folder_for_it(
    monkeypatch: pytest.MonkeyPatch, stand_in: Callable[[str], Source]
) -> None:
    source = stand_in("")
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    assert ask(source) == Refusal("xprof could not be started: No such file or directory")


@pytest.mark.skipif(os.name == "nt", reason="no signals there")
def test_an_interrupt_ends_it(
    stand_in: Callable[[str], Source], tmp_path: Path, temporary: Path
) -> None:
    told = tmp_path / "pid"
    source = stand_in(
        "import os, signal, time\n"
        f"open({str(told)!r}, 'w').write(str(os.getpid()))\n"
        "os.kill(os.getppid(), signal.SIGINT)\n"
        "time.sleep(600)"
    )
    # Who runs the tests in the background may have Ctrl-C ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            ask(source)
    finally:
        signal.signal(signal.SIGINT, before)
    assert has_ended(int(told.read_text()))
    assert not list(temporary.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="no signals there")
def test_a_killed_ingest_leaves_nothing_outside_the_store(
    stand_in: Callable[[str], Source], tmp_path: Path, temporary: Path, corpus: Path
) -> None:
    """Its folder is in the store's, and the next ingest removes that."""
    stand_in("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)")
    store = tmp_path / "S"
    path = corpus / "tf" / "tracelens-jax-gemm-mi300x.xplane.pb"
    child = os.fork()
    if not child:
        ingest(path, store)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    assert list((store / ".staging").glob("*/scratch/tracekit-xprof-*"))
    ingest(FIXTURES / "perf_stat" / "shells" / "colours.txt", store)
    assert not list((store / ".staging").iterdir())
    assert not list(temporary.iterdir())
