"""The store: a folder of Parquet files that any engine can read.

``STORE/<table>/run_id=<run>/source_id=<source>/<ingest>-<part>.parquet``, Hive style. An ingest
writes to ``STORE/.staging`` and moves its files into place at the end; the file of the
``source_file`` table comes last and is the commit mark. Readers see only the files of committed
ingests, so a killed ingest leaves nothing visible, and replacing a source is one rename.

Labels are stored with the source that they were given with, and apply to the whole run as long as
that source is in it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import time
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa

from tracekit import manifest
from tracekit.dictionaries import with_dictionaries
from tracekit.errors import StoreError, UsageError
from tracekit.home import Disk, Files, Home, NotAFileError, names_in
from tracekit.packed import Packs, commits_in
from tracekit.packs import OWNERS, PACKS, Pack
from tracekit.schema import (
    BLAKE3,
    RUN,
    RUN_LABEL,
    RUN_METRIC,
    SCHEMA_VERSION,
    SHA256,
    SOURCE_FILE,
    TABLES,
    TEXT,
    Table,
    batch_of_rows,
)
from tracekit.snapshot import (
    Commit,
    Damage,
    Litter,
    Snapshot,
    UnknownIngest,
    commit_of,
)
from tracekit.urls import is_url
from tracekit.wide import WIDE_FORMS

if TYPE_CHECKING:
    import pyarrow.parquet as pq  # loaded, like filelock, for changes only: it takes time

#: The folders of a store: of tables, and of rows of several in another form.
FOLDERS = (*TABLES, *WIDE_FORMS)
#: The file that makes a folder a store.
STORE_MARK = "tracekit.json"
_STAGING = ".staging"
_INGEST_ID = re.compile(r"[0-9a-f]{20}")
_MANIFEST = re.compile(r"_([0-9a-f]{20})\.json")
_MANIFEST_DRAFT = "manifest.json"
_LOCK = ".lock"
# Files that packs replace are deleted for so long while others wait.
_CLEARING_SECONDS = 2.0
# Larger groups take less time and space; but a row can be long, and all of a group is in memory.
_ROW_GROUP_ROWS, _ROW_GROUP_BYTES = 1 << 16, 32 << 20
# A writer keeps the metadata of every row group until its file ends.
_FILE_ROWS = 1 << 20
# Of so many sources, the sizes are looked up in their files.
_FEW_SOURCES = 64
# Memory is released this often; otherwise the heap grows with the file.
_TRIM_ROWS = 1 << 18
_COMPRESSION_LEVEL = 3
# Names that are safe for folders anywhere, and that no reader of Hive folders reads as a number, a
# date or NULL.
_SLUG = re.compile(r"[a-z](?:[a-z0-9._-]{0,62}[a-z0-9_-])?")
_NOT_TEXT = frozenset(("null", "none", "nan", "inf", "infinity", "epoch", "true", "false"))
# Columns whose values mostly grow from row to row.
_GROWING = frozenset(
    (
        "event_id",
        "launch_event_id",
        "op_event_id",
        "parent_event_id",
        "release_event_id",
        "launch_index",
        "start_ns",
        "launch_start_ns",
        "time_ns",
        "event_index",
        "python_id",
        "python_parent_id",
        "external_id",
        "correlation_id",
        "flow_id",
    )
)
# Columns whose values hardly repeat: a dictionary only adds to them.
_VARYING = frozenset(
    (
        "kernel_counter.dur_ns",
        "slice.dur_ns",
        "kernel_metric.value",
        "launch_key",
        "elapsed_cycles",
        "sm_clock_hz",
        "dram_clock_hz",
        "dram_bytes",
        "dram_read_bytes",
        "dram_write_bytes",
        "l2_t_bytes",
        "l1_t_bytes",
        "fadd_inst",
        "fmul_inst",
        "ffma_inst",
    )
)
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def run_id_of(name: str) -> str:
    """Return the ID of the run `name`: the name itself if it is safe as a folder name."""
    if _SLUG.fullmatch(name) and name not in _NOT_TEXT:
        return name
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].strip("-")
    if not slug[:1].isalpha():
        slug = f"run-{slug}".rstrip("-")
    return f"{slug}-{sha256(name.encode()).hexdigest()[:8]}"


def new_ingest_id() -> str:
    """Return an ID that is unique and increases with time."""
    return f"{time.time_ns() // 1_000_000:012x}{uuid.uuid4().hex[:8]}"


@dataclass(frozen=True, slots=True)
class Said:
    """What the user says about a run: its labels, and metrics that no profiler gives."""

    labels: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Return whether there is anything."""
        return bool(self.labels or self.metrics)


@dataclass(slots=True)
class _Waiting:
    """The rows of a row group to be."""

    batches: list[pa.RecordBatch] = field(default_factory=list)
    row_count: int = 0
    size_bytes: int = 0

    def add(self, batch: pa.RecordBatch) -> None:
        self.batches.append(batch)
        self.row_count += batch.num_rows
        self.size_bytes += batch.nbytes


