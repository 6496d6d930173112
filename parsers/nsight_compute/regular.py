"""Rows of the raw page as columns: many lines at once, if all of them are as ncu writes them.

The row of a launch is regular if it has a quoted cell for each column, without a quote or a line
end within. Everything else, such as damage or another program's output between the rows, is
for `csvpages`, which reads one line after the other: both give the same rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.parsers.nsight_compute.columns import Ints
from tracekit.parsers.nsight_compute.launches import PageLaunches, capability_of, number, sizes
from tracekit.parsers.nsight_compute.launches import args_json as args_of
from tracekit.schema import INT, TEXT

_QUOTE, _COMMA, _LINE_FEED = b'",\n'
_MOST_BYTES = 1 << 31
_INDEX = r"^[0-9]{1,18}$"


@dataclass(frozen=True, slots=True)
class RegularRows:
    """Rows of `width` cells: the texts are the cells, and what is between two of them."""

    event_ids: Ints
    width: int
    _texts: pa.StringArray

    def column(self, place: int) -> pa.StringArray:
        """Return the cells of a column; of no column, empty ones."""
        if place >= self.width:
            return pa.repeat(pa.scalar("", TEXT), len(self.event_ids))
        return self.columns(place, place + 1)

    def columns(self, first: int, end: int) -> pa.StringArray:
        """Return the cells of some columns, one column after the other."""
        rows = np.arange(len(self.event_ids), dtype=np.int64) * self.width
        places = np.arange(first, end, dtype=np.int64)[:, np.newaxis] + rows
        return self._texts.take(pa.array(places.ravel() * 2))


def regular_rows(place: int, lines: Sequence[bytes], width: int) -> RegularRows | None:
    """Return the rows in `lines`, the first of which begins at `place`; None if one is not."""
    text = b"\n".join([*lines, b""]).replace(b"\r\n", b"\n")
    if not _is_plain(text):
        return None
    content = np.frombuffer(text, np.uint8)
    quotes = np.flatnonzero(content == _QUOTE)
    if len(quotes) != 2 * width * len(lines) or not _is_regular(content, quotes, width):
        return None
    offsets = quotes.astype(np.int32)
    offsets[0::2] += 1
    lengths = np.fromiter(map(len, lines), np.int64, len(lines)) + 1
    texts = pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(text))
    return RegularRows(place + np.cumsum(lengths) - lengths, width, texts)


def _is_plain(text: bytes) -> bool:
    """Return whether the text is UTF-8 without characters that need care."""
    if b"\0" in text or b"\r" in text or len(text) >= _MOST_BYTES:
        return False
    if text.isascii():
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_regular(content: npt.NDArray[np.uint8], quotes: Ints, width: int) -> bool:
    """Return whether the text is rows of `width` quoted cells, and nothing is between them."""
    cells = quotes.reshape(-1, 2)
    after = cells[:, 1] + 1
    ends = content[after].reshape(-1, width)
    return bool(
        quotes[0] == 0
        and after[-1] + 1 == len(content)
        and (cells[1:, 0] == after[:-1] + 1).all()
        and (ends[:, :-1] == _COMMA).all()
        and (ends[:, -1] == _LINE_FEED).all()
        and np.count_nonzero(content == _LINE_FEED) == len(ends)
    )


def launches_of(
    rows: RegularRows, places: Sequence[int], arg_names: tuple[str, ...]
) -> PageLaunches | None:
    """Return the launches of rows, from the columns of `csvpages.LAUNCH_CELLS` and arguments."""
    name, index, process, context, stream, device, grid, block, capability, count, *args = (
        rows.column(place) for place in places
    )
    if not pc.all(pc.match_substring_regex(index, _INDEX)).as_py():
        return None
    columns = {
        "event_id": pa.array(rows.event_ids, INT),
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
