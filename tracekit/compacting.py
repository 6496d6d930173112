"""Compaction: the rows of many small sources become a pack; see `tracekit.packs`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from tracekit import manifest
from tracekit.dictionaries import CODED, repeats
from tracekit.errors import StoreError
from tracekit.packs import (
    OWNERS,
    Pack,
    PackContent,
    PackedSource,
    encoded,
    mark_of,
    removal_of,
)
from tracekit.schema import TABLES, TEXT, Table
from tracekit.snapshot import Commit, PackedRows, Snapshot
from tracekit.store import Ingest, Store, TableWriter

#: A source with more is left as it is: its files are large enough.
_MOST_SOURCE_BYTES = 32 << 20
#: What a file of a pack has, about.
_FILE_BYTES = 128 << 20
#: A pack with more is left as it is, unless many of its sources were removed.
_FULL_PACK_BYTES = 512 << 20
_MOST_REMOVED = 0.25
_ANY_TIME_NS = 2**63 - 1
_BATCH_ROWS, _MOST_WAITING = 1 << 16, 256
#: What is known of open files takes memory; so do rows, of which pyarrow reads a GiB ahead.
_FILES_AT_ONCE, _ROWS_AT_ONCE = 500, 1 << 18
#: What pyarrow calls the path of a row's file.
_FILE_NAME = "__filename"


@dataclass(frozen=True, slots=True)
class Compaction:
    """What a compaction did: how many files became how many, of how many sources.

    The ``old_files`` may go from ``due_ns`` on; ``cleared_files`` of earlier ones are gone.
    """

    source_count: int
    old_files: int
    new_files: int
    new_bytes: int
    due_ns: int
    cleared_files: int


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What becomes a pack: sources with files of their own, and earlier packs."""

    commits: Sequence[Commit]
    packs: Sequence[PackedRows]

    def __bool__(self) -> bool:
        return len(self.commits) + len(self.packs) > 1


def compact(store: Store, grace_s: float) -> Compaction:
    """Put the rows of small sources into files of about 128 MB; raises StoreError.

    Their own files stay for `grace_s`, for readers that opened the store before: the first change
    after that deletes them. Without grace, what earlier compactions left goes, too.
    """
    due_ns = time.time_ns() + round(grace_s * 1e9)
    now_ns = time.time_ns() if grace_s else _ANY_TIME_NS
    with store.begin() as under_way:
        chosen = _chosen(store, store.snapshot())
        if not chosen:
            return Compaction(0, 0, 0, 0, due_ns, store.clear_replaced(now_ns))
        folder = under_way.source_folder(0)
        try:
            content, old_files = _written(store, chosen, folder, under_way.ingest_id, due_ns)
        except (OSError, pa.ArrowException) as error:
            raise StoreError(
                f"{store.path}: cannot be compacted: {error}; nothing was changed. Run `tracekit "
                "check --deep`, and see whether the disk has room"
            ) from error
        _commit(store, under_way, content, folder)
    sizes = [entry.size_bytes for entry in content.files]
    return Compaction(
        *(len(content.sources), old_files, len(sizes), sum(sizes)),
        *(due_ns, store.clear_replaced(now_ns)),
    )


def _chosen(store: Store, snapshot: Snapshot) -> _Chosen:
    """The small sources, of any age, and packs that are not full."""
    broken = {damage.commit for damage in snapshot.damages}
    packed = {source for rows in snapshot.packed for source in rows.alive}
    commits = [
        commit
        for commit in sorted(snapshot.commits)  # the rows of a run are together
        if commit not in broken and commit.source_id not in packed and _is_small(store, commit)
    ]
    return _Chosen(commits, [rows for rows in snapshot.packed if _is_worth(rows)])


def _is_small(store: Store, commit: Commit) -> bool:
    entries = store.entries_of(commit)
    if entries is None:  # of an older tracekit: nothing says that it is complete
        return False
    is_plain = all(entry.table in TABLES for entry in entries)
    return is_plain and sum(entry.size_bytes for entry in entries) <= _MOST_SOURCE_BYTES


