"""The packs of a store: what is committed in them, and whether it is intact."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from tracekit import manifest
from tracekit.home import Files, Home
from tracekit.packs import (
    PACKS,
    DamagedPack,
    Pack,
    PackedSource,
    mark_of,
    pack_of,
    packs_in,
    removal_of,
)
from tracekit.schema import Table
from tracekit.snapshot import Commit, Damage, Litter, PackedRows


class Packs:
    """The packs in the folder of a store, as they are when asked; see `tracekit.packs`."""

    def __init__(self, home: Home) -> None:
        """The packs of the store that is there."""
        self._home = home
        self.folder = home.path / PACKS

    def present(self) -> list[Pack | DamagedPack]:
        """Return all packs but those that another one replaces."""
        return packs_in(self._home, self.folder)

    def commits(self) -> list[Commit]:
        """Return the ingests whose rows are in packs."""
        return commits_in(self.present())

    def commits_beside(self, pack_ids: Collection[str]) -> list[Commit]:
        """Return the ingests whose rows are in other packs than these."""
        return commits_in([pack for pack in self.present() if pack.pack_id not in pack_ids])

    def commits_of(self, pack_ids: Collection[str]) -> list[Commit]:
        """Return the ingests whose rows are in these packs, replaced or not."""
        return commits_in([pack_of(self._home, self.folder, pack_id) for pack_id in pack_ids])

    def damages(
        self,
        found: Sequence[Pack | DamagedPack],
        there: Files,
        *,
        is_deep: bool = False,
        reads: bool = False,
    ) -> Iterator[Damage]:
        """Yield damage to packs, once for each source that it concerns.

        Existence and sizes of files are checked, as `there` has them, and, if `is_deep`, hashes; if
        `reads`, whether they are Parquet with as many rows.
        """
        deep_in = self._home if is_deep else None
        for pack in found:
            if isinstance(pack, DamagedPack):
                owner = Commit(PACKS, pack.pack_id, pack.pack_id)
                yield Damage(mark_of(self.folder, pack.pack_id), pack.what, owner)
                continue
            for entry in pack.content.files:
                file = self.folder / entry.table / entry.file_name
                wrong = list(manifest.differences(there, file, entry, deep_in=deep_in))
                if not wrong and reads:
                    what = manifest.unreadable(self._home, file, entry.row_count)
                    wrong = [what] if what else []
                for what in wrong:
                    for source in pack.sources_with(entry.table):
                        if source.source_id not in pack.removed:
                            yield Damage(file, what, _commit(source))

    def said(
        self, table: Table, columns: Sequence[str], run_id: str, alive: Collection[Commit]
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of a table that a run's sources `alive` have in packs."""
        import pyarrow.parquet as pq

        for pack in self.present():
            if not isinstance(pack, Pack):
                continue
            wanted = {c.source_id for c in commits_in([pack]) if c.run_id == run_id and c in alive}
            for entry in pack.files_of(table.name) if wanted else ():
                with self._home.opened(self.folder / table.name / entry.file_name) as file:
                    rows = pq.read_table(
                        file,
                        columns=["source_id", *columns],
                        filters=[("run_id", "=", run_id)],
                    )
                yield from (row for row in rows.to_pylist() if row["source_id"] in wanted)

    def remove(self, commit: Commit) -> None:
        """Have an ingest's rows count no longer, if a pack has them; only under the lock."""
        for pack in self.present():
            if isinstance(pack, Pack) and commit in commits_in([pack]):
                self._home.write(removal_of(self.folder, pack.pack_id, commit.source_id), b"")

    def due(self, now_ns: int) -> list[Pack]:
        """Return the intact packs whose sources may lose the files that they had before."""
        found = [p for p in self.present() if isinstance(p, Pack) and p.content.due_ns <= now_ns]
        if not found:
            return []
        there = self._home.below(self.folder)
        return [pack for pack in found if next(self.damages([pack], there), None) is None]

    def clear_replaced_by(self, due: Sequence[Pack]) -> int:
        """Delete what packs replace, marks first; only under the lock. Return how many files."""
        there, count = self._home.below(self.folder), 0
        for pack_id in {pack_id for pack in due for pack_id in pack.content.replaced}:
            self._home.delete([mark_of(self.folder, pack_id)])
            names = {
                name: [file for file in there.names_in(self.folder / name) if _is_of(file, pack_id)]
                for name in there.names_in(self.folder)
            }
            files = [self.folder / name / file for name, found in names.items() for file in found]
            self._home.delete(files)
            count += len(files)
            removed = self.folder / f"{pack_id}.removed"
            self._home.delete([removed / name for name in there.names_in(removed)])
        return count

    def litter(self) -> Iterator[Litter]:
        """Yield files of no pack: of a compaction that was killed."""
        there = self._home.below(self.folder)
        names = there.names_in(self.folder)
        known = {name.removesuffix(".json") for name in names if name.endswith(".json")}
        for folder in names:
            for name in there.names_in(self.folder / folder):
                pack_id, is_removal, _ = folder.partition(".removed")
                pack_id = pack_id if is_removal else name.partition("-")[0]
                if pack_id not in known and not self._home.may_be_under_way(pack_id):
                    yield Litter(self.folder / folder / name, "belongs to no pack")

    def tidy(self) -> None:
        """Delete files of no pack; only under the lock."""
        self._home.delete([litter.path for litter in self.litter()])

    def rows(
        self,
        found: Sequence[Pack | DamagedPack],
        intact: Collection[Commit],
        first: Collection[Commit],
    ) -> Iterator[PackedRows]:
        """Yield the rows of packs that count: of `intact` sources; `first` say what runs are.

        A source counts in one pack.
        """
        first_of_run = frozenset(commit.source_id for commit in first)
        left = set(intact)
        for pack in found:
            if isinstance(pack, Pack):
                mine = left.intersection(commits_in([pack]))
                left -= mine
                alive = frozenset(commit.source_id for commit in mine)
                yield PackedRows(self.folder, pack, alive, first_of_run)


def commits_in(packs: Sequence[Pack | DamagedPack]) -> list[Commit]:
    """Return the ingests whose rows are in some packs."""
    return [
        _commit(source)
        for pack in packs
        if isinstance(pack, Pack)
        for source in pack.content.sources
        if source.source_id not in pack.removed
    ]


def _commit(source: PackedSource) -> Commit:
    return Commit(source.run_id, source.source_id, source.ingest_id)


def _is_of(file_name: str, pack_id: str) -> bool:
    return file_name.startswith(f"{pack_id}-") and file_name.endswith(".parquet")
