"""Which parser a file is for, told by its content; and parsers that other packages bring."""

from __future__ import annotations

import gzip
import importlib
import json
import pickle
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tracekit import registry
from tracekit.cli.app import run
from tracekit.errors import FormatError, UsageError
from tracekit.lookalikes import LOOKALIKES
from tracekit.parser import Match, Parser
from tracekit.parsers import BUILT_IN
from tracekit.registry import ParserError, broken_parsers, claims, detect, parser_named, parsers
from tracekit.source import Source

Write = Callable[[bytes | str], Source]

TORCH_EVENT = {
    "ph": "X",
    "cat": "cpu_op",
    "name": "aten::mm",
    "pid": 1,
    "tid": 1,
    "ts": 1,
    "dur": 1,
}
OURS = [entry.name for entry in BUILT_IN]
TRACE = json.dumps({"schemaVersion": 1, "traceEvents": [TORCH_EVENT]})


@pytest.fixture
def source(tmp_path: Path) -> Write:
    def write(content: bytes | str) -> Source:
        path = tmp_path / "file"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return Source.at(path)

    return write


# -- what is recognised ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("root", "certainty"),
    [
        ({"traceEvents": [TORCH_EVENT]}, 0.9),
        ([TORCH_EVENT], 0.9),
        ([TORCH_EVENT | {"cat": "Operator"}], 0.9),
        ([TORCH_EVENT | {"cat": "HostToDevice", "ph": "s"}], 0.9),
        ({"metadata": {"a": 1}, "traceEvents": [TORCH_EVENT | {"cat": "kernel"}]}, 0.9),
        ({"deviceProperties": [{"id": 0}], "traceEvents": []}, 0.65),
        ({"distributedInfo": {"rank": 1}, "traceEvents": [{"ph": "X", "name": "a"}]}, 0.65),
        ({"schemaVersion": 1, "traceEvents": [{"ph": "M", "name": "process_name"}]}, 0.65),
        ([{"attr": {"Power": "1"}, "ph": "B", "name": "a"}], 0.5),
    ],
)
def test_a_trace_of_torch_is_recognised(root: Any, certainty: float, source: Write) -> None:
    for content in (json.dumps(root), json.dumps(root, indent=2), "\ufeff" + json.dumps(root)):
        found = detect(source(content))
        assert (found.parser.name, found.match.certainty) == ("torch-profiler", certainty)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_packed_trace_is_recognised(pack: Callable[[bytes], bytes], source: Write) -> None:
    assert detect(source(pack(TRACE.encode()))).parser.name == "torch-profiler"


def test_the_reason_says_what_was_seen(source: Write) -> None:
    assert detect(source(TRACE)).match.reason == "trace events in torch's categories (cpu_op)"
    keys = detect(source('{"deviceProperties": [], "baseTimeNanoseconds": 1, "traceEvents": []}'))
    assert keys.match.reason == (
        "top-level keys of torch's profiler (baseTimeNanoseconds, deviceProperties)"
    )


def test_a_trace_cut_early_is_recognised(source: Write) -> None:
    content = json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": [TORCH_EVENT]})
    for length in range(content.index('"deviceProperties"') + 20, len(content)):
        assert detect(source(content[:length])).parser.name == "torch-profiler"


# -- what is refused, by name ----------------------------------------------------------------------

