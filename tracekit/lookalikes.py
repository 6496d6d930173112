"""What a file is that no parser reads: output of other tools, by how it begins; nearest formats."""

from __future__ import annotations

import re
from dataclasses import dataclass

_COUNTERS = ("nsight-compute", "nvprof")
_TRACES = ("torch-profiler", "tensorflow-trace")
_BINARY = ("tensorflow-profiler", "tensorflow-tools")
_TABLES = ("nsight-compute", "results-table")
_TEXTS = ("perf-stat", "nvprof")


_JSON = re.compile(rb"\{\s*[\"}]|\[\s*(?:[\[{\"\]nt]|-?\d[\d.eE+-]*\s*[,\]])")


@dataclass(frozen=True, slots=True)
class Lookalike:
    """Output of a tool that no parser reads.

    ``what`` completes "it looks like"; ``advice`` is what to do instead; ``near`` are the two
    formats of ours that hold most of what it holds, if any.
    """

    what: str
    begins: re.Pattern[bytes]
    advice: str
    near: tuple[str, ...]


def _known(what: str, begins: bytes, advice: str, near: tuple[str, ...]) -> Lookalike:
    return Lookalike(what, re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:" + begins + rb")"), advice, near)


_KERNELS = "record the program with torch.profiler"
_PEAKS = "use it as peaks: `tracekit ingest PROFILE --peaks FILE`"
_AS_CSV = "export it as CSV: `ncu --import FILE --csv --page raw`"
#: By the first bytes, as the tools of 2024 to 2026 write them.
LOOKALIKES = (
    _known(
        "a kernel trace of rocprofv3",
        rb'(?:"Guid",)?"Kind","Agent_Id","Queue_Id"',
        _KERNELS,
        _TRACES,
    ),
    _known(
        "a memory copy trace of rocprofv3",
        rb'(?:"Guid",)?"Kind","(?:Direction|Stream_Id)"',
        _KERNELS,
        _TRACES,
    ),
    _known(
        "counters of rocprofv3",
        rb'(?:"Guid",)?"Correlation_Id","Dispatch_Id","Agent_Id"',
        _KERNELS,
        _COUNTERS,
    ),
    _known(
        "counters of rocprof-compute (Omniperf)",
        rb"Dispatch_ID,(?:Kernel_Name,)?GPU_ID",
        _KERNELS,
        _COUNTERS,
    ),
    _known(
        "output of likwid-perfctr",
        rb"(?:INFO: .*LIKWID.*\n)?-+\nCPU name:\t|(?:TABLE|STRUCT),(?:Group \d|Region |Info)",
        "count with `perf stat -x, -o FILE -- COMMAND` instead",
        _TEXTS,
    ),
    _known("statistics of rocprof", rb'"Name","Calls","TotalDurationNs"', _KERNELS, _COUNTERS),
    _known(
        "a kernel trace of rocprof", rb'"?Index"?,"?KernelName"?,"?gpu-id"?', _KERNELS, _COUNTERS
    ),
    _known("a trace of rocprofv3", rb'\{\s*"rocprofiler-sdk-tool"', _KERNELS, _TRACES),
    _known(
        "a GPU trace of Nsight Systems",
        rb"(?:.*\n){0,8}?Start \(ns\),Duration \(ns\),CorrId",
        "record the program with torch.profiler, or with `ncu --csv`",
        _COUNTERS,
    ),
    _known(
        "a summary of Nsight Systems",
        rb"(?:.*\n){0,8}?Time \(%\),Total Time \(ns\),(?:Instances|Num Calls|Count|Operations)",
        "record the program with torch.profiler, or with `ncu --csv`",
        _COUNTERS,
    ),
    _known("a report file of Nsight Compute", rb"NVR\0", _AS_CSV, _COUNTERS),
    _known(
        "a log of nvidia-smi",
        rb"[a-z][\w. ,\[\]%-]*(?:utilization\.gpu|memory\.used|power\.draw)",
        "it has samples of the whole device, none of a kernel",
        _COUNTERS,
    ),
    _known(
        "a report of Intel VTune",
        rb"(?:[^\n]{0,200}[,;\t])?(?:Function|Source Function Stack|Module)[^\n]{0,400}[,;\t]"
        rb"(?:CPU Time:|Clockticks[,;\t:]|Start Address)",
        "count with `perf stat -x, -o FILE -- COMMAND` instead",
        _TEXTS,
    ),
    _known(
        "output of AMD uProf",
        rb"(?:.{0,200}\n){0,4}?[^\n]{0,40}(?:AMDuProf|AMD uProf|AMDPerf/)",
        "count with `perf stat -x, -o FILE -- COMMAND` instead",
        _TEXTS,
    ),
    _known(
        "a CSV of Google Benchmark",
        rb"(?:.{0,200}\n){0,12}?name,iterations,real_time,cpu_time,time_unit,",
        "write JSON: --benchmark_out_format=json",
        ("google-benchmark", "results-table"),
    ),
    _known(
        "output of GNU time -v",
        rb"Command being timed:",
        "measure with hyperfine --export-json, or with perf stat",
        ("hyperfine", "perf-stat"),
    ),
    _known(
        "a speedscope profile",
        rb'\{\s*"\$schema"\s*:\s*"https://www\.speedscope\.app',
        "ingest the trace that it was made from",
        _TRACES,
    ),
    _known(
        "an execution trace of PyTorch (Chakra)",
        rb'\{\s*"schema"\s*:\s*"[\d.]+-chakra',
        "it has no times; record the program with torch.profiler",
        _TRACES,
    ),
    _known(
        "a Python pickle, such as a memory snapshot of PyTorch",
        rb"\x80[\x02-\x05](?:[\x95\x7d\x5d\x63]|.{0,9}[\x7d\x5d])",
        "loading one can run any code",
        _TRACES,
    ),
    _known("a result of STREAM", rb"-+\r?\nSTREAM version", _PEAKS, ()),
    _known("a result of ERT", rb"[\d.]+\s+(?:\w+\s+)?GFLOPs|META_DATA", _PEAKS, ()),
    _known(
        "a Git LFS pointer",
        rb"version https://git-lfs\.github\.com/spec/",
        "get the file itself with `git lfs pull`",
        (),
    ),
    _known("a web page", rb"<!(?:DOCTYPE|doctype) html|<html", "download the file itself", ()),
    _known("a PDF file", rb"%PDF-", "get the file that it was made from", ()),
)