def _is_same(schema: pa.Schema, other: pa.Schema) -> bool:
    return schema is other or bool(schema.equals(other, check_metadata=True))


class TableWriter:
    """Writes record batches of any table into Parquet files under one folder.

    Wide rows of another schema begin another file. After an error the files are unfinished and the
    writer is unusable.
    """

    def __init__(
        self,
        folder: Path,
        prefix: str,
        on_written: Callable[[str, pa.Table], None] | None = None,
        *,
        most_file_bytes: int | None = None,
    ) -> None:
        """Name files ``<prefix>.parquet``, then ``<prefix>-1.parquet`` and so on.

        `on_written` is told the table and the rows of each row group. A file has `most_file_bytes`,
        and less than a row group more.
        """
        self._folder = folder
        self._prefix = prefix
        self._on_written = on_written
        self._most_file_bytes = most_file_bytes
        self._paths: dict[str, Path] = {}
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._waiting: dict[str, _Waiting] = {}
        self._rows: Counter[str] = Counter()  # of the current file
        self._files: Counter[str] = Counter()
        self._written = 0

    def write(self, table: str, batch: pa.RecordBatch) -> None:
        """Add rows, which are written in row groups; an empty batch creates no file."""
        if not batch.num_rows:
            return
        if table in WIDE_FORMS and self._has_other(table, batch.schema):
            self._flush(table)
        waiting = self._waiting.setdefault(table, _Waiting())
        waiting.add(batch)
        if waiting.row_count >= _ROW_GROUP_ROWS or waiting.size_bytes >= _ROW_GROUP_BYTES:
            self._flush(table)

    def close(self) -> None:
        """Write the remaining rows and finish the files."""
        for table in list(self._waiting):
            self._flush(table)
        with self._given_up_on_error():
            for writer in self._writers.values():
                writer.close()

    def _flush(self, table: str) -> None:
        rows = with_dictionaries(self._waiting.pop(table).batches)
        with self._given_up_on_error():
            if table in self._writers and not _is_same(self._writers[table].schema, rows.schema):
                self._finish(table)
            if table not in self._writers:
                self._writers[table] = _parquet_writer(self._next_path(table), table, rows.schema)
            self._writers[table].write_table(rows, rows.num_rows)
            self._rows[table] += rows.num_rows
            if self._is_full(table):
                self._finish(table)
        if self._on_written is not None:
            self._on_written(table, rows)
        before, self._written = self._written, self._written + rows.num_rows
        if self._written // _TRIM_ROWS > before // _TRIM_ROWS:
            pa.default_memory_pool().release_unused()

    def _has_other(self, table: str, schema: pa.Schema) -> bool:
        """Return whether the rows that wait have another schema."""
        waiting = self._waiting.get(table)
        return waiting is not None and not _is_same(waiting.batches[0].schema, schema)

    def _next_path(self, table: str) -> Path:
        """Return the path of the next file of a table, in a folder that exists."""
        number = self._files[table]
        self._files[table] += 1
        name = f"{self._prefix}-{number}" if number else self._prefix
        path = self._folder / table / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        self._paths[table] = path
        return path

    def _is_full(self, table: str) -> bool:
        """Return whether the current file of a table has all that it should."""
        if self._most_file_bytes is None:
            return self._rows[table] >= _FILE_ROWS
        return self._paths[table].stat().st_size >= self._most_file_bytes

    def _finish(self, table: str) -> None:
        """Finish the current file of a table: the next rows begin another."""
        self._writers.pop(table).close()
        self._rows[table] = 0

    @contextlib.contextmanager
    def _given_up_on_error(self) -> Iterator[None]:
        """Close every file after an error, so that none fails again when it is collected."""
        try:
            yield
        except (OSError, pa.ArrowException):
            for writer in self._writers.values():
                with contextlib.suppress(OSError, pa.ArrowException):
                    writer.close()
                writer.is_open = False
            raise


def _parquet_writer(path: Path, table: str, schema: pa.Schema) -> pq.ParquetWriter:
    """Return a writer with dictionaries for repeated values and deltas for growing ones.

    Of texts there are no statistics, but of whose the rows of a pack are: for others no reader has
    use, and they take time.
    """
    import pyarrow.parquet as pq

    form = WIDE_FORMS.get(table)
    metrics = set(schema.names) - form.columns.keys() if form else set[str]()
    varying = [n for n in schema.names if not _VARYING.isdisjoint((n, f"{table}.{n}"))]
    # deltas take as many bits as the numbers of a page need
    narrow = metrics.union(varying) - {"launch_key"}
    growing = [
        field.name
        for field in schema
        if field.type == pa.int64() and (field.name in _GROWING or field.name in narrow)
    ]
    writer = pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        compression_level=1 if form else _COMPRESSION_LEVEL,  # deltas are short
        use_dictionary=[name for name in schema.names if name not in (*growing, *varying)],
        column_encoding=dict.fromkeys(growing, "DELTA_BINARY_PACKED"),
        write_statistics=[f.name for f in schema if f.name in OWNERS or not _is_text(f.type)],
        dictionary_pagesize_limit=4 << 20,
        write_page_index=False,
        store_schema=False,  # texts are read as such, not as dictionaries
    )
    if schema.metadata:  # is part of that schema
        writer.add_key_value_metadata(schema.metadata)
    return writer


