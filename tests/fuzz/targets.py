"""What is fuzzed: each format, with its seeds out of fixtures and what must hold of an input.

What is no format is in `others`.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from tests.both_ways import read_both
from tests.fuzz.others import OTHERS
from tests.parsers.xspaces import unasked
from tracekit.catalog import catalog
from tracekit.conformance import Variant, _Suite
from tracekit.engine import Database
from tracekit.errors import QueryError
from tracekit.intake import Options, ingest
from tracekit.parser import Parser
from tracekit.parsers.tensorflow_profiler import TensorflowProfilerParser
from tracekit.registry import parser_named, parsers
from tracekit.store import open_store

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
#: Seeds of formats, as patterns below fixtures/, where they are not all files of the format's own
#: folder. Large ones are shortened.
SEEDS = {
    "torch-profiler": [
        "torch_profiler/*/*.json",
        "torch_profiler/*/*.json.gz",
        "h100/lstm/trace.json.gz",
    ],
    "nsight-compute": [
        "nsight_compute/*/report.*",
        "nsight_compute/*/*.csv.gz",
        "h100/lstm/raw.csv.gz",
    ],
    "nvprof": ["nvprof/*/*.csv", "nvprof/*/*.txt"],
    "tensorflow-profiler": ["tensorflow_profiler/*/*.xplane.pb"],
    "perf-stat": ["perf_stat/*/stat.*", "perf_stat/old_csv/*.csv", "perf_stat/shells/*.txt"],
    "caffe-time": ["caffe_time/*/caffe.log"],
    "tensorflow-tools": ["tensorflow_tools/*/*.pb", "tensorflow_tools/*/[!e]*.json*"],
    "tensorflow-trace": ["tensorflow_trace/*/*.json", "tensorflow_trace/*/*.json.gz"],
    "tensorflow-timeline": ["tensorflow_timeline/*/gpu.json"],
    "google-benchmark": ["google_benchmark/*/*.json"],
    "pytest-benchmark": ["pytest_benchmark/*/*.json"],
    "hyperfine": ["hyperfine/*/*.json"],
    "mlperf": ["mlperf/*/*.txt"],
    "results-table": ["results_table/*/*.csv", "results_table/*/*.json*"],
}
NAMES = (*parsers(), *OTHERS)
_MOST_SEED_BYTES = 8000
_EVENTS_OF_A_SEED = 24
_LINES_OF_A_SEED = 30
#: Of so many inputs one is brought into a store, and of so many all reports are asked.
INGESTED_EVERY, REPORTED_EVERY = 32, 4096


@dataclass(frozen=True, slots=True)
class Target:
    """A format: `accepts` says whether an input is read, and raises where a rule is broken."""

    name: str
    seeds: Sequence[bytes]
    accepts: Callable[[int, bytes], bool]


def targets(names: Sequence[str], folder: Path) -> list[Target]:
    """The targets, each with a folder of its own below `folder`."""
    kinds = {name: OTHERS[name][1] if name in OTHERS else partial(_Format, name) for name in names}
    return [
        Target(name, seeds_of(name), kind(folder / name).accepts) for name, kind in kinds.items()
    ]


@cache
def seeds_of(name: str) -> Sequence[bytes]:
    """The seeds of a target, each small."""
    if name in OTHERS:
        return OTHERS[name][0]()
    patterns = SEEDS.get(name, [f"{name.replace('-', '_')}/**/*"])
    found = {file for pattern in patterns for file in FIXTURES.glob(pattern) if file.is_file()}
    files = sorted(found)
    seeds = [_short(_content(file)) for file in files]
    return [seed for seed in seeds if len(seed) < 1 << 16]  # wide pages stay wide


def _content(file: Path) -> bytes:
    raw = file.read_bytes()
    return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw


def _short(content: bytes) -> bytes:
    if len(content) <= _MOST_SEED_BYTES or not content[:4096].isascii() or b"\0" in content[:99]:
        return content
    with contextlib.suppress(ValueError):
        return _fewer_events(json.loads(content))
    short = b""
    for line in content.splitlines(keepends=True)[:_LINES_OF_A_SEED]:
        if short and len(short) + len(line) > 2 * _MOST_SEED_BYTES:
            break
        short += line
    return short


def _fewer_events(document: Any) -> bytes:
    name = "benchmarks" if "benchmarks" in document else "traceEvents"
    events = document[name] if isinstance(document, dict) else document
    step = max(1, len(events) // _EVENTS_OF_A_SEED)
    kept = [event for i, event in enumerate(events) if i % step == 0 or event.get("ph") == "M"]
    few = kept[: 2 * _EVENTS_OF_A_SEED]
    return json.dumps({**document, name: few} if isinstance(document, dict) else few).encode()


class _Format:
    """Holds a format's parser to its contract; some inputs go all the way."""

    def __init__(self, name: str, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._suite = _Suite(_parser(name), folder / "input")
        self._name = name

    def accepts(self, number: int, content: bytes) -> bool:
        is_read = (
            self._suite.check(Variant(f"input {number}", content), is_thorough=False) is not None
        )
        if self._name == "torch-profiler":
            file = self._folder / "both"
            file.write_bytes(content)
            fast, slow = read_both(file)
            assert fast == slow
        if is_read and number % INGESTED_EVERY == 0:
            self._bring_in(content, asks=number % REPORTED_EVERY == 0)
        return is_read

    def _bring_in(self, content: bytes, *, asks: bool) -> None:
        """Into a store of its own: what is accepted comes in, and any report can be asked."""
        file, store = self._folder / "file", self._folder / "store"
        file.write_bytes(content)
        shutil.rmtree(store, ignore_errors=True)
        with _unasked(self._name):
            ingest(file, store, Options(format_name=self._name, run_name="fuzz"))
        database = Database(open_store(store))
        reports = [q for q in catalog().values() if q.kind == "report"] if asks else ()
        for run_id in database.run_names():
            for report in reports:
                if {p.name for p in report.parameters if p.is_required} <= {"run_id"}:
                    with _told():
                        database.query(report.name, _of_run(report, run_id))


def _of_run(report: Any, run_id: str) -> dict[str, str]:
    return {"run_id": run_id} if any(p.name == "run_id" for p in report.parameters) else {}


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """The error that tells the user that the figures of a file cannot be right."""
    try:
        yield
    except QueryError as error:
        if "too large for 64 bits" not in str(error):
            raise


def _parser(name: str) -> Parser:
    """The format's parser; xprof is not asked, which takes seconds."""
    return (
        TensorflowProfilerParser(unasked) if name == "tensorflow-profiler" else parser_named(name)
    )


@contextlib.contextmanager
def _unasked(name: str) -> Iterator[None]:
    if name != "tensorflow-profiler":
        yield
        return
    parser: Any = parser_named(name)
    before, parser._asking = parser._asking, unasked
    try:
        yield
    finally:
        parser._asking = before
