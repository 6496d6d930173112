"""Launches of the raw page as columns: many lines at once, if all of them are as ncu writes them.

Rows that are not regular (see `quoted_rows`), such as damage or another program's output between
them, are for `csvpages`, which reads one line after the other: both give the same rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.parsers.nsight_compute.columns import Ints
from tracekit.parsers.nsight_compute.launches import PageLaunches, capability_of, number, sizes
from tracekit.parsers.nsight_compute.launches import args_json as args_of
from tracekit.schema import INT, TEXT

_INDEX = r"^[0-9]{1,18}$"


class _Rows(Protocol):
    """Rows of a page: where each begins, and their cells."""

    @property
    def starts(self) -> Ints: ...
    def column(self, place: int, /) -> pa.StringArray: ...


def launches_of(
    rows: _Rows, places: Sequence[int], arg_names: tuple[str, ...]
) -> PageLaunches | None:
    """Return the launches of rows, from the columns of `csvpages.LAUNCH_CELLS` and arguments."""
    name, index, process, context, stream, device, grid, block, capability, count, *args = (
        rows.column(place) for place in places
    )
    if not pc.all(pc.match_substring_regex(index, _INDEX)).as_py():
        return None
    columns = {
        "event_id": pa.array(rows.starts, INT),
        "name": _each(name, lambda text: text or None, TEXT),
        "launch_index": pc.cast(index, INT),
        "launch_count": _each(count, lambda text: number(text) or 1, INT),
        "process_id": _each(process, number, INT),
        "context_id": _each(context, number, INT),
        "stream_id": _each(stream, number, INT),
        "device_id": _each(device, number, INT),
        "args_json": _arguments(args, arg_names),
        **_axes("grid", grid),
        **_axes("block", block),
    }
    columns["launch_key"] = _keys(columns)
    return PageLaunches(columns, _each(capability, capability_of, TEXT))


def _each(
    cells: pa.StringArray, read: Callable[[str], str | int | None], kind: pa.DataType
) -> pa.Array:
    """Return what each cell says; equal ones are read once."""
    found = cells.dictionary_encode()
    return pa.array(map(read, found.dictionary.to_pylist()), kind).take(found.indices)


def _axes(what: str, cells: pa.StringArray) -> dict[str, pa.Array]:
    """Return the columns of a size in three dimensions."""
    found = cells.dictionary_encode()
    read = [sizes(text) for text in found.dictionary.to_pylist()]
    return {
        f"{what}_{axis}": pa.array([size and size[at] for size in read], INT).take(found.indices)
        for at, axis in enumerate("xyz")
    }


def _arguments(cells: Sequence[pa.StringArray], names: tuple[str, ...]) -> pa.Array:
    """Return the other columns as JSON."""
    joined = pc.binary_join_element_wise(*cells, "\0")
    return _each(joined, lambda text: args_of(names, tuple(text.split("\0"))), TEXT)


def _keys(columns: dict[str, pa.Array]) -> pa.Array:
    """Return `Launch.key` of each launch."""
    process, index = (pc.cast(columns[name], TEXT) for name in ("process_id", "launch_index"))
    texts = pc.binary_join_element_wise(process, index, columns["name"], "\0")
    hash_of = hashlib.blake2b
    found = b"".join(
        hash_of(text or b"", digest_size=8).digest() for text in texts.cast(pa.binary()).to_pylist()
    )
    numbers = np.frombuffer(found, ">u8") >> np.uint64(1)
    mask = texts.is_null().to_numpy(zero_copy_only=False)
    return pa.array(numbers.astype(np.int64), INT, mask=mask)