def _is_worth(rows: PackedRows) -> bool:
    """Whether a pack is to be written anew: not full, or with many rows that do not count."""
    every = rows.pack.content.sources
    if len(every) - len(rows.alive) > _MOST_REMOVED * len(every):
        return True
    return sum(entry.size_bytes for entry in rows.pack.content.files) < _FULL_PACK_BYTES


def _written(
    store: Store, chosen: _Chosen, folder: Path, pack_id: str, due_ns: int
) -> tuple[PackContent, int]:
    """Write all rows into `folder`; returns what the pack is, and how many files it replaces."""
    names = list(TABLES)
    files = _files_by_table(store, chosen.commits)
    writer = TableWriter(folder, "0", most_file_bytes=_FILE_BYTES)
    for name, table in TABLES.items():
        for rows in chosen.packs:
            for batch in _of_pack(store, rows, table):
                writer.write(name, batch)
        for batch in _of_sources(store, table, files.get(name, [])):
            writer.write(name, batch)
    writer.close()
    bits = dict.fromkeys(chosen.commits, 0)
    for place, name in enumerate(names):
        for file in files.get(name, ()):
            bits[file.commit] |= 1 << place
    sources = [PackedSource(*c.key, bits[c]) for c in chosen.commits]
    old = [_moved(source, rows.pack, names) for rows in chosen.packs for source in _alive(rows)]
    # Those that they replaced may still be there, too: without them they would be seen again.
    replaced = sorted(
        {i for rows in chosen.packs for i in (rows.pack.pack_id, *rows.pack.content.replaced)}
    )
    entries = manifest.entries_of(folder, pack_id)
    content = PackContent(names, [*old, *sources], entries, replaced, due_ns)
    old_files = sum(map(len, files.values()))
    return content, old_files + sum(len(rows.pack.content.files) for rows in chosen.packs)


@dataclass(frozen=True, slots=True)
class _File:
    """A file of a source."""

    commit: Commit
    path: str
    row_count: int


def _files_by_table(store: Store, commits: Sequence[Commit]) -> dict[str, list[_File]]:
    """The files of sources by table, in order."""
    found: dict[str, list[_File]] = {}
    root = str(store.path) if store.home.is_far else store.path.resolve().as_posix()
    for commit in commits:
        for entry in store.entries_of(commit) or ():
            folder = store.folder_of(entry.table, commit).relative_to(store.path).as_posix()
            # as pyarrow names files
            file = _File(commit, f"{root}/{folder}/{entry.file_name}", entry.row_count)
            found.setdefault(entry.table, []).append(file)
    return found


def _alive(rows: PackedRows) -> list[PackedSource]:
    return [source for source in rows.pack.content.sources if source.source_id in rows.alive]


def _moved(source: PackedSource, pack: Pack, names: Sequence[str]) -> PackedSource:
    """A source of an earlier pack, with its tables at their new places."""
    tables = [t for i, t in enumerate(pack.content.tables) if source.table_bits >> i & 1]
    bits = sum(1 << names.index(table) for table in tables)
    return PackedSource(source.run_id, source.source_id, source.ingest_id, bits)


def _of_sources(store: Store, table: Table, files: Sequence[_File]) -> Iterator[pa.RecordBatch]:
    """The rows of a table in files of sources, with their owners; raises StoreError."""
    count = 0
    system, schema = store.home.file_system(), _coded(table.schema)
    for some in _at_once(files):
        owners = {file.path: file.commit for file in some}
        rows = ds.dataset([*owners], format=_format(schema), schema=schema, filesystem=system)
        names = [*table.schema.names, _FILE_NAME]
        found = rows.to_batches(columns=names, batch_size=_BATCH_ROWS, batch_readahead=4)
        for batch in _larger(found):
            count += batch.num_rows
            yield _owned(table, batch, _owners(batch, owners))
    wanted = sum(file.row_count for file in files)
    if count != wanted:
        raise StoreError(
            f"{store.path}: the table {table.name!r} has {count:,} of {wanted:,} rows; run "
            "`tracekit check`"
        )