def _is_text(kind: pa.DataType) -> bool:
    return kind == TEXT or bool(pa.types.is_dictionary(kind))


class Store:
    """A store on disk or at a URL. Opening it reads; ``begin`` starts an ingest into it."""

    def __init__(self, home: Home, hash_kind: str) -> None:
        """Use `open_store` or `create_store`; `hash_kind` gives sources their IDs."""
        self.home = home
        self.path = home.path
        self.hash_kind = hash_kind
        self.packs = Packs(home)

    # -- reading ------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the committed ingests and their files, all as of one moment."""
        marks, packs = self._marks(), self.packs.present()
        while True:
            there = self.home.below(self.path)
            packed = commits_in(packs)
            commits = _latest([*marks, *packed])
            files, damages = self._committed(there, commits, set(packed))
            damages += self.packs.damages(packs, there)
            broken = {damage.commit for damage in damages}
            intact = [commit for commit in commits if commit not in broken]
            first = _first_of_runs(intact)
            files[RUN.name] = [file for file in files[RUN.name] if commit_of(file) in first]
            rows = tuple(self.packs.rows(packs, set(intact), first))
            # A mark is deleted before its files, and after the source is in a pack: if all marks
            # and packs are still there, so were the files.
            seen, (marks, packs) = (marks, packs), (self._marks(), self.packs.present())
            if seen == (marks, packs):
                return Snapshot(tuple(commits), files, tuple(damages), rows)

    def has_changed(self, snapshot: Snapshot) -> bool:
        """Return whether other sources are committed now, or their rows are elsewhere."""
        packs = [pack for pack in self.packs.present() if isinstance(pack, Pack)]
        seen = [rows.pack.pack_id for rows in snapshot.packed]
        has_moved = [pack.pack_id for pack in packs] != seen
        return has_moved or self.commits() != list(snapshot.commits)

    def _marks(self, run_id: str | None = None) -> list[Commit]:
        """Return the ingests with a commit mark, of a run or all."""
        return [commit for commit, _ in self._files(SOURCE_FILE.name, run_id)]

    def _committed(
        self, there: Files, commits: list[Commit], packed: Collection[Commit]
    ) -> tuple[dict[str, list[Path]], list[Damage]]:
        """Return the files of intact ingests that are not packed, and the damages of others."""
        found: dict[str, list[Path]] = {table: [] for table in FOLDERS}
        damages: list[Damage] = []
        asked = [commit for commit in commits if commit not in packed]
        contents = self.home.contents([self.manifest_of(commit) for commit in asked])
        for commit, content in zip(asked, contents, strict=True):
            entries, own = self._decoded(commit, content)
            own += self._differing(commit, entries, there)
            damages += own
            for table, file in () if own else self._files_of(commit, entries):
                found.setdefault(table, []).append(file)
        return {table: found[table] for table in FOLDERS}, damages

    def _files_of(
        self, commit: Commit, entries: Sequence[manifest.Entry] | None
    ) -> Iterator[tuple[str, Path]]:
        """Yield the files of an ingest from its manifest; without one, the existing files."""
        for entry in entries or ():
            folder = self._folder_of(entry.table, commit)
            yield entry.table, self._path(f"{folder}/{entry.file_name}")
        for table in FOLDERS if entries is None else ():
            for owner, file in self._files(table, commit.run_id, commit.source_id):
                if owner == commit:
                    yield table, file

    def _path(self, text: str) -> Path:
        """Return the path in the store with this text."""
        return type(self.path)(text)

    def damages_of(self, commit: Commit, there: Files, *, is_deep: bool = False) -> list[Damage]:
        """Return how the files of a committed ingest differ from what was written.

        Existence and sizes are checked, as `there` has them, and, if `is_deep`, hashes. Nothing can
        be checked for an ingest without a manifest, from an older version.
        """
        entries, damages = self._manifest(commit)
        return damages + self._differing(commit, entries, there, is_deep=is_deep)

    def _differing(
        self,
        commit: Commit,
        entries: Sequence[manifest.Entry] | None,
        there: Files,
        *,
        is_deep: bool = False,
    ) -> list[Damage]:
        damages: list[Damage] = []
        deep_in = self.home if is_deep else None
        for entry in entries or ():
            file = f"{self._folder_of(entry.table, commit)}/{entry.file_name}"
            found = manifest.differences(there, file, entry, deep_in=deep_in)
            if entry.table not in FOLDERS:
                found = iter(["is of a table that this version does not have"])
            damages += [Damage(self._path(file), what, commit) for what in found]
        return damages

    def _manifest(self, commit: Commit) -> tuple[list[manifest.Entry] | None, list[Damage]]:
        """Return what an ingest wrote, None if unknown, and damage to its manifest."""
        (content,) = self.home.contents([self.manifest_of(commit)])
        return self._decoded(commit, content)

    def _decoded(
        self, commit: Commit, content: bytes | OSError
    ) -> tuple[list[manifest.Entry] | None, list[Damage]]:
        """Return what a manifest says, and damage to it."""
        path = self.manifest_of(commit)
        if isinstance(content, FileNotFoundError):
            return None, []
        if isinstance(content, OSError):
            return None, [Damage(path, f"cannot be read: {content.strerror or content}", commit)]
        entries = manifest.decoded(content)
        return entries, [Damage(path, "has changed", commit)] if entries is None else []

    def damages_in(self, snapshot: Snapshot, run_id: str | None = None) -> list[Damage]:
        """Return damage, by content, to the visible sources of a run, or of all."""
        known = {damage.commit for damage in snapshot.damages}
        asked = [c for c in snapshot.commits if c not in known and run_id in (None, c.run_id)]
        in_packs = {c for c in asked for rows in snapshot.packed if c.source_id in rows.alive}
        there = self.home.below(self.path)
        found = [
            damage
            for commit in asked
            if commit not in in_packs
            for damage in self.damages_of(commit, there, is_deep=True) or self._unreadable(commit)
        ]
        owners = {commit.source_id for commit in in_packs}
        packs = [rows.pack for rows in snapshot.packed if not owners.isdisjoint(rows.alive)]
        damages = self.packs.damages(packs, there, is_deep=True, reads=True)
        return found + [damage for damage in damages if damage.commit in in_packs]

    def check(
        self, run_id: str | None = None, *, is_deep: bool = False
    ) -> Iterator[Damage | Litter]:
        """Yield damage to the files of a run, or to the whole store.

        Every committed file must exist with its size and row count and, if `is_deep`, its hash. For
        the whole store, files that belong to no ingest are listed, too.
        """
        packs = self.packs.present()
        in_packs, there = set(commits_in(packs)), self.home.below(self.path)
        for damage in self.packs.damages(packs, there, is_deep=is_deep, reads=True):
            if run_id in (None, damage.commit.run_id):
                yield damage
        for commit in self.commits(run_id):
            if commit in in_packs:
                continue
            yield from self.damages_of(commit, there, is_deep=is_deep) or self._unreadable(commit)
            if not self._has_manifest(commit, there):
                what = "is missing: cannot tell whether the files are intact"
                yield UnknownIngest(self.manifest_of(commit), what, commit)
        if run_id is None:
            yield from self._litter()

    def _has_manifest(self, commit: Commit, there: Files) -> bool:
        try:
            there.size_of(self.manifest_of(commit))
        except NotAFileError:
            return True
        except OSError:
            return False
        return True

    def _litter(self) -> Iterator[Damage | Litter]:
        """Yield files that belong to no ingest, or to one that lost its mark."""
        dead = list(self._dead())
        yield from (Litter(path, "is a leftover of a killed ingest") for path in dead)
        yield from self.packs.litter()
        under_way = {*names_in(self.home.staging)} - {path.name for path in dead}
        orphans = [pair for pair in self._orphans() if pair[0].ingest_id not in under_way]
        lost = self._without_mark(commit for commit, _ in orphans)
        for commit, path in orphans:
            if commit in lost:
                yield Damage(path, "has lost its commit mark", commit)
            else:
                yield Litter(path, "belongs to no ingest")

    def _unreadable(self, commit: Commit) -> list[Damage]:
        """Return files of an ingest that are not Parquet, or have another row count."""
        entries, _ = self._manifest(commit)
        rows = {(entry.table, entry.file_name): entry.row_count for entry in entries or ()}
        found = [
            (file, manifest.unreadable(self.home, file, rows.get((table, file.name))))
            for table, file in self._files_of(commit, entries)
        ]
        return [Damage(file, what, commit) for file, what in found if what]

    def manifest_of(self, commit: Commit) -> Path:
        """Return the path of an ingest's manifest."""
        folder = self.folder_of(SOURCE_FILE.name, commit)
        return folder / manifest.file_name_of(commit.ingest_id)

    def commits(self, run_id: str | None = None) -> list[Commit]:
        """Return the committed ingests of one run or all, one per source, oldest first."""
        packed = [c for c in self.packs.commits() if run_id in (None, c.run_id)]
        return _latest([*self._marks(run_id), *packed])

    def marked(self) -> list[Commit]:
        """Return the committed ingests with files of their own, one per source, oldest first."""
        return _latest(self._marks())

    def derived_from(self, commits: Collection[Commit]) -> list[Commit]:
        """Return the ingests derived from some sources, without those sources themselves."""
        runs = {commit.run_id for commit in commits if not commit.is_derived}
        return [
            commit
            for run_id in sorted(runs)
            for commit in self.commits(run_id)
            if commit.is_derived and commit not in commits
        ]

    def commit_of(self, source_id: str) -> Commit | None:
        """Return the committed ingest of a source, if there is one that is not too new."""
        there = self.home.lately(self.path / SOURCE_FILE.name)
        packed = [c for c in self.packs.commits() if c.source_id == source_id]
        return next(iter(_latest([*self.marks_of(source_id, there), *packed])), None)

    def marks_of(self, source_id: str, there: Files | None = None) -> list[Commit]:
        """Return all ingests of a source with a commit mark, of which the latest counts."""
        found = self._files(SOURCE_FILE.name, source_id=source_id, there=there)
        return [commit for commit, _ in found]

    def may_have(self, size_bytes: int) -> bool:
        """Return whether a file of this size, or content of this size, may be in."""
        marks = [mark for _, mark in self._files(SOURCE_FILE.name)]
        if len(marks) > _FEW_SOURCES or self.packs.present():
            return True
        return any(self._may_be_of(mark, size_bytes) for mark in marks)

    def _may_be_of(self, mark: Path, size_bytes: int) -> bool:
        """Return whether a commit mark may be of a file, or of content, of this size."""
        import pyarrow.parquet as pq

        try:
            with self.home.opened(mark) as opened, pq.ParquetFile(opened) as file:
                sizes = file.read(["size_bytes", "content_bytes"])
        except (OSError, KeyError, pa.ArrowException):
            return True
        return any(size_bytes in column.to_pylist() for column in sizes.columns)

    def refuse_others(
        self,
        run_id: str,
        said: Said,
        leaving: Collection[str] = (),
        agreeing: Collection[Commit] = (),
    ) -> set[Commit]:
        """Raise UsageError if the run has other labels or metrics than `said`; return who agrees.

        Sources in `leaving` are about to be replaced and are ignored, as are those `agreeing`.
        """
        if not said:
            return set()
        alive = {c for c in self.commits(run_id) if c.source_id not in leaving}
        alive.difference_update(agreeing)
        for what, table, column, values in (
            ("label", RUN_LABEL, "label_name", said.labels),
            ("metric", RUN_METRIC, "metric_name", said.metrics),
        ):
            for name, value in self._said(table, column, run_id, alive) if values else ():
                if values.get(name, value) != value:
                    raise UsageError(
                        f"the run {run_id!r} has the {what} {name}={_plain(value)}, and {name}="
                        f"{_plain(values[name])} was given; use another --run, or use "
                        "--replace with every file of the run"
                    )
        return alive

    def _said(
        self, table: Table, column: str, run_id: str, alive: Collection[Commit]
    ) -> Iterator[tuple[str, Any]]:
        import pyarrow.parquet as pq

        for commit, file in self._files(table.name, run_id):
            if commit in alive:
                with self.home.opened(file) as opened:
                    rows = pq.ParquetFile(opened).read([column, "value"]).to_pylist()
                yield from ((row[column], row["value"]) for row in rows)
        for row in self.packs.said(table, (column, "value"), run_id, alive):
            yield row[column], row["value"]

    def _files(
        self,
        table: str,
        run_id: str | None = None,
        source_id: str | None = None,
        *,
        with_manifests: bool = False,
        there: Files | None = None,
    ) -> Iterator[tuple[Commit, Path]]:
        """Yield the files of a table, committed or not, each with its ingest."""
        top = f"{self.path}/{table}"
        if there is None:
            there = self.home.below(self._path(top if run_id is None else f"{top}/run_id={run_id}"))
        for run in _folders(there, top, "run_id=", run_id):
            for source in _folders(there, run, "source_id=", source_id):
                for name in there.names_in(source):
                    path = self._path(f"{source}/{name}")
                    if commit := commit_of(path):
                        yield commit, path
                    elif with_manifests and (match := _MANIFEST.fullmatch(name)):
                        of_run, of_source = (x.partition("=")[2] for x in path.parts[-3:-1])
                        yield Commit(of_run, of_source, match[1]), path

    # -- writing ------------------------------------------------------------------------------

    def locked(self) -> contextlib.AbstractContextManager[None]:
        """Hold the store's lock, which serializes all changes; at a URL, there is none.

        Raises StoreError if a link leads out of the store, because changes delete files.
        """
        return self.home.locked((STORE_MARK, _STAGING, PACKS, *FOLDERS))

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """Hold the lock; raise StoreError for what the system refuses."""
        try:
            with self.locked():
                yield
        except OSError as error:
            _refuse_writing(self.path, error)

    def begin(self, replacing: Collection[str] = ()) -> Ingest:
        """Start an ingest that replaces some sources; clear leftovers of killed ones."""
        with self.changing():  # so that no one sweeps a staging folder before it is claimed
            self._sweep()
            self._clear_replaced(time.time_ns())
            return Ingest(self, replacing)

    def _sweep(self) -> None:
        """Clear leftovers of killed ingests and removals, their staging folders last."""
        if dead := list(self._dead()):
            self._clear_orphans({folder.name for folder in dead})
        for folder in dead:
            shutil.rmtree(folder, ignore_errors=True)

    def _dead(self) -> Iterator[Path]:
        """Yield the staging folders whose ingest is no longer alive."""
        import filelock

        for name in filter(_INGEST_ID.fullmatch, names_in(self.home.staging)):
            folder = self.home.staging / name
            if folder.is_symlink() or (folder / _LOCK).is_symlink():
                continue
            lock = filelock.FileLock(folder / _LOCK)
            with contextlib.suppress(OSError):  # it is held, or the folder is not ours
                lock.acquire(timeout=0)
                lock.release()
                yield folder

    def clear_replaced(self, now_ns: int) -> int:
        """Delete the files that packs replace if they are due; return how many there were."""
        count, is_done = 0, False
        while not is_done:  # others may have the lock in between
            with self.changing():
                deleted, is_done = self._clear_replaced(now_ns)
            count += deleted
        return count

    def _clear_replaced(self, now_ns: int) -> tuple[int, bool]:
        """Delete some under the lock, for a moment; return how many, and whether that was all."""
        due = self.packs.due(now_ns)
        in_packs = set(commits_in(due))
        if not in_packs:
            return self.packs.clear_replaced_by(due), True
        count, until = 0, time.monotonic() + _CLEARING_SECONDS
        there = self.home.below(self.path)
        for some in self._at_once([commit for commit in self._marks() if commit in in_packs]):
            if time.monotonic() > until:
                return count, False
            count += sum(len(self.entries_of(commit) or ()) for commit in some)
            self.discard_files(some, there)
        return count + self.packs.clear_replaced_by(due), True

    def entries_of(self, commit: Commit) -> list[manifest.Entry] | None:
        """Return what an ingest wrote into files of its own; None if that is unknown."""
        return self._manifest(commit)[0]

    def tidy(self) -> None:
        """Clear leftovers of killed ingests and removals, but nothing committed."""
        with self.changing():
            self._sweep()
            self._clear_orphans(())
            self.packs.tidy()

    def remove(self, commits: list[Commit]) -> list[Commit]:
        """Remove sources: first make them invisible, then delete their files.

        Returns the derived ingests that were removed with them.
        """
        try:
            with self.locked():
                under_way = self.home.staging / new_ingest_id()
                under_way.mkdir(parents=True)  # if this is killed, the next ingest finishes it
                self._clear_orphans(())  # an older ingest of a source must not become visible
                derived = self.derived_from(commits)
                self.discard([*derived, *commits])
                shutil.rmtree(under_way, ignore_errors=True)
                return derived
        except OSError as error:
            _refuse_writing(self.path, error)

    def discard(self, commits: Sequence[Commit]) -> None:
        """Delete the files of ingests, their commit marks first; only under the lock.

        Rows in a pack count no longer: last, as a compaction looks for marks after it has written
        its own.
        """
        if not commits:
            return
        there = self.home.below(self.path)
        for some in self._at_once(commits):
            self.discard_files(some, there)
            for commit in some:
                self.packs.remove(commit)

    def _at_once(self, commits: Sequence[Commit]) -> Iterator[Sequence[Commit]]:
        """Yield ingests whose files are deleted together: one, or all where each look is slow."""
        if self.home.is_far:
            yield commits
            return
        yield from ([commit] for commit in commits)

    def discard_files(self, commits: Sequence[Commit], there: Files) -> None:
        """Delete the files that are of one ingest only.

        The manifest is deleted before the mark: without a mark, it means that the mark was lost.
        """
        self.home.delete([self.manifest_of(commit) for commit in commits])
        for tables in ((SOURCE_FILE.name,), FOLDERS):
            self.home.delete(
                [
                    file
                    for commit in commits
                    for table in tables
                    for file in self._own_files(commit, table, there)
                ]
            )

    def _own_files(self, commit: Commit, table: str, there: Files) -> list[Path]:
        found = self._files(table, commit.run_id, commit.source_id, there=there)
        return [file for owner, file in found if owner == commit]

    def _clear_orphans(self, dead: Collection[str]) -> None:
        """Delete files of no committed ingest, including the `dead`; only under the lock."""
        orphans = self._orphans(dead)
        lost = self._without_mark(commit for commit, _ in orphans if commit.ingest_id not in dead)
        self.home.delete([file for commit, file in orphans if commit not in lost])

    def _without_mark(self, orphaned: Iterable[Commit]) -> set[Commit]:
        """Return ingests that were complete: with a manifest, and the only one of their source."""
        alive = {commit.source_id for commit in self.commits()}
        there = self.home.below(self.path / SOURCE_FILE.name)
        return {
            commit
            for commit in set(orphaned)
            if commit.source_id not in alive and self._has_manifest(commit, there)
        }

    def _orphans(self, dead: Collection[str] = ()) -> list[tuple[Commit, Path]]:
        """Return the files of no committed ingest: of one in progress, or a killed one.

        Of ingests that may be under way, only those that are superseded or `dead`.
        """
        there, marks = self.home.below(self.path), self._marks()
        alive = set(_latest(marks))
        over = set(marks) - alive
        return [
            (commit, file)
            for table in FOLDERS
            for commit, file in self._files(table, with_manifests=True, there=there)
            if commit not in alive
            and (
                commit in over
                or commit.ingest_id in dead
                or not self.home.may_be_under_way(commit.ingest_id)
            )
        ]

    def folder_of(self, table: str, commit: Commit) -> Path:
        """Return the folder of a table's files of one ingest."""
        return self._path(self._folder_of(table, commit))

    def _folder_of(self, table: str, commit: Commit) -> str:
        return f"{self.path}/{table}/run_id={commit.run_id}/source_id={commit.source_id}"


