"""What is committed in a store at one moment, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tracekit.packs import Pack
from tracekit.schema import RUN
from tracekit.wide import forms_of

#: Run, source and ingest in the path of a table's file.
FILE_PATTERN = r"run_id=([^/\\]+)[/\\]source_id=([^/\\]+)[/\\]([0-9a-f]+)-[^/\\]+\.parquet$"
_FILE = re.compile(FILE_PATTERN)
#: Prefix of the ID of a source that is derived from others of its run, such as a join: it is
#: removed with any of them, because its rows may no longer match.
DERIVED = "join-"


@dataclass(frozen=True, slots=True, order=True)
class Commit:
    """One committed ingest of one source."""

    run_id: str
    source_id: str
    ingest_id: str

    @property
    def key(self) -> tuple[str, str, str]:
        """Its run, source and ingest."""
        return self.run_id, self.source_id, self.ingest_id

    @property
    def is_derived(self) -> bool:
        """Whether it is derived from other sources of its run."""
        return self.source_id.startswith(DERIVED)


@dataclass(frozen=True, slots=True)
class Damage:
    """What is wrong with a file of a committed ingest."""

    path: Path
    what: str
    commit: Commit


@dataclass(frozen=True, slots=True)
class UnknownIngest(Damage):
    """An ingest without a manifest: from an older tracekit, or the remains of another."""


@dataclass(frozen=True, slots=True)
class Litter:
    """A file of no committed ingest, or a leftover of a killed one in staging."""

    path: Path
    what: str


@dataclass(frozen=True, slots=True)
class PackedRows:
    """The rows of a pack in ``folder`` that count: those of the sources ``alive``.

    ``first_of_run`` are the sources that say what their run is. ``runs`` are the only ones in
    sight, None for all.
    """

    folder: Path
    pack: Pack
    alive: frozenset[str]
    first_of_run: frozenset[str]
    runs: frozenset[str] | None = None

    def files_of(self, table: str) -> list[Path]:
        """Return the files with rows of a table."""
        return [self.folder / table / entry.file_name for entry in self.pack.files_of(table)]

    def owners_in(self, table: str) -> Iterator[tuple[str, str]]:
        """Yield run and source of the rows of a table that count."""
        counts = self._counting(table)
        for source in self.pack.sources_with(table):
            if source.source_id in counts and self._is_in_sight(source.run_id):
                yield source.run_id, source.source_id

    def left_out_of(self, table: str) -> list[str]:
        """Return the sources with rows of a table that do not count."""
        counts = self._counting(table)
        return [
            source.source_id
            for source in self.pack.sources_with(table)
            if source.source_id not in counts and self._is_in_sight(source.run_id)
        ]

    def of_runs(self, runs: frozenset[str]) -> PackedRows:
        """Return the same rows, of these runs only."""
        return replace(self, runs=runs)

    def without(self, sources: Collection[str]) -> PackedRows:
        """Return the same rows, without those of some sources."""
        return replace(self, alive=self.alive.difference(sources))

    @property
    def has_any(self) -> bool:
        """Return whether there is a row in sight."""
        sources = self.pack.content.sources
        return any(s.source_id in self.alive and self._is_in_sight(s.run_id) for s in sources)

    @property
    def size_bytes(self) -> int:
        """About how much space the rows take: of the pack, the share of the sources in sight."""
        total = sum(entry.size_bytes for entry in self.pack.content.files)
        every = self.pack.content.sources
        seen = sum(s.source_id in self.alive and self._is_in_sight(s.run_id) for s in every)
        return total * seen // max(len(every), 1)

    def _counting(self, table: str) -> frozenset[str]:
        return self.alive & self.first_of_run if table == RUN.name else self.alive

    def _is_in_sight(self, run_id: str) -> bool:
        return self.runs is None or run_id in self.runs


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was committed at one moment: the ingests, oldest first, and where their rows are.

    ``files`` has those of sources by folder, ``packed`` the packs. Sources with a file that is
    missing or has another size are in `damages`, and none of their rows is in either.
    """

    commits: tuple[Commit, ...]
    files: Mapping[str, Sequence[Path]]
    damages: tuple[Damage, ...] = ()
    packed: tuple[PackedRows, ...] = ()

    def owners_with(self, table: str) -> Iterator[tuple[str, str]]:
        """Yield run and source of the rows of a table, in any form; some more than once."""
        for folder in (table, *(form.name for form in forms_of(table))):
            for file in self.files[folder]:
                run, source = file.parts[-3:-1]
                yield run.partition("=")[2], source.partition("=")[2]
        for rows in self.packed:
            yield from rows.owners_in(table)

    def has(self, table: str) -> bool:
        """Return whether there are rows of a table."""
        return next(self.owners_with(table), None) is not None

    def is_all_of(self, other: Snapshot) -> bool:
        """Return whether this has all rows of another, of which it is a part."""
        return self.files == other.files and self.packed == other.packed

    def of_runs(self, runs: Collection[str]) -> Snapshot:
        """Return the same moment, with the rows of these runs only."""
        marks = {f"run_id={run}" for run in runs}
        files = {
            table: [file for file in files if not marks.isdisjoint(file.parts)]
            for table, files in self.files.items()
        }
        wanted = frozenset(runs)
        packed = (rows.of_runs(wanted) for rows in self.packed)
        seen = tuple(rows for rows in packed if rows.has_any)
        return replace(self, files=files, packed=seen)

    def without(self, damages: Sequence[Damage]) -> Snapshot:
        """Return the same moment, also without the sources that have these damages."""
        broken = {damage.commit for damage in damages}
        files = {
            table: [file for file in files if commit_of(file) not in broken]
            for table, files in self.files.items()
        }
        sources = {commit.source_id for commit in broken}
        packed = tuple(rows.without(sources) for rows in self.packed)
        return replace(self, files=files, packed=packed, damages=(*self.damages, *damages))


def commit_of(file: Path) -> Commit | None:
    """Return the ingest of a table's file, from its path."""
    match = _FILE.search(str(file))
    return Commit(*match.groups()) if match else None
