"""What attribution needs of a source's rows, as its parser writes them or from its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from tracekit.attribution import allocations, captures, flows, slices, steps, work
from tracekit.attribution.columns import Ints, batches, give_back
from tracekit.attribution.known import SourceCodes
from tracekit.attribution.packing import Packed, merged, packed
from tracekit.compiled.arrays import in_files

Columns = dict[str, Packed]
#: Of what is gathered in memory; more goes into files, from then on as soon as it is a quarter.
_MOST_BYTES = 24 << 20
#: A column of that is in memory if it is smaller.
_LEAST_KEPT_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class _Gatherer:
    """The columns of a table from which `gather` makes others; of those, `codes` are texts."""

    columns: Sequence[str]
    gather: Callable[[pa.Table, SourceCodes], dict[str, Ints]]
    codes: Sequence[str] = ()


_GATHERERS: Mapping[str, Mapping[str, _Gatherer]] = {
    "kernel": {"work": _Gatherer(work.OF_KERNELS, work.gather_kernels, work.CODES)},
    "transfer": {"work": _Gatherer(work.OF_TRANSFERS, work.gather_transfers, work.CODES)},
    "slice": {
        "slices": _Gatherer(slices.COLUMNS, slices.gather),
        "captures": _Gatherer(captures.COLUMNS, captures.gather),
    },
    "flow": {"flows": _Gatherer(flows.COLUMNS, flows.gather)},
    "step": {"steps": _Gatherer(steps.COLUMNS, steps.gather)},
    "memory_event": {
        "allocations": _Gatherer(allocations.COLUMNS, allocations.gather, allocations.CODES)
    },
}
_WANTED = {
    table: tuple(dict.fromkeys(name for each in of_it.values() for name in each.columns))
    for table, of_it in _GATHERERS.items()
}


@dataclass(slots=True)
class Gathered:
    """The columns gathered so far, in parts: by table and by what they are for.

    If they are too many for memory, the first of each are in files in ``folder``.
    """

    folder: Path
    known: SourceCodes = field(default_factory=SourceCodes)
    parts: dict[tuple[str, str], list[Columns]] = field(default_factory=dict)
    is_large: bool = False
    _in_files: dict[tuple[str, str], int] = field(default_factory=dict)
    _bytes: int = 0  # of the others

    def add(self, table: str, rows: pa.Table) -> None:
        """Gather what is wanted of some rows of a table."""
        wanted = _WANTED.get(table)
        if wanted is None:
            return
        rows = rows.select(wanted)
        for purpose, gatherer in _GATHERERS[table].items():
            found = gatherer.gather(rows, self.known)
            if len(next(iter(found.values()))):
                part = {name: packed(column) for name, column in found.items()}
                self.parts.setdefault((table, purpose), []).append(part)
                self._bytes += sum(column.codes.nbytes for column in part.values())
        if self._bytes > (_MOST_BYTES // 4 if self.is_large else _MOST_BYTES):
            self._put_away()

    def _put_away(self) -> None:
        """Put what is in memory into files."""
        self.is_large, self._bytes = True, 0
        with in_files(self.folder, _LEAST_KEPT_BYTES):
            for key, parts in self.parts.items():
                done = self._in_files.get(key, 0)
                if waiting := parts[done:]:
                    names = list(waiting[0])
                    parts[done:] = [{n: merged([p.pop(n) for p in waiting]) for n in names}]
                self._in_files[key] = len(parts)
        give_back()

    def room(self) -> AbstractContextManager[None]:
        """Room for what is made of the columns: in files, if they are too many for memory."""
        return in_files(self.folder) if self.is_large else nullcontext()

    def taken(self, purpose: str) -> list[Columns]:
        """The parts for a purpose, in the order of tables; they are given away."""
        return [
            part
            for table, of_it in _GATHERERS.items()
            if purpose in of_it
            for part in self.parts.pop((table, purpose), ())
        ]


def joined(found: Sequence[Gathered]) -> Gathered:
    """What was gathered of the parts of a source, in their order; it is given away."""
    whole = Gathered(found[0].folder, is_large=any(one.is_large for one in found))
    with whole.room():
        _join(whole, found)
    return whole


def _join(whole: Gathered, found: Sequence[Gathered]) -> None:
    texts = [whole.known.texts.absorb(one.known.texts) for one in found]
    forms = [
        whole.known.forms.absorb(one.known.forms, by_code)
        for one, by_code in zip(found, texts, strict=True)
    ]
    for table, of_it in _GATHERERS.items():
        for purpose, gatherer in of_it.items():
            for one, text, form in zip(found, texts, forms, strict=True):
                for part in one.parts.pop((table, purpose), ()):
                    part.update({name: packed(text[part[name][:]]) for name in gatherer.codes})
                    if "form" in part:
                        part["form"] = packed(form[part["form"][:]])
                    if "track" in part:
                        tracks = whole.known.tracks.absorb(part["track"][:], one.known.tracks)
                        part["track"] = packed(tracks)
                    whole.parts.setdefault((table, purpose), []).append(part)


def gathered_from(folder: Path) -> Gathered:
    """What is gathered of the rows in a source's folder of Parquet files per table."""
    found = Gathered(folder)
    for table, wanted in _WANTED.items():
        for rows in batches(folder, table, wanted):
            found.add(table, pa.Table.from_batches([rows]))
    return found
