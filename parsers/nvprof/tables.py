"""Tables of nvprof: the columns of a header, and the cells of its rows."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from itertools import islice, takewhile

from tracekit.parsers.nvprof.quantities import LEVEL, NOTED, DamagedRow, value
from tracekit.parsers.nvprof.sniffing import may_have_header

Cells = dict[str, str]

_KEYS = {
    "registers per thread": "regs",
    "static smem": "ssmem",
    "dynamic smem": "dsmem",
    "metric name": "metric",
    "event name": "metric",
    "metric description": "label",
    "kernel": "name",
    "correlation_id": "correlation",
    "correlation id": "correlation",
}
_KINDS = (
    ("metrics", {"invocations", "metric", "avg"}),
    ("unified", {"count", "total size", "name"}),
    ("summary", {"time(%)", "time", "calls", "name"}),
    ("cpu", {"time(%)", "time", "name"}),
    ("trace", {"start", "duration", "name"}),
    ("trace", {"device", "context", "stream", "name"}),
)
SIZES = {
    "shared_memory_bytes": ("ssmem", "dsmem"),
    "size_bytes": ("size",),
    "reported_bytes_per_s": ("throughput",),
}
_TRACE_KEYS = frozenset(
    (
        "start",
        "duration",
        "device",
        "name",
        "correlation",
        "grid size",
        "block size",
        "context",
        "stream",
        "regs",
        *(f"{what} {axis}" for what in ("grid", "block") for axis in "xyz"),
        *(key for keys in SIZES.values() for key in keys),
    )
)
_ARGUMENT_KEYS = frozenset(
    (
        "srcmemtype",
        "dstmemtype",
        "src dev",
        "src ctx",
        "dst dev",
        "dst ctx",
        "unified memory",
        "virtual address",
        "process",
        "thread",
    )
)
#: Words of the headers of each kind that have no other spelling.
_PLAIN_NEEDS = tuple(needs - set(_KEYS.values()) for _, needs in _KINDS)
_HEADER = re.compile(r'"?(?:Type|Time\(%\)|Start|Invocations|Device|Count)"? *(?:,|  )')
_HEADER_TRIES = 8
_GAP = re.compile(r" {2,}|\t+")
_FIRST_CELLS = {
    "type": re.compile(r"[A-Z][\w ().-]*:|\d{1,3}(?:\.\d+)?%?"),
    "time(%)": re.compile(r"\d{1,3}(?:\.\d+)?%?"),
    "start": re.compile(r"\d+(?:\.\d+)?(?:[num]?s)"),
    "invocations": re.compile(r"\d+"),
    "count": re.compile(r"\d+"),
}
_ANYTHING = re.compile(r".*")
DEVICE_LINE = re.compile(r'\s*Device "(?P<device>.*?)"(?:\s+Kernel: (?P<kernel>.*))?')
KERNEL_LINE = re.compile(r"\s+Kernel: (?P<kernel>.*)")
ROW_IN_NAME = re.compile(r"\S {2,}\S.* {2,}\S.* {2,}\S")  # its line feed was lost
NOTE = "\0note"  # the key of text outside the cells


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The columns of a table, from its header.

    `keys` are the names in one spelling; `free` is the position of the column that can contain
    separators. `arguments` and `metrics` are columns of a trace without a column in the store:
    names by key.
    """

    kind: str
    names: tuple[str, ...]
    keys: tuple[str, ...]
    is_csv: bool
    free: int
    arguments: dict[str, str]
    metrics: dict[str, str]

    def cells(self, text: str) -> Cells | None:
        """Return the cells of a line; None if not a row; raise DamagedRow for a partial row."""
        others: list[str] = []
        read = self._csv_pieces if self.is_csv else self._text_pieces
        pieces = read(text, others)
        if pieces is None:
            return None
        if self.free < len(self.keys) - 1:
            self._take_note(pieces, others)
        cells = dict(zip(self.keys, map(str.strip, self._fitted(pieces)), strict=True))
        return cells | ({NOTE: " ".join(others)} if any(map(str.strip, others)) else {})

    def _take_note(self, pieces: list[str], others: list[str]) -> None:
        """Move what follows the last value of `pieces` to `others`."""
        while not self.is_csv and len(pieces) > len(self.keys) and _is_no_value(pieces[-1]):
            others.append(pieces.pop())
        if match := NOTED.fullmatch(pieces[-1].strip()):
            pieces[-1] = match[1]
            others.append(match["note"])

    def _csv_pieces(self, text: str, others: list[str]) -> list[str] | None:
        is_quoted = '"' in text
        if is_quoted and self.keys[0] in ("type", "device"):
            begin = text.index('"')  # before it may stand what the program wrote
            others.append(text[:begin])
            text = text[begin:]
        pieces = _csv_cells(text)
        size = len(self.keys)
        if len(pieces) == size or (len(pieces) > size and not is_quoted):
            return pieces
        if len(pieces) > max(1, size // 2) or (len(pieces) > 1 and text[:1] == '"'):
            raise DamagedRow
        return None

    def _text_pieces(self, text: str, others: list[str]) -> list[str] | None:
        first, size = _FIRST_CELLS.get(self.keys[0], _ANYTHING), len(self.keys)
        limit = size - 1 if self.free == size - 1 else 0
        pieces = _GAP.split(text.strip(), limit)
        if not first.fullmatch(pieces[0]):  # before it may stand what the program wrote
            pieces = _GAP.split(text.strip())
            place = next((i for i, piece in enumerate(pieces) if first.fullmatch(piece)), None)
            if place is None or self.keys[0] == "type":  # there it may be a type, damaged
                _refuse_half(is_half=len(pieces) >= (size - 1 if place is None else 3))
                return None
            others += pieces[:place]
            pieces = pieces[place:]
        if self.keys[0] == "type" and not pieces[0].endswith(":"):
            pieces.insert(0, "")
        if len(pieces) >= size:
            _refuse_half(is_half=self.free == size - 1 and bool(ROW_IN_NAME.search(pieces[-1])))
            _refuse_half(is_half=len(pieces) > 2 * size - 2)  # another row goes on in it
            return pieces
        _refuse_half(is_half=len(pieces) >= min(3, size - 1))
        return None

    def _fitted(self, pieces: list[str]) -> list[str]:
        """Return one piece per column: surplus pieces belong to the free column."""
        if len(pieces) == len(self.keys):
            return pieces
        extra = len(pieces) - len(self.keys)
        middle = pieces[self.free : self.free + extra + 1]
        joined = ("," if self.is_csv else "  ").join(middle)
        return [*pieces[: self.free], joined, *pieces[self.free + extra + 1 :]]


def _is_no_value(piece: str) -> bool:
    text = piece.strip()
    return value(text).status in ("text", "unreadable") and not LEVEL.fullmatch(text)


def _refuse_half(*, is_half: bool) -> None:
    if is_half:
        raise DamagedRow


def _csv_cells(text: str) -> list[str]:
    """Return the cells of a line of CSV; raise DamagedRow if it is not CSV."""
    if '"' not in text:
        return text.split(",")
    try:
        return next(csv.reader([text]))
    except csv.Error as error:
        raise DamagedRow from error


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a table in a line, the text before it, and whether a row follows it."""

    layout: TableLayout
    before: str
    has_row: bool


def header_of(text: str) -> Header | None:
    """Return the header of a table in a line, or None; program output can precede it."""
    if not may_have_header(text):  # far quicker than the pattern
        return None
    for found in islice(_HEADER.finditer(text), _HEADER_TRIES):
        header, is_csv = text[found.start() :], found[0].endswith(",")
        try:
            names = _csv_cells(header) if is_csv else _GAP.split(header.rstrip())
        except DamagedRow:
            continue
        if not is_csv and '"' in header:  # the line of a device goes on in it
            continue
        own = names if is_csv else list(takewhile(lambda name: not name[:1].isdigit(), names))
        if layout := _layout([name.strip() for name in own], is_csv=is_csv):
            return Header(layout, text[: found.start()], len(own) < len(names))
    return None


def may_make_header(cells: str) -> bool:
    """Return whether a line with these cells may have a header in it, however it is cut."""
    if not may_have_header(cells):
        return False
    small = cells.lower().replace('"', "")
    return any(all(word in small for word in needs) for needs in _PLAIN_NEEDS)


def _layout(names: list[str], *, is_csv: bool) -> TableLayout | None:
    plain = [name.rstrip("*").lower() for name in names]
    keys = [_KEYS.get(name, name) for name in plain]
    kind = next((kind for kind, needs in _KINDS if needs <= set(keys)), None)
    if kind is None or len(set(keys)) < len(keys):
        return None
    free = "label" if kind == "metrics" and not is_csv and "label" in keys else "name"
    if free not in keys:
        free = "metric"
    pairs = dict(zip(keys, names, strict=True))
    return TableLayout(
        kind,
        tuple(names),
        tuple(keys),
        is_csv,
        keys.index(free),
        arguments={key: pairs[key] for key in sorted(_ARGUMENT_KEYS & pairs.keys())},
        metrics={k: n for k, n in pairs.items() if k not in _TRACE_KEYS | _ARGUMENT_KEYS},
    )