def _first_of_runs(commits: Iterable[Commit]) -> set[Commit]:
    """Return the first source of each run, which says what the run is; `commits` are in order.

    What is derived says nothing of it, and is the first if a clock went back.
    """
    first: dict[str, Commit] = {}
    for commit in commits:
        if not commit.is_derived:
            first.setdefault(commit.run_id, commit)
    return set(first.values())


def _latest(commits: Iterable[Commit]) -> list[Commit]:
    """Return the latest ingest of each source, oldest first."""
    latest: dict[str, Commit] = {}
    for commit in commits:
        known = latest.get(commit.source_id)
        if known is None or known.ingest_id < commit.ingest_id:
            latest[commit.source_id] = commit
    return sorted(latest.values(), key=lambda commit: (commit.ingest_id, commit))


def _folders(there: Files, folder: str, key: str, value: str | None) -> list[str]:
    """Return the Hive folders ``key…`` in a folder: the one of `value`, or all."""
    if value is not None:
        return [f"{folder}/{key}{value}"]
    return [f"{folder}/{name}" for name in there.names_in(folder) if name.startswith(key)]


class Ingest:
    """One ingest in progress: a staging folder, then a commit or nothing."""

    def __init__(self, store: Store, replacing: Collection[str]) -> None:
        """Claim a staging folder; its lock tells others that we are alive."""
        import filelock

        self.store = store
        self._replacing = set(replacing)
        #: Ingests derived from sources that this ingest replaced; they were removed.
        self.undone: list[Commit] = []
        self._agreeing: set[Commit] = set()  # with the labels and metrics of this ingest
        self._is_left = False  # leftovers of a replaced ingest: the next one clears them
        self.ingest_id = new_ingest_id()
        self.folder = store.home.staging / self.ingest_id
        self.folder.mkdir(parents=True)
        self._lock = filelock.FileLock(self.folder / _LOCK)
        try:
            self._lock.acquire(timeout=0)
        except OSError:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def __enter__(self) -> Ingest:
        """Return the ingest itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing behind, committed or not."""
        self._lock.release()
        if not self._is_left:
            shutil.rmtree(self.folder, ignore_errors=True)

    def source_folder(self, number: int) -> Path:
        """Return the folder for the rows of the `number`-th source of this ingest."""
        return self.folder / str(number)

    @property
    def scratch(self) -> Path:
        """A folder for temporary files of parsers, removed with the ingest or by the next one."""
        folder = self.folder / "scratch"
        folder.mkdir(exist_ok=True)
        return folder

    def commit(
        self,
        number: int,
        commit: Commit,
        rows: Mapping[str, pa.RecordBatch],
        *,
        said: Said,
        replaces: bool,
    ) -> Commit | None:
        """Make one source visible; return the existing commit of the source, if it is kept.

        `rows` are the last ones of the source, including those of ``source_file``. Sources of this
        ingest itself are not replaced. Raises UsageError if the run has other labels or metrics
        than `said`.
        """
        folder = self.source_folder(number)
        try:
            writer = TableWriter(folder, "0")
            for table, batch in rows.items():
                if batch.num_rows:
                    writer.write(table, batch)
            writer.close()
            entries = manifest.entries_of(folder, commit.ingest_id)
            (folder / _MANIFEST_DRAFT).write_bytes(manifest.encoded(entries))
            with self.store.locked():
                known = self.store.commit_of(commit.source_id)
                if known and (not replaces or known.ingest_id == self.ingest_id):
                    return known
                self._replacing.add(commit.source_id)
                self._refuse_others(commit.run_id, said)
                self._move(folder, commit, said)
                self._agreeing.add(commit)
                if self.store.home.is_far and (later := self._yields_to(commit, known)):
                    return later
                if known:
                    # The new one is visible: leftovers of the old are cleared later.
                    self._is_left = True
                    derived = self.store.derived_from([known])
                    with contextlib.suppress(OSError, StoreError):
                        self.store.discard([*derived, known])
                        self._is_left = False
                    self.undone += derived
        except (OSError, pa.ArrowException) as error:
            _refuse_writing(self.store.path, error)
        return None

    def _refuse_others(self, run_id: str, said: Said) -> None:
        """Raise UsageError if the run has other labels or metrics; each source is asked once."""
        found = self.store.refuse_others(run_id, said, self._replacing, self._agreeing)
        self._agreeing |= found

    def _yields_to(self, commit: Commit, known: Commit | None) -> Commit | None:
        """Return the ingest that brought the same in meanwhile, if that counts; keep one."""
        marks = self.store.marks_of(commit.source_id)
        others = [other for other in marks if other not in (commit, known)]
        later = next((other for other in others if other.ingest_id > commit.ingest_id), None)
        self.store.discard([commit] if later else others)
        return later

    def _move(self, folder: Path, commit: Commit, said: Said) -> None:
        """Move every file into place, the commit mark last; all or none."""
        home, store = self.store.home, self.store
        try:
            tables = [name for name in names_in(folder) if name != _MANIFEST_DRAFT]
            for table in sorted(tables, key=lambda name: name == SOURCE_FILE.name):
                if table == SOURCE_FILE.name:
                    home.take([(folder / _MANIFEST_DRAFT, store.manifest_of(commit))])
                target = store.folder_of(table, commit)
                names = names_in(folder / table)
                home.take(
                    (folder / table / name, target / f"{commit.ingest_id}-{name}") for name in names
                )
            if home.is_far:  # no lock keeps others from a commit of the same run meanwhile
                self._refuse_others(commit.run_id, said)
        except BaseException:
            with contextlib.suppress(OSError, StoreError):
                store.discard([commit])
            raise


