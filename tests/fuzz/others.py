"""What is fuzzed beside the formats: SQL, files of the user's (TOML), and a store's own files."""

from __future__ import annotations

import contextlib
import math
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq

from tests.fuzz.mutator import seed_place
from tracekit.engine import Database
from tracekit.errors import QueryError, StoreError, UsageError
from tracekit.events import rules
from tracekit.intake import Options, ingest
from tracekit.limits import Limits
from tracekit.peaks import assumptions
from tracekit.schema import ASSUMPTION, EVENT_RULE, Table, batch_of_rows
from tracekit.store import Store, open_store

ROOT = Path(__file__).resolve().parents[2]
LOG = ROOT / "fixtures" / "perf_stat" / "shells" / "colours.txt"
CANARY = "canary-5f3c"
_SQL = [
    "FROM run",
    "SELECT name, sum(dur_ns) AS dur_ns FROM kernel GROUP BY name ORDER BY 2 DESC",
    "WITH k AS (SELECT * FROM kernel WHERE dur_ns > 1.5e3) FROM k SELECT count(*), 'a''b'",
    "SELECT a.name, b.dur_ns FROM kernel a JOIN slice b USING (run_id) LIMIT 3 OFFSET 1",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 3) FROM t",
    "PIVOT (VALUES ('a', 1), ('b', 2)) t(k, v) ON k IN ('a', 'b') USING sum(v)",
    "SELECT list_transform([1, 2], lambda x: x + 1), {'a': 1}['a'], CAST('1' AS INTEGER)",
    "SELECT start_ns, lag(start_ns) OVER (PARTITION BY stream_id ORDER BY start_ns) FROM kernel",
    "SELECT * FROM (DESCRIBE run) UNION ALL BY NAME SELECT * FROM (SHOW TABLES)",
    "SELECT value FROM json_each('[5, {\"a\": null}]'), range(3), generate_series(1, 2)",
    "FROM main.kernel AS k WHERE EXISTS (FROM memory.main.run r WHERE r.run_id = k.run_id)",
    "FROM 'canary.csv'",
    'FROM main."canary.csv"',
    "FROM main.csv",
    "FROM read_csv('canary.csv')",
    "SELECT * FROM query('SELECT 1'), glob('*')",
    "SELECT getenv('HOME')",
    "WITH x AS (COPY (SELECT 1) TO 'out.csv') SELECT * FROM x",
    "COPY run TO 'out.csv'",
    "ATTACH 'x.db'",
    "SELECT 1; DROP VIEW kernel",
    "SET threads = 1",
    "EXPLAIN ANALYZE SELECT 1",
]
_SETTINGS = [
    "[ceilings]\nfp32 = 15.16e12\ndram = 828.8e9\nlaunch_overhead_ns = 4200\n",
    """[cpu]\nname = "Mine"\nvendor = "Intel"\narchitecture = "skylake-server"\nsockets = 2
cores_per_socket = 12\nclock_hz = 3.7e9\nunits = 1\nhas_fma = false\n[cpu.avx2]\n[cpu.avx512]
clock_hz = 1.7e9\nunits = 2\nhas_fma = true\n""",
    """\n  7068.86 FP64 GFLOPs\n 28000.00 FP32 GFLOPs\n\n  2996.82 L2\n   828.76 DRAM\n
META_DATA\nERT_VERSION  2.0\n""",
    """{"empirical": {"gflops": {"data": [["FP64 GFLOPs", 28.5]]}, "gbytes":
{"data": [["L1", 80.5], ["DRAM", 18.25]]}}}""",
    """[[event]]\nname = "my_fp32"\nkeys = ["r01c7", "cpu_core/MY_FP32/"]\nquantity = "flop"
precision = "fp32"\nwidth = "256"\namount = 8\n""",
]
_INGEST_ID, _NOW_NS = "0123456789ab", 1_790_000_000_000_000_000