#: What must be unpacked or converted first, by its first bytes.
_CONTAINERS = {
    b"\xff\xfe": "it is UTF-16 text; convert it to UTF-8",
    b"\xfe\xff": "it is UTF-16 text; convert it to UTF-8",
    b"PK\x03\x04": "it is a zip archive; unpack it first",
    b"\xfd7zXZ": "it is compressed with xz; unpack it first",
    b"BZh": "it is compressed with bzip2; unpack it first",
    b"SQLite format 3\0": "it is an SQLite database, which is not supported",
}


def container(head: bytes) -> str | None:
    """What a file is whose content is inside of something else, in words; None if it is none."""
    return next((what for start, what in _CONTAINERS.items() if head.startswith(start)), None)


def lookalike(head: bytes) -> Lookalike | None:
    """The tool whose output begins like `head`; None if none is known."""
    return next((known for known in LOOKALIKES if known.begins.match(head)), None)


def nearest(head: bytes) -> tuple[str, ...]:
    """The two formats nearest to a file that no parser claims; none for what is no profile."""
    if not head or container(head) is not None:
        return ()
    if (known := lookalike(head)) is not None:
        return known.near
    body = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if _JSON.match(body):
        return _TRACES
    if b"\0" in head:
        return _BINARY
    lines = body.split(b"\n", 2)[:2]
    is_table = lines[0].count(b",") > 0 and lines[0].count(b",") == lines[-1].count(b",")
    return _TABLES if is_table else _TEXTS