def run_rows(run_name: str, said: Said, now_ns: int) -> dict[str, pa.RecordBatch]:
    """Return the rows that assign a source to a run."""
    labels = [label_row(*pair) for pair in said.labels.items()]
    metrics = [{"metric_name": name, "value": value} for name, value in said.metrics.items()]
    return {
        RUN.name: batch_of_rows(RUN, [{"run_name": run_name, "created_at_ns": now_ns}]),
        RUN_LABEL.name: batch_of_rows(RUN_LABEL, labels),
        RUN_METRIC.name: batch_of_rows(RUN_METRIC, metrics),
    }


def _plain(value: object) -> str:
    """Return a value as typed by the user: 8, not 8.0."""
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def label_row(name: str, value: str) -> dict[str, Any]:
    """Return a row of ``run_label`` with the type of the value, from its text."""
    kind, number = "text", None
    if value.lower() in ("true", "false"):
        kind, number = "boolean", float(value.lower() == "true")
    elif _NUMBER.fullmatch(value) and abs(float(value)) < float("inf"):
        number = float(value)
        kind = "integer" if value.lstrip("+-").isdigit() else "real"
    return {"label_name": name, "value": value, "value_number": number, "value_kind": kind}


def open_store(path: str | os.PathLike[str]) -> Store:
    """Return the store at `path`, a URL or a folder.

    Raises StoreError if there is none, or its schema is newer.
    """
    return _open(_home_of(path))