class _Sql:
    """Text asked from within a store's folder, where files lie that it must not see."""

    def __init__(self, folder: Path) -> None:
        self._store = _small_store(folder)
        for name in ("canary.csv", "main.csv", "memory.main.csv", "run.csv"):
            (self._store.path / name).write_text(f"a\n{CANARY}\n")
        pq.write_table(pa.table({"a": [CANARY]}), self._store.path / "main.parquet")
        self._before = _sizes(folder)
        self._folder = folder
        self._database = self._opened()

    def _opened(self) -> Database:
        return Database(self._store, limits=Limits("500MB", timeout_s=5.0))

    def accepts(self, _: int, content: bytes) -> bool:
        try:
            with contextlib.chdir(self._store.path):  # DuckDB looks for main.csv where one is
                table = self._database.sql(content.decode("utf-8", "replace")).table
        except QueryError:
            return False
        finally:
            assert _sizes(self._folder) == self._before
            if self._database.is_stuck:
                self._database = self._opened()
        assert CANARY not in str(table.slice(0, 100).to_pylist())
        return True


class _Settings:
    """Files that say what a device can do (``--peaks``) or what its events count (``--events``)."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / "my.toml"

    def accepts(self, _: int, content: bytes) -> bool:
        self._file.write_bytes(content)
        read = [
            self._reads(ASSUMPTION, lambda: assumptions(None, [self._file])),
            self._reads(EVENT_RULE, lambda: rules([self._file])),
        ]
        assert not all(read)
        return any(read)

    def _reads(self, table: Table, read: Callable[[], list[dict[str, Any]]]) -> bool:
        try:
            batch = batch_of_rows(table, read())
        except UsageError as error:
            assert str(self._file) in str(error) or "device" in str(error), error
            return False
        values = [v for column in batch.columns for v in column.to_pylist()]
        assert not any(isinstance(v, float) and not math.isfinite(v) for v in values)
        return True


class _Files:
    """A store one of whose files has another content: whoever reads it is told."""

    def __init__(self, folder: Path) -> None:
        self._sound, self._other = _small_store(folder).path, folder / "other"
        self._names, self._seeds = list(_contents()), list(_contents().values())

    def accepts(self, number: int, content: bytes) -> bool:
        shutil.rmtree(self._other, ignore_errors=True)
        shutil.copytree(self._sound, self._other)
        file = self._other / self._names[seed_place("store", number, self._seeds)]
        is_same = file.name == "tracekit.json" or content == file.read_bytes()
        file.write_bytes(content)
        try:
            store = open_store(self._other)
            is_sound = not list(store.check(is_deep=True))
            assert is_sound == is_same
            database = Database(store)
            for run_id in database.run_names():
                database.verify(run_id)
                database.query("issues", {"run_id": run_id})
            assert bool(database.damages) != is_sound
            assert len(database.query("runs")) == is_sound
        except StoreError:
            return False
        return is_sound


def _small_store(folder: Path) -> Store:
    """A store that is the same to the byte each time."""
    if not (folder / "S").exists():
        with (
            patch("tracekit.store.new_ingest_id", return_value=_INGEST_ID),
            patch("time.time_ns", return_value=_NOW_NS),
        ):
            ingest(LOG, folder / "S", Options(run_name="small"))
    return open_store(folder / "S")


@cache
def _contents() -> dict[str, bytes]:
    """The files of the small store by their names."""
    with tempfile.TemporaryDirectory(prefix="tracekit-fuzz-") as folder:
        path = _small_store(Path(folder)).path
        files = sorted(file for file in path.rglob("*") if file.is_file() and file.stat().st_size)
        return {file.relative_to(path).as_posix(): file.read_bytes() for file in files}


def _sizes(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_size for path in folder.rglob("*")}


def _settings() -> list[bytes]:
    stream = ROOT / "fixtures" / "javed2019" / "stream.log"
    return [*map(str.encode, _SETTINGS), stream.read_bytes()]


#: By name, the seeds and what accepts.
OTHERS: Mapping[str, tuple[Callable[[], Sequence[bytes]], Callable[[Path], Any]]] = {
    "sql": (lambda: [*map(str.encode, _SQL)], _Sql),
    "settings": (_settings, _Settings),
    "store": (lambda: list(_contents().values()), _Files),
}