LABEL = {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/host:CPU"}}
VIEWER = {"metadata": {"highres-ticks": True}, "traceEvents": [LABEL, {}]}
MATMUL = {"ph": "X", "cat": "Op", "name": "MatMul", "pid": 1, "tid": 0, "ts": 1, "dur": 2}
TIMELINE = {"traceEvents": [MATMUL]}


def test_traces_of_tensorflow_are_told_from_those_of_torch(source: Write) -> None:
    for trace, name in ((VIEWER, "tensorflow-trace"), (TIMELINE, "tensorflow-timeline")):
        assert detect(source(json.dumps(trace))).parser.name == name
    # Torch's own categories decide, whatever a user calls an annotation.
    odd = TORCH_EVENT | {"name": "/device:GPU:0/stream:all Compute"}
    assert detect(source(json.dumps({"traceEvents": [odd]}))).parser.name == "torch-profiler"


OTHER_TOOL = {"traceEvents": [{"ph": "X", "cat": "devtools.timeline", "name": "Paint", "ts": 1}]}

ONNX = [
    {"cat": "Session", "ph": "X", "name": "model_run", "pid": 1, "tid": 1, "ts": 1, "dur": 9},
    {"cat": "Kernel", "ph": "X", "name": "conv", "pid": 1, "tid": 1, "ts": 2, "dur": 3},
]
REFUSED: dict[str, tuple[bytes | str, str]] = {
    "trace of a browser": (
        json.dumps(OTHER_TOOL),
        "it is a Chrome trace of an unsupported tool (categories seen: devtools.timeline)",
    ),
    "profile of ONNX Runtime": (json.dumps(ONNX), "it is a profile of ONNX Runtime"),
    "no events": ('{"traceEvents": []}', "it is a Chrome trace of an unsupported tool"),
    "JSON": ('{"rows": {"a": [1, 2]}}', "it is JSON, but has no trace events"),
    "JSON list": ("[[-1, 1, 37888, 7], [0, 2, 1, 1]]", "it is JSON, but has no trace events"),
    "JSON list of numbers": ("[-1.5, 2]", "it is JSON, but has no trace events"),
    "JSON list of null": ("[null]", "it is JSON, but has no trace events"),
    "JSON lines": ('{"a": 1}\n{"a": 2}\n', "it is JSON, but has no trace events"),
    "CSV": ('"ID","Kernel Name"\n"0","gemm"\n', "its content is not in a supported format"),
    "log": ("[2026-01-01 12:00] start\n", "its content is not in a supported format"),
    "shell": ("{ echo hello; }\n", "its content is not in a supported format"),
    "junk": (bytes(range(256)) * 10, "its content is not in a supported format"),
    "empty": (b"", "the file is empty"),
    "empty inside": (gzip.compress(b""), "the file is empty once decompressed (gzip)"),
    "UTF-16": (TRACE.encode("utf-16"), "it is UTF-16 text; convert it to UTF-8"),
    "zip": (b"PK\x03\x04" + bytes(100), "it is a zip archive; unpack it first"),
    "xz": (b"\xfd7zXZ\0" + bytes(100), "it is compressed with xz; unpack it first"),
    "bzip2": (b"BZh91AY&SY", "it is compressed with bzip2; unpack it first"),
}


NEAREST = {
    "CSV": ("nsight-compute", "results-table"),
    "log": ("perf-stat", "nvprof"),
    "shell": ("perf-stat", "nvprof"),
    "junk": ("tensorflow-profiler", "tensorflow-tools"),
    **dict.fromkeys(("empty", "empty inside", "UTF-16", "zip", "xz", "bzip2"), ()),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_trace_of_torch_is_refused_by_name(kind: str, source: Write) -> None:
    content, what = REFUSED[kind]
    found = source(content)
    with pytest.raises(FormatError) as refusal:
        detect(found)
    message = str(refusal.value)
    assert message.startswith(f"{found.path}: {what}")
    near = NEAREST.get(kind, ("torch-profiler", "tensorflow-trace"))
    named = re.findall(r"(?:Nearest formats: |\), )([a-z-]+) \(", message)
    assert named == list(near)
    assert message.endswith("choose it with --format")


def test_a_database_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "report.sqlite"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE kernel (name TEXT)")
    database.close()
    with pytest.raises(FormatError, match="it is an SQLite database, which is not supported"):
        detect(Source.at(path))


def test_any_table_is_one_of_results_unless_a_profiler_wrote_it(source: Write) -> None:
    like_perf = "run,model,batch,images\na-1,vgg16,1,8.2\nb-1,mkl,64,1,16\nc-1,vgg16,2,9.1\n"
    assert detect(source(like_perf)).parser.name == "results-table"
    with pytest.raises(FormatError, match="not in a supported format"):
        detect(source("Kernel_Name,Start_Timestamp\ngemm,8\n"))


OF_OTHERS = "not in a supported format|looks like .* of (rocprof|likwid|AMD uProf|STREAM|ERT)"


def test_files_of_other_tools_in_the_corpus_are_refused(corpus: Path) -> None:
    files = [path for path in (corpus / "extra").iterdir() if "caffe" not in path.name]
    files += [
        corpus / "perf" / f"amd-cg-mi300a-{name}"
        for name in ("likwid-error.txt", "uprofpcm-fp.csv")
    ]
    assert len(files) == 20
    for path in files:
        with pytest.raises(FormatError, match=OF_OTHERS):
            detect(Source.at(path))


def test_csv_of_likwid_is_refused_by_name(tmp_path: Path) -> None:
    (file := tmp_path / "likwid.csv").write_text(
        "TABLE,Group 1 Raw,FLOPS_DP,2,,\nEvent,Counter,HWThread 0,HWThread 1,,\n"
        "INSTR_RETIRED_ANY,FIXC0,1000,2000,,\n"
    )
    with pytest.raises(FormatError, match="output of likwid-perfctr"):
        detect(Source.at(file))


TENSORFLOW = {
    ".xplane.pb": "tensorflow-profiler",
    ".trace.json.gz": "tensorflow-trace",
    ".pod_viewer.json": "tensorflow-tools",
    ".op_profile.json": "tensorflow-tools",
    "_stats.pb": "tensorflow-tools",
    "_page.pb": "tensorflow-tools",
    "_pipeline.pb": "tensorflow-tools",
    ".json": "tensorflow-timeline",
}


def test_what_tensorflow_writes_is_told_apart(corpus: Path) -> None:
    files = sorted((corpus / "tf").iterdir())
    assert len(files) == 20
    for path in files:
        expected = next(name for end, name in TENSORFLOW.items() if path.name.endswith(end))
        assert [parser.name for parser, _ in claims(Source.at(path).head())] == [expected]


def test_what_perf_report_prints_is_named(tmp_path: Path) -> None:
    file = tmp_path / "report.txt"
    file.write_text(
        "# To display the perf.data header info, please use --header/--header-only options.\n#\n"
        "# Overhead  Command\n    45.12%  a.out\n"
    )
    with pytest.raises(
        FormatError, match=r"output of `perf report` or .* only output of `perf stat`"
    ):
        detect(Source.at(file))


# -- forced ----------------------------------------------------------------------------------------


def test_a_named_format_is_not_questioned(source: Write) -> None:
    found = detect(source(b"anything"), "torch-profiler")
    assert found.parser is parsers()["torch-profiler"]
    assert found.match == Match(1.0, "named with --format")


def test_an_unknown_format_is_told_with_the_known_ones() -> None:
    known = ", ".join(sorted(OURS))
    with pytest.raises(UsageError, match=f"unknown format 'torch'; formats: {known}$"):
        parser_named("torch")


def test_what_cannot_be_read_is_told(source: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    found = source(TRACE)
    found.path.unlink()
    with pytest.raises(FormatError, match="cannot be read: No such file or directory"):
        detect(found)


# -- parsers of other packages ---------------------------------------------------------------------

GOOD = """
from tracekit.parser import Match

class MarksParser:
    name = {name!r}
    title = "marks: one a line"

    def sniff(self, head):
        return Match({certainty}, "the first line is #marks") if head[:6] == b"#marks" else None

    def parse(self, source, report):
        return iter(())
"""


@pytest.fixture
def install(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., None]]:
    """Installs a distribution with one module and an entry point for a parser in it."""
    modules: list[str] = []

    def run(name: str, code: str, *, target: str = "MarksParser") -> None:
        folder = tmp_path_factory.mktemp(name)
        module = f"tracekit_{name}"
        modules.append(module)
        (folder / f"{module}.py").write_text(code, encoding="utf-8")
        info = folder / f"tracekit_{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: tracekit-{name}\nVersion: 1.0\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(
            f"[tracekit.parsers]\n{name} = {module}:{target}\n", encoding="utf-8"
        )
        monkeypatch.syspath_prepend(str(folder))
        importlib.invalidate_caches()
        registry._known.cache_clear()

    yield run
    for module in modules:
        sys.modules.pop(module, None)
    monkeypatch.undo()
    registry._known.cache_clear()


Install = Callable[..., None]


def test_a_parser_of_another_package_is_found(install: Install, source: Write) -> None:
    install("marks", GOOD.format(name="marks", certainty=0.7))
    assert list(parsers()) == [*OURS, "marks"]
    assert broken_parsers() == {}
    found = detect(source("#marks\na,1,2\n"))
    assert (found.parser.name, found.match.certainty) == ("marks", 0.7)
    assert detect(source(TRACE)).parser.name == "torch-profiler"
    assert parser_named("marks") is found.parser


#: The first lines that other tools write, from their documentation and from published files.
OTHER_TOOLS = {
    "a kernel trace of rocprofv3": b'"Kind","Agent_Id","Queue_Id","Kernel_Name","Start_Timestamp"\n'
    b'"KERNEL_DISPATCH",1,1,"copy",1000\n',
    "a kernel trace of rocprof": b'"Index","KernelName","gpu-id","BeginNs"\n0,"add",0,1\n',
    "a trace of rocprofv3": b'{\n  "rocprofiler-sdk-tool": [{"agents": []}]}',
    "a GPU trace of Nsight Systems": b"NOTICE: exporting\nStart (ns),Duration (ns),CorrId,Name\n"
    b"1,2,3,gemm\n",
    "a summary of Nsight Systems": b"Time (%),Total Time (ns),Instances,Avg (ns),Name\n"
    b"100.0,10,1,10.0,gemm\n",
    "a log of nvidia-smi": b"timestamp, name, utilization.gpu [%]\n2024/09/08 13:03:31, A, 7 %\n",
    "a report of Intel VTune": b"Function\tCPU Time\tCPU Time:Effective Time\nfoo\t2.5\t2.25\n",
    "output of AMD uProf": b"\nAMDuProfPcm Report\n\nNumber of Sockets :,1\nNumber of Cores :,96\n",
    "a CSV of Google Benchmark": b"name,iterations,real_time,cpu_time,time_unit,label\n"
    b'"BM_x/8",1000,12.5,12.25,ns,\n',
    "output of GNU time -v": b'\tCommand being timed: "sleep 1"\n\tUser time (seconds): 0.00\n',
    "a speedscope profile": b'{"$schema":"https://www.speedscope.app/file-format-schema.json"}',
    "an execution trace of PyTorch (Chakra)": b'{"schema": "1.1.1-chakra.0.0.4", "nodes": []}',
    "a Python pickle, such as a memory snapshot of PyTorch": pickle.dumps({"segments": []}),
    "a Git LFS pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n",
    "a web page": b"<!DOCTYPE html>\n<html><body>404</body></html>",
}


@pytest.mark.parametrize("what", OTHER_TOOLS)
def test_output_of_other_tools_is_named_and_not_taken_for_a_table(what: str, source: Write) -> None:
    with pytest.raises(FormatError) as refusal:
        detect(source(OTHER_TOOLS[what]))
    assert f": it looks like {what}, which is not read; " in str(refusal.value)


def test_a_table_of_another_tool_is_stored_if_asked(source: Write) -> None:
    found = source(OTHER_TOOLS["a log of nvidia-smi"])
    with pytest.raises(FormatError, match=r"use --format results-table$"):
        detect(found)
    assert detect(found, "results-table").parser.name == "results-table"


def test_the_formats_near_other_tools_exist() -> None:
    assert {name for known in LOOKALIKES for name in known.near} <= set(parsers())


def test_the_surest_wins(install: Install, source: Write) -> None:
    install("first", GOOD.format(name="first", certainty=0.4))
    install("second", GOOD.format(name="second", certainty=0.6))
    assert detect(source("#marks")).parser.name == "second"
    assert [parser.name for parser, _ in claims(b"#marks")] == ["second", "first"]


def test_two_equally_sure_are_asked_about(install: Install, source: Write) -> None:
    install("first", GOOD.format(name="first", certainty=0.5))
    install("second", GOOD.format(name="second", certainty=0.5))
    found = source("#marks")
    with pytest.raises(FormatError) as refusal:
        detect(found)
    assert str(refusal.value) == (
        f"{found.path}: several formats fit equally well: first (the first line is #marks); "
        "second (the first line is #marks); choose one with --format"
    )
    assert detect(found, "first").parser.name == "first"


BROKEN = {
    "import": ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
    "syntax": ("def (", "SyntaxError: "),
    "class": ("x = 1", "AttributeError: "),
    "init": ("class MarksParser:\n def __init__(self): raise OSError('no licence')", "no licence"),
    "exit": ("raise SystemExit('bye')", "SystemExit: bye"),
    "shape": ("class MarksParser:\n name = 'marks'", "it lacks name, title, sniff or parse"),
    "name": (GOOD.replace("{name!r}", "7").replace("{certainty}", "1"), "it lacks name"),
    "function": ("def MarksParser(): return None", "it lacks name, title, sniff or parse"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_parser_that_cannot_be_loaded_is_named_and_harms_no_other(
    kind: str, install: Install, source: Write
) -> None:
    code, why = BROKEN[kind]
    install("marks", code)
    install("sound", GOOD.format(name="sound", certainty=0.7))
    assert list(parsers()) == [*OURS, "sound"]
    assert detect(source(TRACE)).parser.name == "torch-profiler"
    ((name, reason),) = broken_parsers().items()
    assert name == "marks"
    assert reason.startswith("the parser 'marks' (tracekit_marks:MarksParser) cannot be loaded: ")
    assert why in reason
    assert "update or uninstall the package" in reason


def test_who_asks_for_a_broken_parser_is_told_why(install: Install, source: Write) -> None:
    install("marks", "import no_such_module")
    with pytest.raises(UsageError, match="cannot be loaded: ModuleNotFoundError"):
        parser_named("marks")
    with pytest.raises(FormatError, match=r"Not checked: the parser 'marks' .* cannot be loaded"):
        detect(source("#marks"))


def test_the_list_of_formats_tells_of_a_broken_parser(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("marks", "import no_such_module")
    assert run(["formats", "--format", "csv"]) == 0
    answer = capsys.readouterr()
    assert answer.out.splitlines()[0] == "format_name,reads"
    assert "\nmarks" not in answer.out
    assert answer.err.startswith("not usable: the parser 'marks' (tracekit_marks:MarksParser) ")


def test_of_two_parsers_of_one_name_the_first_is_used_and_the_other_named(
    install: Install, source: Write
) -> None:
    install("impostor", GOOD.format(name="torch-profiler", certainty=1.0))
    assert parser_named("torch-profiler").title.startswith("torch.profiler Chrome trace")
    assert broken_parsers() == {
        "torch-profiler (tracekit_impostor:MarksParser)": (
            "two parsers are named 'torch-profiler'; the one from tracekit_impostor:MarksParser "
            "is not used: uninstall the package that provides it"
        )
    }


def test_a_parser_that_fails_to_look_is_blamed(install: Install, source: Write) -> None:
    install("marks", GOOD.format(name="marks", certainty="1 / 0"))
    with pytest.raises(ParserError, match="the parser 'marks' failed: ZeroDivisionError"):
        detect(source("#marks"))
    assert detect(source("#marks"), "torch-profiler").parser.name == "torch-profiler"


def test_ours_are_loaded_like_those_of_others() -> None:
    assert all(isinstance(parser, Parser) for parser in parsers().values())
    assert broken_parsers() == {}
