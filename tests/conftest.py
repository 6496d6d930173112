"""What all tests share: where the traces are, a large one, and how goldens are updated."""

from __future__ import annotations

import gc
import gzip
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from hypothesis import settings

from tests.ingested import Ingested
from tests.kept_open import kept_open
from tests.sanitizing import sanitized as sanitized
from tracekit.engine import Database
from tracekit.schema import TABLES
from tracekit.store import open_store

Contents = Callable[[Path], dict[str, pa.Table]]

# Tests make many objects and few cycles: to look for those less often saves some 8 % of the time.
gc.set_threshold(100_000, 50, 100)

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared" / "corpus"

#: The same few examples each time, so that a change fails by its own fault. New ones, 100 a test:
#: TRACEKIT_HYPOTHESIS=default make pytest
settings.register_profile("same", derandomize=True, database=None, max_examples=40, deadline=None)
settings.load_profile(os.environ.get("TRACEKIT_HYPOTHESIS", "same"))


#: Of each test: its id, whether it is deep, and whether it is one of a sampled test.
ALL_TESTS = pytest.StashKey[list[tuple[str, bool, bool]]]()


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what `sampled(n)` leaves out as deep: all parameters of a test but every n-th."""
    places: Counter[str] = Counter()
    config.stash[ALL_TESTS] = []
    for item in items:
        sampled = item.get_closest_marker("sampled")
        if sampled is not None:
            test = item.nodeid.partition("[")[0]
            if places[test] % sampled.args[0]:
                item.add_marker(pytest.mark.deep)
            places[test] += 1
        is_deep = item.get_closest_marker("deep") is not None
        config.stash[ALL_TESTS].append((item.nodeid, is_deep, sampled is not None))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what comes out as what is expected; look at the difference before you commit",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--update-golden") and os.environ.get("CI"):
        raise pytest.UsageError("--update-golden is for people: CI compares, it does not approve")


@pytest.fixture(scope="session")
def updates_goldens(pytestconfig: pytest.Config) -> bool:
    """Whether expected files are to be written instead of compared."""
    return bool(pytestconfig.getoption("--update-golden"))


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of whoever runs the tests changes what comes out."""
    for name in ("TRACEKIT_STORE", "TRACEKIT_TRACEBACK", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def stores_stay_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of this process open a store once, as long as it does not change."""
    monkeypatch.setattr("tracekit.engine.Database", kept_open)


@pytest.fixture(scope="session")
def traces() -> Path:
    """The folder of the torch.profiler fixtures."""
    return ROOT / "fixtures" / "torch_profiler"


@pytest.fixture(scope="session")
def gpu_trace(traces: Path) -> Path:
    """76 kernels that take 1,961,272 ns together; 619 events; gzip."""
    return traces / "gpu-handmade" / "trace.json.gz"


@pytest.fixture(scope="session")
def cpu_trace(traces: Path) -> Path:
    """148 events, none of them on a device."""
    return traces / "cpu-inference" / "trace.json"


@pytest.fixture(scope="session")
def small_trace(traces: Path) -> Path:
    """12 events, 3 kernels."""
    return traces / "hand-made" / "valid.json"


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Real files of real profilers, where they are at hand."""
    if not CORPUS.is_dir():
        pytest.skip("../shared/corpus is not here")
    return CORPUS


@pytest.fixture(scope="session")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    """Stores of files, each made once for all workers."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "ingested"
    folder.mkdir(exist_ok=True)
    return Ingested(folder)


@pytest.fixture(scope="session")
def repeated(gpu_trace: Path) -> Callable[[Path, int], Path]:
    """Writes a trace with the events of the GPU fixture `times` times, one after the other."""
    trace = msgspec.json.decode(gzip.decompress(gpu_trace.read_bytes()))
    events = trace.pop("traceEvents")

    def write(path: Path, times: int) -> Path:
        with path.open("wb") as file:
            head = {key: value for key, value in trace.items() if key != "traceName"}
            file.write(msgspec.json.encode(head)[:-1] + b',\n"traceEvents": [\n')
            for number in range(times):
                shifted = (_later(event, number * 20_000) for event in events)
                file.write(b",\n" if number else b"")
                file.write(b",\n".join(map(msgspec.json.encode, shifted)))
            file.write(b'\n],\n"traceName": "repeated.json"}\n')
        return path

    return write


def _later(event: dict[str, Any], microseconds: int) -> dict[str, Any]:
    ts = event.get("ts")
    return event if ts is None else event | {"ts": round(ts + microseconds, 3)}


@pytest.fixture(scope="session")
def large_trace(
    repeated: Callable[[Path, int], Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """About 27 MB: enough to be read in parts."""
    path = repeated(tmp_path_factory.mktemp("large") / "large.json", 200)
    assert path.stat().st_size > 24 << 20
    yield path
    path.unlink()


@pytest.fixture(scope="session")
def contents() -> Contents:
    """Every row that a store shows, by table, without what differs from ingest to ingest."""

    def read(store: Path) -> dict[str, pa.Table]:
        database = Database(open_store(store))
        return {table: database.sql(text).table for table, text in _SELECTS.items()}

    return read


#: What differs from ingest to ingest.
PASSING = ("ingest_id", "ingested_at_ns", "created_at_ns", "tracekit_version")
_SELECTS = {
    name: "SELECT run_id, source_id, "
    + ", ".join(f'"{c.name}"' for c in table.columns if c.name not in PASSING)
    + f" FROM {name} ORDER BY ALL"
    for name, table in TABLES.items()
}