def _home_of(path: str | os.PathLike[str]) -> Home:
    """Return where the files of a store are; raises UsageError for an unknown URL."""
    if not is_url(path):
        return Disk(Path(path))
    from tracekit.bucket import Bucket  # few need it

    return Bucket(os.fspath(path))


def _open(home: Home) -> Store:
    folder = home.path
    mark = folder / STORE_MARK
    try:
        said = json.loads(home.read(mark).decode())
        version, hash_kind = said["schema_version"], said.get("content_hash", SHA256)
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(_no_store(home)) from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(
            f"{mark}: cannot be read as a store description: {error}; it must contain "
            f'{{"schema_version": {SCHEMA_VERSION}}}'
        ) from error
    if type(version) is not int or version > SCHEMA_VERSION:
        raise StoreError(
            f"{folder}: the store has schema version {version}; this tracekit supports up to "
            f"{SCHEMA_VERSION}; use the tracekit that wrote it, or ingest into another --store"
        )
    if hash_kind not in (BLAKE3, SHA256):
        raise StoreError(
            f"{folder}: the store identifies files by the hash {hash_kind!r}; this tracekit "
            f"supports {BLAKE3} and {SHA256}; use the tracekit that wrote it, or ingest into "
            "another --store"
        )
    return Store(home, hash_kind)