def _at_once(files: Iterable[_File]) -> Iterator[list[_File]]:
    """The same files in groups, in order."""
    group: list[_File] = []
    row_count = 0
    for file in files:
        if group and (len(group) == _FILES_AT_ONCE or row_count + file.row_count > _ROWS_AT_ONCE):
            yield group
            group, row_count = [], 0
        group.append(file)
        row_count += file.row_count
    if group:
        yield group


def _coded(schema: pa.Schema) -> pa.Schema:
    """A schema with dictionaries of the texts that repeat: as such, they take little memory."""
    return pa.schema([f.with_type(CODED) if repeats(f) else f for f in schema])


def _format(schema: pa.Schema) -> ds.ParquetFileFormat:
    """How files of sources are read: whole, as they are small, and looking ahead takes longer."""
    return ds.ParquetFileFormat(
        read_options=ds.ParquetReadOptions(
            dictionary_columns=[f.name for f in schema if f.type == CODED]
        ),
        default_fragment_scan_options=ds.ParquetFragmentScanOptions(pre_buffer=False),
    )


def _larger(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in fewer batches: a source may have one row, and a batch takes its memory."""
    waiting: list[pa.RecordBatch] = []
    row_count = 0
    for batch in batches:
        waiting.append(batch)
        row_count += batch.num_rows
        if len(waiting) >= _MOST_WAITING or row_count >= _BATCH_ROWS:
            yield pa.concat_batches(waiting)
            waiting, row_count = [], 0
    if waiting:
        yield pa.concat_batches(waiting)


def _owners(batch: pa.RecordBatch, owners: Mapping[str, Commit]) -> list[pa.Array]:
    """Run and source of each row, from the name of its file."""
    coded = batch[_FILE_NAME].dictionary_encode()
    known = [owners[path] for path in coded.dictionary.to_pylist()]
    return [
        pa.array([commit.run_id for commit in known], TEXT).take(coded.indices),
        pa.array([commit.source_id for commit in known], TEXT).take(coded.indices),
    ]


def _of_pack(store: Store, rows: PackedRows, table: Table) -> Iterator[pa.RecordBatch]:
    """The rows of a table that count in an earlier pack."""
    alive = pa.array(sorted(rows.alive), TEXT)
    for path in rows.files_of(table.name):
        with store.home.opened(path) as opened, pq.ParquetFile(opened) as file:
            for batch in file.iter_batches(_BATCH_ROWS, use_threads=False):
                kept = batch.filter(pc.is_in(batch["source_id"], alive))
                yield _owned(table, kept, [kept[name] for name in OWNERS])


def _owned(table: Table, batch: pa.RecordBatch, owners: Sequence[pa.Array]) -> pa.RecordBatch:
    """Rows with their owners and every column of a table: NULL for those that they lack."""
    names, columns = [*OWNERS], [*owners]
    for field in table.schema:
        is_there = field.name in batch.schema.names
        names.append(field.name)
        columns.append(batch[field.name] if is_there else pa.nulls(batch.num_rows, field.type))
    return pa.RecordBatch.from_arrays(columns, names=names)


def _commit(store: Store, under_way: Ingest, content: PackContent, folder: Path) -> None:
    """Make a pack visible, without sources that were removed or packed by others meanwhile."""
    packs, pack_id, home = store.packs.folder, under_way.ingest_id, store.home
    with store.changing():
        alive = set(store.commits()) - set(store.packs.commits_beside(content.replaced))
        _leave_out(store, pack_id, content, alive)
        home.take(
            (file, packs / file.parent.name / f"{pack_id}-{file.name}")
            for file in sorted(folder.glob("*/*.parquet"))
        )
        draft = folder / "pack.json"
        draft.write_bytes(encoded(content))
        home.take([(draft, mark_of(packs, pack_id))])
        if home.is_far:  # no lock kept others from removing sources meanwhile
            alive = {*store.marked(), *store.packs.commits_of(content.replaced)}
            _leave_out(store, pack_id, content, alive)


def _leave_out(store: Store, pack_id: str, content: PackContent, alive: set[Commit]) -> None:
    """Have a pack be without all sources but those `alive`."""
    for source in content.sources:
        if Commit(source.run_id, source.source_id, source.ingest_id) not in alive:
            store.home.write(removal_of(store.packs.folder, pack_id, source.source_id), b"")