def _no_store(home: Home) -> str:
    folder = home.path
    is_there = home.names_in(folder) if home.is_far else folder.exists()
    what = "is not a tracekit store" if is_there else "does not exist"
    return (
        f"{folder}: {what}; create one with `tracekit ingest FILE --store "
        f"{shlex.quote(str(folder))}`, or name another with --store or TRACEKIT_STORE"
    )


def create_store(path: str | os.PathLike[str]) -> Store:
    """Return the store at `path`, a URL or a folder; create it if it does not exist."""
    home = _home_of(path)
    folder = home.path
    mark = folder / STORE_MARK
    try:
        if not home.is_far:
            folder.mkdir(parents=True, exist_ok=True)
        # Another ingest may be creating the store: its mark comes before everything else.
        names = home.names_in(folder)
        foreign = [name for name in names if not name.startswith(STORE_MARK)]
        if STORE_MARK not in names:
            if foreign:
                raise UsageError(
                    f"{folder}: is a folder with other content, not a tracekit store; "
                    "name a new or empty folder with --store"
                )
            said = {"schema_version": SCHEMA_VERSION, "content_hash": BLAKE3}
            home.write(mark, f"{json.dumps(said)}\n".encode())
    except FileExistsError:
        raise StoreError(f"{folder}: is a file, not a folder; use another --store") from None
    except OSError as error:
        _refuse_writing(folder, error)
    return _open(home)


def _refuse_writing(path: Path, error: BaseException) -> NoReturn:
    raise StoreError(
        f"{path}: cannot be written: {error}; nothing was changed. "
        "Free some space, grant write access, or use another --store"
    ) from error
