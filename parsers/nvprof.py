"""Output of nvprof, the profiler of CUDA before Nsight: text and CSV, summaries, traces, counters.

Layouts: NVIDIA's "Profiler User's Guide" (docs.nvidia.com/cuda/profiler-users-guide), chapter
nvprof, "Profiling Modes" and "Output"; what a metric counts: "Metrics Reference" there. The guide
shows examples and specifies nothing, so real files of many ages decided: columns are found by name.

KB, MB and GB: a copy has size, duration and throughput, and only one scale makes them agree. 4 B
in 3.1360 us at 1.2164 MB/s is 1,024 (files since 2015 or so), 409.60 KB in 135.78 us at 3.0167 GB/s
is 1,000 (the guide's own example, of CUDA 5). Where no copy decides it is 1,024: so it is in the
metrics of a V100, whose l2_read_throughput in GB/s and sysmem_write_throughput in MB/s give one
time per transaction only if they are 1,024 apart.

Text has five digits: a start of 3.45318s stands for 10 us, a size of 9.1875MB for about 100 bytes.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from functools import lru_cache
from itertools import islice, takewhile
from typing import Any

import msgspec

from tracekit.errors import FormatError
from tracekit.parser import Batch, Issue, Match, Origin, Recipe, Report, Severity
from tracekit.reading.copies import direction
from tracekit.schema import EVENT_TABLES, REPEATED, TABLES, batch_of_rows
from tracekit.source import ContentStream, Source

_LONGEST_LINE = 4 << 20
_ROWS_IN_A_BATCH = 8192
_MOST_KERNELS = 20_000
_MOST_KEPT = 1000  # totals, processes: what goes to metadata_json
_MOST_MESSAGES = 100
_MOST_TEXT = 500
_DEFAULT_KILO = 1024
_SECTOR_BYTES = 32
_FEW_COLUMNS = 4  # other tools may have a table of Start, Duration and Name

Cells = dict[str, str]
Row = dict[str, Any]


# -- what a file says besides its tables ----------------------------------------------------------

_MARK = re.compile(r"(?<!=)==(?P<pid>\d{1,18})== |(?<!=)={8} ")
_COMMAND = re.compile(
    r"(?:NVPROF is profiling process (?P<pid>\d+), command|Profiling application): ?(?P<command>.*)"
)
_CHATTER = re.compile(r"(?:Some kernel\(s\) will be replayed|Replaying kernel|Kernel replay) .*")
_SEVERE = re.compile(r"(?P<kind>Warning|Error): ?(?P<text>.*)")
_TITLE = re.compile(r"(?P<title>[A-Z][\w /().-]{2,60}):")
_ELSEWHERE = re.compile(r"Generated result file: ?(?P<file>.*)")
_NOTHING = re.compile(
    r"No (?:kernels|API activities|events/metrics|profile data|CUDA application) w\w+ \w+\b\.?"
)
_NO_KERNELS = re.compile(r"No (?:kernels|CUDA)")
_FOOTNOTE = re.compile(r"(?:Regs|SSMem|DSMem|SrcMemType|DstMemType): ")
_SUM_LINE = re.compile(r"(?P<name>Total [A-Z][\w ]{2,60}): (?P<count>\d{1,18})")
_DEVICE_LINE = re.compile(r'\s*Device "(?P<device>.*?)"(?:\s+Kernel: (?P<kernel>.*))?')
_KERNEL_LINE = re.compile(r"\s+Kernel: (?P<kernel>.*)")
_UNREAD = ("NVTX result", "CPU profiling result", "Dependency Analysis", "System profiling result")
_TOTALS = ("API calls", "OpenACC", "OpenMP", "Range", "NVTX")
_NVPROF_SAYS = re.compile(
    r"(?:==\d+==|={8}) (?:NVPROF is |Profiling (?:application|result):|(?:Metric|Event) result:|"
    r"(?:Unified Memory|CPU) profiling result|Warning: No (?:kernels|CUDA application) )"
)


# -- quantities -----------------------------------------------------------------------------------

_NUMBER = r"[-+]?\d{1,15}(?:\.\d{1,12})?(?:[eE][-+]?\d{1,2})?"
_QUANTITY = re.compile(rf"({_NUMBER}) ?([A-Za-z%][A-Za-z/%]*)?")
_LEVEL = re.compile(r"[A-Z][a-z]+ \((\d{1,3})\)")
# Behind the last value of a line somebody may have written something: ``12.50% -->``.
_NOTED = re.compile(rf"({_QUANTITY.pattern}|{_LEVEL.pattern})(?P<note> +\S.*)")
_NAN = frozenset(("nan", "-nan", "nan(ind)", "-nan(ind)"))
_MISSING = frozenset(("n/a", "-", "na"))
_NONE = frozenset(("", "-"))
_TENS = {"ns": 0, "us": 3, "ms": 6, "s": 9}
_POWERS = {"B": 0, "KB": 1, "MB": 2, "GB": 3, "TB": 4}
_UNITS = frozenset(("", "%", *_TENS, *_POWERS, *(f"{unit}/s" for unit in _POWERS)))
_INT64 = range(-(1 << 63), 1 << 63)


@dataclass(frozen=True, slots=True)
class _Value:
    """A cell: its number and unit as written, or why it has none (`kernel_metric.status_kind`).

    `power` is how often a byte count was divided by 1,000 or 1,024; None for other units.
    """

    status: str
    number: Decimal | None = None
    unit: str = ""
    power: int | None = None

    def in_base(self, kilo: int) -> tuple[Decimal | None, str | None]:
        """The number in its base unit, and that unit."""
        number, unit = self.number, self.unit
        if number is None:
            return None, None
        if unit == "%":
            return number / 100, "ratio"
        if unit in _TENS:
            return number.scaleb(_TENS[unit]), "ns"
        if self.power is not None:
            return number * kilo**self.power, "byte/s" if unit.endswith("/s") else "byte"
        return number, unit or None


@lru_cache(maxsize=4096)
def _value(text: str, unit: str = "") -> _Value:
    """What a cell says; `unit` is that of its column, where the cell has none of its own."""
    if match := _QUANTITY.fullmatch(text):
        unit = match[2] or unit
        return _Value("ok", Decimal(match[1]), unit, _POWERS.get(unit.removesuffix("/s")))
    small = text.lower()
    if not text:
        return _Value("empty")
    if small in _MISSING:
        return _Value("not_available")
    if small in _NAN:
        return _Value("nan")
    if small.strip("+-") in ("inf", "infinity") or not any(c.isalpha() for c in text):
        return _Value("unreadable")
    return _Value("text")


def _extreme(text: str, unit: str, kilo: int) -> float | None:
    """The number of a Min or Max cell, in base units; of a level such as ``Low (2)`` its step."""
    if level := _LEVEL.fullmatch(text):
        return float(level[1])
    return _real(_value(text, unit).in_base(kilo)[0])


def _real(number: Decimal | None) -> float | None:
    return None if number is None else float(number)


def _whole(number: Decimal | None) -> int | None:
    """The nearest integer; None where int64 cannot hold it."""
    if number is None:
        return None
    whole = int(number.to_integral_value(ROUND_HALF_EVEN))
    return whole if whole in _INT64 else None


def _count(text: str) -> int:
    """A cell that counts something; raises _DamagedRow where it is no whole number."""
    if not re.fullmatch(r"\d{1,18}", text):
        raise _DamagedRow
    return int(text)


@lru_cache(maxsize=4096)
def _integer(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?\d{1,18}", text) else None


class _DamagedRow(Exception):  # noqa: N818 - a signal, not an error: the row is skipped
    """A line of a table that cannot be read."""


# -- lines ----------------------------------------------------------------------------------------

# A carriage return ends a line too: progress bars are drawn with it, and nvprof writes behind them.
_LINE_ENDS = {
    "utf-8": re.compile(rb"[\r\n]"),
    "utf-16-le": re.compile(rb"[\r\n]\0"),
    "utf-16-be": re.compile(rb"\0[\r\n]"),
}
_BOMS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")


@dataclass(frozen=True, slots=True)
class _Line:
    """A line without its end: where it is in the content (bytes), and whether it has an end."""

    offset: int
    size_bytes: int
    text: str
    is_ended: bool


def _encoding(head: bytes) -> str:
    """UTF-16 by its mark, or by the zeros that it has in every second place; else UTF-8."""
    for mark, name in _BOMS.items():
        if head.startswith(mark):
            return name
    even, odd = head[:4096:2], head[1:4096:2]
    if len(odd) > 8 and odd.count(0) > len(odd) * 0.9 and not even.count(0):
        return "utf-16-le"
    if len(odd) > 8 and even.count(0) > len(even) * 0.9 and not odd.count(0):
        return "utf-16-be"
    return "utf-8"


def _text(raw: bytes, encoding: str) -> str:
    errors = "backslashreplace" if encoding == "utf-8" else "replace"
    text = raw.decode(encoding, errors).removeprefix("\ufeff")
    return _ESCAPE.sub("", text) if "\x1b" in text else text


def _lines(stream: ContentStream, encoding: str, report: Report) -> Iterator[_Line]:
    """The lines of a file; one too long for memory is left out, and told."""
    end, width = _LINE_ENDS[encoding], 1 if encoding == "utf-8" else 2
    rest, place = b"", 0
    for piece in stream.pieces():
        report.read(len(piece))
        rest += piece
        start = 0
        for found in end.finditer(rest):
            if found.start() % width == 0:
                raw = rest[start : found.start()]
                yield _Line(place + start, len(raw), _text(raw, encoding), is_ended=True)
                start = found.end()
        rest, place = rest[start:], place + start
        if len(rest) > _LONGEST_LINE:
            lost = len(rest) // width * width
            _tell_long_line(report, place, lost)
            rest, place = rest[lost:], place + lost
    if rest:
        yield _Line(place, len(rest), _text(rest, encoding), is_ended=False)


def _tell_long_line(report: Report, place: int, size: int) -> None:
    report.issue(
        Issue(
            "long_line",
            "error",
            "import",
            f"lines longer than {_LONGEST_LINE >> 20} MiB are left out",
            "nvprof writes no such line: look at the file at this offset",
            lost_bytes=size,
            first_offset_bytes=place,
        )
    )


# -- tables ---------------------------------------------------------------------------------------

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
_NUMBERED = {"context": "context_id", "stream": "stream_id", "regs": "registers_per_thread_count"}
_SIZES = {
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
        *_NUMBERED,
        *(f"{what} {axis}" for what in ("grid", "block") for axis in "xyz"),
        *(key for keys in _SIZES.values() for key in keys),
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
_HEADER = re.compile(r'"?(?:Type|Time\(%\)|Start|Invocations|Device|Count)"? *(?:,|  )')
_HEADER_WORDS = ("Duration", "Time(%)", "Invocations", "Total Size", "Context")
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
_ROW_IN_NAME = re.compile(r"\S {2,}\S.* {2,}\S.* {2,}\S")  # its line feed was lost
_NOTE = "\0note"  # the key of what is no cell


@dataclass(frozen=True, slots=True)
class _Layout:
    """The columns of a table, from its header.

    `keys` are the names in one spelling; `free` is the place of the column that may contain
    separators itself. `arguments` and `metrics` are columns of a trace that have none in the
    store: names by key.
    """

    kind: str
    names: tuple[str, ...]
    keys: tuple[str, ...]
    is_csv: bool
    free: int
    arguments: dict[str, str]
    metrics: dict[str, str]

    def cells(self, text: str) -> Cells | None:
        """The cells of a line; None where it is no row; raises _DamagedRow for half a row."""
        others: list[str] = []
        read = self._csv_pieces if self.is_csv else self._text_pieces
        pieces = read(text, others)
        if pieces is None:
            return None
        if self.free < len(self.keys) - 1:
            self._take_note(pieces, others)
        cells = dict(zip(self.keys, map(str.strip, self._fitted(pieces)), strict=True))
        return cells | ({_NOTE: " ".join(others)} if any(map(str.strip, others)) else {})

    def _take_note(self, pieces: list[str], others: list[str]) -> None:
        """Put what stands behind the last value of `pieces` to `others`."""
        while not self.is_csv and len(pieces) > len(self.keys) and _is_no_value(pieces[-1]):
            others.append(pieces.pop())
        if match := _NOTED.fullmatch(pieces[-1].strip()):
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
            raise _DamagedRow
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
            _refuse_half(is_half=self.free == size - 1 and bool(_ROW_IN_NAME.search(pieces[-1])))
            _refuse_half(is_half=len(pieces) > 2 * size - 2)  # another row goes on in it
            return pieces
        _refuse_half(is_half=len(pieces) >= min(3, size - 1))
        return None

    def _fitted(self, pieces: list[str]) -> list[str]:
        """As many pieces as there are columns: what is too much belongs to the free one."""
        if len(pieces) == len(self.keys):
            return pieces
        extra = len(pieces) - len(self.keys)
        middle = pieces[self.free : self.free + extra + 1]
        joined = ("," if self.is_csv else "  ").join(middle)
        return [*pieces[: self.free], joined, *pieces[self.free + extra + 1 :]]


def _is_no_value(piece: str) -> bool:
    text = piece.strip()
    return _value(text).status in ("text", "unreadable") and not _LEVEL.fullmatch(text)


def _refuse_half(*, is_half: bool) -> None:
    if is_half:
        raise _DamagedRow


def _csv_cells(text: str) -> list[str]:
    """The cells of a line of CSV; raises _DamagedRow where it is none."""
    if '"' not in text:
        return text.split(",")
    try:
        return next(csv.reader([text]))
    except csv.Error as error:
        raise _DamagedRow from error


@dataclass(frozen=True, slots=True)
class _Header:
    """The header of a table in a line: what stands before it, and whether a row is glued to it."""

    layout: _Layout
    before: str
    has_row: bool


def _header_of(text: str) -> _Header | None:
    """The header of a table that a line has, or None; the program may have written before it."""
    if not any(word in text for word in _HEADER_WORDS):  # far quicker than the pattern
        return None
    for found in islice(_HEADER.finditer(text), _HEADER_TRIES):
        header, is_csv = text[found.start() :], found[0].endswith(",")
        try:
            names = _csv_cells(header) if is_csv else _GAP.split(header.rstrip())
        except _DamagedRow:
            continue
        if not is_csv and '"' in header:  # the line of a device goes on in it
            continue
        own = names if is_csv else list(takewhile(lambda name: not name[:1].isdigit(), names))
        if layout := _layout([name.strip() for name in own], is_csv=is_csv):
            return _Header(layout, text[: found.start()], len(own) < len(names))
    return None


def _layout(names: list[str], *, is_csv: bool) -> _Layout | None:
    plain = [name.rstrip("*").lower() for name in names]
    keys = [_KEYS.get(name, name) for name in plain]
    kind = next((kind for kind, needs in _KINDS if needs <= set(keys)), None)
    if kind is None or len(set(keys)) < len(keys):
        return None
    free = "label" if kind == "metrics" and not is_csv and "label" in keys else "name"
    if free not in keys:
        free = "metric"
    pairs = dict(zip(keys, names, strict=True))
    return _Layout(
        kind,
        tuple(names),
        tuple(keys),
        is_csv,
        keys.index(free),
        arguments={key: pairs[key] for key in sorted(_ARGUMENT_KEYS & pairs.keys())},
        metrics={k: n for k, n in pairs.items() if k not in _TRACE_KEYS | _ARGUMENT_KEYS},
    )


# -- counters of a kernel -------------------------------------------------------------------------

# flop_count_* count a fused multiply-add as two; their parts count instructions of a thread. Those
# of flop_count_hp count a packed instruction as two, so they are no hadd_inst.
_COUNTERS = {
    "flop_count_sp": "fp32_flop",
    "flop_count_dp": "fp64_flop",
    "flop_count_hp": "fp16_flop",
    "dram_read_transactions": "dram_read_sector_count",
    "dram_write_transactions": "dram_write_sector_count",
    "dram_read_bytes": "dram_read_bytes",
    "dram_write_bytes": "dram_write_bytes",
}
_PARTS = {
    "flop_count_sp": {
        "flop_count_sp_add": "fadd_inst",
        "flop_count_sp_mul": "fmul_inst",
        "flop_count_sp_fma": "ffma_inst",
    },
    "flop_count_dp": {
        "flop_count_dp_add": "dadd_inst",
        "flop_count_dp_mul": "dmul_inst",
        "flop_count_dp_fma": "dfma_inst",
    },
}
# What the caches above ask of L2, in sectors of 32 bytes. Atomics are in neither of them.
_L2_SECTORS = ("l2_read_transactions", "l2_write_transactions")
_OCCUPANCY = "achieved_occupancy"
# A unit's level of use is rounded up: ``Idle (0)`` is no use at all, 0.5 % is ``Low (1)``.
_LEVELS = {"tensor_precision_fu_utilization": "tensor_inst"}
_COUNTED = frozenset((*_COUNTERS, *_L2_SECTORS, *(p for parts in _PARTS.values() for p in parts)))


@dataclass(slots=True)
class _Kernel:
    """A kernel row that counters belong to: sums of counters over its launches, or a status."""

    row: Row
    counted: dict[str, Decimal | str] = field(default_factory=dict)
    seen: set[tuple[str, str]] = field(default_factory=set)

    def add(self, metric: str, total: Decimal | None, status: str) -> None:
        """Note a counter: its sum over the launches, or why there is none."""
        if metric in _COUNTED:
            self.counted[metric] = status if total is None else total

    def add_level(self, metric: str, highest: str) -> None:
        """Note how much a unit was used at most: not at all is a count, more is none."""
        level = _LEVEL.fullmatch(highest) if metric in _LEVELS else None
        if level and not int(level[1]):
            self.counted[metric] = Decimal()

    def counter_row(self) -> Row | None:
        """The row of kernel_counter; None where nothing of it was counted."""
        if not self.counted:
            return None
        plain = (*_COUNTERS.items(), *_LEVELS.items())
        found = {c: self.counted[m] for m, c in plain if m in self.counted}
        for whole, parts in _PARTS.items():
            if not isinstance(self.counted.get(whole), Decimal):
                found |= {c: self.counted[m] for m, c in parts.items() if m in self.counted}
        sectors = [self.counted[m] for m in _L2_SECTORS if m in self.counted]
        if len(sectors) == len(_L2_SECTORS):
            lacking = next((s for s in sectors if isinstance(s, str)), None)
            numbers = [s for s in sectors if isinstance(s, Decimal)]
            found["l2_t_bytes"] = lacking or sum(numbers, Decimal()) * _SECTOR_BYTES
        if not found:
            return None
        why = {column: value for column, value in found.items() if isinstance(value, str)}
        row: Row = {c: _whole(v) for c, v in found.items() if isinstance(v, Decimal)}
        row |= {name: self.row.get(name) for name in ("event_id", *REPEATED)}
        row["status_json"] = msgspec.json.encode(why).decode() if why else None
        return row


# -- rows of a trace ------------------------------------------------------------------------------

_DEVICE_NAME = re.compile(r"(?P<name>.*\S) \((?P<id>\d{1,6})\)")
_LAUNCHED = re.compile(r"(?P<call>\w+) \((?P<kernel>.*) \[(?P<id>\d{1,18})\]\)")
_CORRELATED = re.compile(r"(?P<name>.*\S) \[(?P<id>\d{1,18})\]")
_AXES = {what: [f"{what}_{axis}" for axis in "xyz"] for what in ("grid", "block")}
_TRIPLE = re.compile(r"\((\d{1,18}) (\d{1,18}) (\d{1,18})\)")
_COLUMNS = {table: {c.name for c in TABLES[table].columns} for table in ("slice", "transfer")}
_DRIVER_CALL = re.compile(r"cu[A-Z]\w*")
# A last line that ends so is not cut, whether a line feed follows or not.
_WHOLE_ENDS = ('"', "]", "%", "B/s")


def _triple(cells: Cells, what: str) -> Row:
    """Grid or block: one cell in text, three in CSV."""
    if numbers := _numbers(cells.get(f"{what} size", "")):
        return dict(zip(_AXES[what], numbers, strict=True))
    return {f"{what}_{axis}": _integer(cells.get(f"{what} {axis}", "")) for axis in "xyz"}


@lru_cache(maxsize=4096)
def _numbers(text: str) -> tuple[int, ...]:
    match = _TRIPLE.fullmatch(text)
    return tuple(map(int, match.groups())) if match else ()


def _correlation(cells: Cells) -> tuple[str, int | None]:
    """The name without the number that text has behind it, and that number."""
    name, number = cells["name"], _integer(cells.get("correlation", ""))
    if not name.endswith("]"):
        return name, number
    match = _CORRELATED.fullmatch(name)
    if match and number in (None, int(match["id"])):
        return match["name"], int(match["id"])
    return name, number


def _of_table(row: Row, table: str, args: Row) -> Row:
    """The part of a row that its table has columns for."""
    return {k: row[k] for k in _COLUMNS[table] & row.keys()} | {"args_json": _json(args)}


def _arguments(cells: Cells, names: Mapping[str, str]) -> Row:
    """The cells that have no column, by the name that the file has for them."""
    return {name: cells[key] for key, name in names.items() if cells[key] not in _NONE}


def _is_call(cells: Cells) -> bool:
    """Whether a row of a trace is a call on the host: it has no place on a device."""
    keys = ("device", "context", "stream", "grid size", "grid x")
    return all(cells.get(key, "") in _NONE for key in keys)


def _json(values: Mapping[str, Any]) -> str | None:
    return msgspec.json.encode(values).decode() if values else None


# -- reading --------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Reading:
    """One file being read: lines in, rows out; what outlives a line."""

    report: Report
    rows: dict[str, list[Row]] = field(default_factory=dict)
    pending: int = 0
    row_count: int = 0
    # where in the file
    pid: int | None = None
    title: str = ""
    is_read: bool = True
    table: _Layout | None = None
    table_offset: int = 0
    units: dict[str, str] = field(default_factory=dict)
    awaits_units: bool = False
    device: str = ""
    kernel: str | None = None
    is_first_of_kernel: bool = False
    type_name: str | None = None
    has_summary: bool = False
    # what was found
    kernels: dict[tuple[int | None, str, str | None], _Kernel] = field(default_factory=dict)
    device_names: dict[int, list[str]] = field(default_factory=dict)
    cut_devices: dict[str, int] = field(default_factory=dict)
    processes: dict[int | None, str | None] = field(default_factory=dict)
    totals: list[Row] = field(default_factory=list)
    messages: set[str] = field(default_factory=set)
    nothing: list[str] = field(default_factory=list)
    elsewhere: str | None = None
    kinds: set[str] = field(default_factory=set)
    is_timed: bool | None = None  # whether a kernel has a time; None without kernels
    kilo: int | None = None
    coarsest_ns: Decimal = Decimal(0)
    awaits_footnote: bool = False
    is_cut: bool = False

    # -- lines --------------------------------------------------------------------------------

    def read(self, line: _Line) -> None:
        """Take one line; nvprof's own messages may stand behind what the program wrote."""
        text = line.text
        mark = _MARK.search(text) if "==" in text else None
        if mark is None:
            self._plain(line, text, is_ended=line.is_ended)
            return
        self._plain(line, text[: mark.start()], is_ended=True)
        self._message(line, mark["pid"], text[mark.end() :].strip())

    def _plain(self, line: _Line, text: str, *, is_ended: bool) -> None:
        if not text.strip():
            return
        if header := _header_of(text):
            before = header.before.rstrip()
            if before and not self._place(line, before):
                self._tell_other(line)
            self._begin(header.layout, line)
            if header.has_row:
                self._tell_damaged(line)
        elif match := _NOTHING.search(text):
            self._note_nothing(match[0], line)
        elif self.table is None:
            if not self._place(line, text):
                self._tell_other(line)
        elif not self._is_about(line, text, self.table):
            self._row(line, text.rstrip(), self.table, is_ended=is_ended)

    def _begin(self, layout: _Layout, line: _Line) -> None:
        self.table, self.table_offset = layout, line.offset
        self.units, self.awaits_units = {}, layout.is_csv
        is_gpu = self.title in ("", "Profiling result")
        self.type_name = "GPU activities" if is_gpu else self.title
        if "type" in layout.keys or (layout.kind == "summary" and self.has_summary):
            self.type_name = None  # a second one without types has lost its title
        self.has_summary |= layout.kind == "summary"
        self.kernel, self.is_first_of_kernel = None, False
        self.awaits_footnote |= "Regs*" in layout.names

    def _place(self, line: _Line, text: str) -> bool:
        """Note a line that says which device or kernel the next rows are of."""
        if match := _DEVICE_LINE.fullmatch(text):
            self.device = match["device"]
            self._device(self.device, 0)
            self.kernel, self.has_summary = None, False
        elif not (match := _KERNEL_LINE.fullmatch(text)):
            return False
        if match["kernel"] is not None:
            self.kernel, self.is_first_of_kernel = match["kernel"].strip(), True
            if _ROW_IN_NAME.search(self.kernel):
                self.kernel = None
                self._tell_damaged(line)
        return True

    def _is_about(self, line: _Line, text: str, table: _Layout) -> bool:
        """Take a line that belongs to a table and is no row of it: units, footnotes, places."""
        awaited, self.awaits_units = self.awaits_units, False
        if awaited:
            cells = [cell.strip() for cell in text.split(",")]
            if len(cells) == len(table.keys) and _UNITS.issuperset(cells):
                self.units = dict(zip(table.keys, cells, strict=True))
                return True
        if _FOOTNOTE.match(text):
            self.awaits_footnote = False
            return True
        if table.kind == "unified" and (match := _SUM_LINE.fullmatch(text)):
            self.totals.append({"type": "Unified Memory", **match.groupdict()})
            return True
        return not table.is_csv and self._place(line, text)

    # -- what nvprof says ---------------------------------------------------------------------

    def _message(self, line: _Line, pid: str | None, text: str) -> None:
        self.pid = int(pid) if pid else None
        if len(self.processes) < _MOST_KEPT:
            self.processes.setdefault(self.pid, None)
        if match := _COMMAND.fullmatch(text):
            self._note_command(line, pid, match)
        elif match := _NOTHING.search(text):
            self._note_nothing(match[0], line)
        elif match := _SEVERE.match(text):
            self._tell_message(match["kind"], match["text"][:_MOST_TEXT].rstrip("."), line)
        elif match := _ELSEWHERE.match(text):
            self.elsewhere = match["file"][:_MOST_TEXT]
        elif match := _TITLE.fullmatch(text):
            self._section(match["title"], line)
        elif not _CHATTER.fullmatch(text):
            self._tell_other(line)

    def _note_command(self, line: _Line, pid: str | None, match: re.Match[str]) -> None:
        """Note what a process ran, which nvprof says twice."""
        known, command = self.processes.get(self.pid), match["command"]
        if known not in (None, command) or match["pid"] not in (None, pid):
            self._tell_other(line, "what nvprof says twice of a process differs")
        if self.pid in self.processes:
            self.processes[self.pid] = command

    def _section(self, title: str, line: _Line) -> None:
        self.title, self.table, self.has_summary = title, None, False
        self.is_read = not title.startswith(_UNREAD)
        if title == "Profiling result":  # a run's own: its kernels are no other's
            self._close_all()
            self.device, self.kernel = "", None
        if not self.is_read:
            self._tell_unread(line, 0)

    def _tell_message(self, kind: str, text: str, line: _Line) -> None:
        if len(self.messages) >= _MOST_MESSAGES and text not in self.messages:
            text = "(further messages)"
        self.messages.add(text)
        if kind == "Warning" or "returned non-zero code" in text:
            self._tell(
                "profiler_warning",
                "warning",
                "recording",
                f"nvprof warns: {text}",
                first_offset_bytes=line.offset,
            )
            return
        self._tell(
            "profiler_error",
            "error",
            "recording",
            f"nvprof failed: {text}",
            "what it could not record is not in the file",
            first_offset_bytes=line.offset,
        )

    def _note_nothing(self, text: str, line: _Line) -> None:
        if text not in self.nothing:
            self.nothing.append(text)
        self._tell(
            "nothing_profiled",
            "warning",
            "recording",
            f"nvprof says: {text}",
            first_offset_bytes=line.offset,
        )

    # -- rows ---------------------------------------------------------------------------------

    def _row(self, line: _Line, text: str, table: _Layout, *, is_ended: bool) -> None:
        try:
            cells = table.cells(text)
            if cells is None:
                self._tell_other(line)
                return
            if cells.pop(_NOTE, None):
                self._tell_other(line, "text before a row or behind it, taken for no part of it")
            if not is_ended and not text.endswith(_WHOLE_ENDS):
                self.is_cut = True
                raise _DamagedRow
            if not self.is_read or table.kind == "cpu":
                self._tell_unread(line, 1)
                self.report.event_count += 1
                return
            self._take(line, cells, table)
        except _DamagedRow:
            self._tell_damaged(line)
            if "type" in table.keys and not text.startswith(" " * 20):
                self.type_name = None  # the line may have begun rows of another type

    def _take(self, line: _Line, cells: Cells, table: _Layout) -> None:
        if table.kind == "trace":
            self._trace_row(line, cells, table)
        elif table.kind == "metrics":
            self._metric_row(line, cells)
        elif table.kind == "summary":
            self._summary_row(line, cells)
        else:
            self._unified_row(line, cells)

    def _put(self, table: str, row: Row) -> None:
        self.rows.setdefault(table, []).append(row)
        self.pending += 1
        self.row_count += table in EVENT_TABLES

    def _time(self, cells: Cells, key: str) -> int | None:
        """A time in ns, exactly; None where there is none; raises _DamagedRow."""
        text = cells.get(key, "")
        if text in _NONE:
            return None
        value = _value(text, self.units.get(key, ""))
        if value.number is not None and not value.unit:
            self._tell_no_unit()
            return None
        number, unit = value.in_base(1)
        whole = _whole(number)
        if unit != "ns" or number is None or whole is None:
            raise _DamagedRow
        if key == "start":
            self._note_coarseness(value.number, value.unit)
        elif whole < 0:
            self._tell_negative()
            return None
        return whole

    def _note_coarseness(self, number: Decimal | None, unit: str) -> None:
        """See to how many ns a time is rounded; zero is not."""
        exponent = number.as_tuple().exponent if number else None
        if isinstance(exponent, int):
            step = Decimal(1).scaleb(_TENS[unit] + exponent)
            self.coarsest_ns = max(self.coarsest_ns, step)

    def _device(self, text: str, offset: int) -> int | None:
        """The number of the device that a cell names; its name is noted."""
        if text in _NONE:
            return None
        match = _DEVICE_NAME.fullmatch(text if text.endswith(")") else text + ")")
        # Text is cut after 15 characters: `(0` is device 0, but `(1` may be 10.
        is_known = match is not None and (text.endswith(")") or match["id"] == "0")
        if match and is_known and len(self.device_names) < _MOST_KEPT:
            names = self.device_names.setdefault(int(match["id"]), [])
            if match["name"] not in names and len(names) < _MOST_MESSAGES:
                names.append(match["name"])
            return int(match["id"])
        if text in self.cut_devices or len(self.cut_devices) < _MOST_MESSAGES:
            self.cut_devices.setdefault(text, offset)
        return None

    # -- traces -------------------------------------------------------------------------------

    def _trace_row(self, line: _Line, cells: Cells, table: _Layout) -> None:
        row: Row = {
            "event_id": line.offset,
            "start_ns": self._time(cells, "start"),
            "dur_ns": self._time(cells, "duration"),
            "process_id": self.pid,
        }
        needed = "start" if "start" in cells else "context"
        if not cells["name"] or _value(cells[needed]).number is None:
            raise _DamagedRow
        if _is_call(cells):
            self._call_row(row, cells, table)
        else:
            self._device_row(row, cells, table)
        self.report.event_count += 1

    def _call_row(self, row: Row, cells: Cells, table: _Layout) -> None:
        """A call of the runtime or the driver; in text with the kernel it launched."""
        name, row["correlation_id"] = _correlation(cells)
        args = _arguments(cells, table.arguments | table.metrics)
        if match := _LAUNCHED.fullmatch(cells["name"]):
            name, row["correlation_id"] = match["call"], int(match["id"])
            args["kernel"] = match["kernel"]
        kind = "driver" if _DRIVER_CALL.fullmatch(name) else "runtime"
        if name.startswith(("[Range", "[Marker")):
            kind = "annotation"
        self.kinds.add("timeline")
        self._put("slice", row | {"name": name, "slice_kind": kind, "args_json": _json(args)})

    def _device_row(self, row: Row, cells: Cells, table: _Layout) -> None:
        name, row["correlation_id"] = _correlation(cells)
        device = cells.get("device", "")
        row["name"], row["device_id"] = name, self._device(device, row["event_id"])
        odd = {}
        for key, column in _NUMBERED.items():
            text = cells.get(key, "-")
            row[column] = _integer(text)
            if row[column] is None and text not in _NONE:
                odd[key] = text
        if odd:
            self._tell_odd(len(odd))
        if row["device_id"] is None and device not in _NONE:
            odd["Device"] = device
        args = odd | _arguments(cells, table.arguments)
        small = name[:40].lower()
        if not name.startswith("["):
            self._launch_row(row, cells, args, table)
            return
        args |= _arguments(cells, table.metrics)
        self.kinds.add("timeline")
        if "memcpy" in small or "memset" in small:
            self._transfer_row(row, cells, args, "memset" if "memset" in small else "memcpy")
        else:
            row["slice_kind"] = "device"
            self._put("slice", _of_table(row, "slice", args))

    def _transfer_row(self, row: Row, cells: Cells, args: Row, kind: str) -> None:
        if cells.get("size", "-") in _NONE and "unified memory" in cells:
            cells = cells | {"size": cells["unified memory"]}
        row |= {"transfer_kind": kind, "direction_kind": direction(row["name"])}
        row |= {c: self._sizes(cells, c) for c in ("size_bytes", "reported_bytes_per_s")}
        self._note_scale(row)
        self._put("transfer", _of_table(row, "transfer", args))

    def _launch_row(self, row: Row, cells: Cells, args: Row, table: _Layout) -> None:
        """A launch; columns that no trace has by itself are its metrics."""
        self.kinds.add("counters" if table.metrics else "timeline")
        row |= _triple(cells, "grid") | _triple(cells, "block")
        row |= {
            "launch_count": 1,
            "shared_memory_bytes": self._sizes(cells, "shared_memory_bytes"),
            "args_json": _json(args),
        }
        kernel = _Kernel(row)
        for key, name in table.metrics.items():
            value = _value(cells[key], self.units.get(key, ""))
            number = self._metric_cell(kernel, name, cells[key], value)
            kernel.add(name, number, value.status)
            kernel.add_level(name, cells[key])
            if name == _OCCUPANCY:
                row["occupancy_ratio"] = _real(number)
        self._close(kernel)

    def _sizes(self, cells: Cells, column: str) -> tuple[_Value, ...]:
        """The cells that a byte count is the sum of; `_settle` adds them up."""
        cells_of = ((cells.get(key, ""), self.units.get(key, "")) for key in _SIZES[column])
        values = (_value(text, unit) for text, unit in cells_of if text not in _NONE)
        return tuple(value for value in values if value.power is not None)

    def _note_scale(self, row: Row) -> None:
        """See which scale makes size, duration and throughput of a copy agree."""
        sizes, rates, dur_ns = row["size_bytes"], row["reported_bytes_per_s"], row["dur_ns"]
        if not sizes or not rates or not dur_ns or sizes[0].power == rates[0].power:
            return
        fits = []
        for kilo in (1000, 1024):
            size, rate = sizes[0].in_base(kilo)[0], rates[0].in_base(kilo)[0]
            if rate and abs(size / dur_ns * 10**9 / rate - 1) < Decimal("0.005"):
                fits.append(kilo)
        if len(fits) == 1 and self.kilo is None:
            self.kilo = fits[0]
        elif len(fits) == 1 and fits[0] != self.kilo:
            self._tell_scale(row["event_id"])

    def _settle(self, row: Row) -> Row:
        """A row with its byte counts as numbers: only now the scale of the file is known."""
        self.kilo = self.kilo or _DEFAULT_KILO
        for column in _SIZES:
            if column in row:
                parts = [
                    v.in_base(self.kilo)[0] or Decimal() if v.number else Decimal()
                    for v in row[column]
                ]
                total = sum(parts, Decimal()) if parts else None
                is_rate = column == "reported_bytes_per_s"
                row[column] = _real(total) if is_rate else _whole(total)
        return row

    # -- totals -------------------------------------------------------------------------------

    def _summary_row(self, line: _Line, cells: Cells) -> None:
        if cells.get("type"):
            self.type_name = cells["type"].rstrip(":")
        kind, name = self.type_name, cells["name"]
        is_gpu = kind == "GPU activities"
        if kind is None or not name or not (is_gpu or kind.startswith(_TOTALS)):
            raise _DamagedRow
        calls, time = _count(cells["calls"]), self._time(cells, "time")
        if time is None and cells["time"] in _NONE:
            raise _DamagedRow
        self.kinds.add("summary")
        if not is_gpu or name.startswith("["):
            self._total(
                line,
                kind if not is_gpu else "GPU copies and sets",
                {
                    "name": name,
                    "call_count": calls,
                    "total_ns": time,
                    **{
                        f"{k}_ns": self._time(cells, k) for k in ("avg", "min", "max") if k in cells
                    },
                },
            )
            return
        kernel = self._kernel_of(line, (self.pid, self._device_text(cells), name), ("", "Time"))
        kernel.row |= {"launch_count": calls, "dur_ns": time}
        value = _value(cells.get("avg", ""), self.units.get("avg", ""))
        self._metric_cell(kernel, "Time", cells.get("avg", ""), value, cells)

    def _unified_row(self, line: _Line, cells: Cells) -> None:
        """Migrations of unified memory, added up."""
        _count(cells["count"])
        self.kinds.add("summary")
        self._total(line, "Unified Memory", {"device": self.device, **cells})

    def _total(self, line: _Line, kind: str, what: Row) -> None:
        """A row of totals that no table takes: it goes to the file's metadata."""
        is_kept = len(self.totals) < _MOST_KEPT
        if is_kept:
            self.totals.append({"type": kind, "process_id": self.pid, **what})
        where = "source_file.metadata_json has them" if is_kept else "they are too many to be kept"
        self.report.event_count += 1
        self._tell(
            "totals_only",
            "info",
            "recording",
            f"{kind}: given as totals only, which no table takes; {where}",
            "record with --print-gpu-trace or --print-api-trace to have each of them",
            skipped_event_count=1,
            first_offset_bytes=line.offset,
        )

    # -- metrics and events -------------------------------------------------------------------

    def _metric_row(self, line: _Line, cells: Cells) -> None:
        metric, times = cells["metric"], _count(cells["invocations"])
        if not metric or not times:
            raise _DamagedRow
        value = _value(cells["avg"], self.units.get("avg", ""))
        if "name" in cells:
            self.kernel, self.is_first_of_kernel = cells["name"], True
        kernel = self._kernel_with(line, cells, metric)
        kernel.row["launch_count"] = max(times, kernel.row.get("launch_count") or 0)
        self.kinds.add("counters")
        mean = self._metric_cell(kernel, metric, cells["avg"], value, cells)
        kernel.add(metric, None if mean is None else mean * times, value.status)
        kernel.add_level(metric, cells.get("max", cells["avg"]))
        if metric == _OCCUPANCY:
            kernel.row["occupancy_ratio"] = _real(mean)

    def _kernel_with(self, line: _Line, cells: Cells, metric: str) -> _Kernel:
        """The kernel that a metric line is of.

        A metric that the kernel has already is another kernel's, whose own line is lost.
        """
        is_first, self.is_first_of_kernel = self.is_first_of_kernel, False
        key = (self.pid, self._device_text(cells), self.kernel)
        mark = (self._counter_section(), metric)
        known = self.kernels.get(key)
        if self.kernel is not None and not is_first and known and mark in known.seen:
            self.kernel = None
            key = (*key[:2], None)
        if self.kernel is None and (key not in self.kernels or mark in self.kernels[key].seen):
            self._tell_unnamed(line)
        return self._kernel_of(line, key, mark)

    def _device_text(self, cells: Cells) -> str:
        return cells.get("device", self.device)

    def _counter_section(self) -> str:
        names = self.table.names if self.table else ()
        return "Event result" if "Event Name" in names else "Metric result"

    def _kernel_of(
        self, line: _Line, key: tuple[int | None, str, str | None], mark: tuple[str, str]
    ) -> _Kernel:
        """The kernel of `key`; a new one where it has been told of `mark` already."""
        kernel = self.kernels.get(key)
        if kernel is None or mark in kernel.seen:
            if kernel is not None:
                self._close(self.kernels.pop(key))
            if len(self.kernels) >= _MOST_KERNELS:
                self._close_all()
            device_id = self._device(key[1], line.offset)
            kernel = self.kernels[key] = _Kernel(
                {
                    "event_id": line.offset,
                    "name": key[2],
                    "process_id": key[0],
                    "device_id": device_id,
                }
            )
            self.report.event_count += 1
        kernel.seen.add(mark)
        return kernel

    def _metric_cell(
        self, kernel: _Kernel, name: str, raw: str, value: _Value, cells: Cells | None = None
    ) -> Decimal | None:
        """Put a row of kernel_metric; the value in base units, of one launch."""
        kilo, cells = self.kilo or _DEFAULT_KILO, cells or {}
        number, unit = value.in_base(kilo)
        if number is not None and "total" in cells:
            number = self._exact_mean(number, cells)
        extremes = {
            f"{which}_value": _extreme(cells[which], self.units.get(which, ""), kilo)
            for which in ("min", "max")
            if which in cells
        }
        self._put(
            "kernel_metric",
            {
                "event_id": kernel.row["event_id"],
                "metric_name": name,
                "value": _real(number),
                "unit": unit,
                "value_raw": raw,
                "unit_raw": value.unit or None,
                "section_name": self._counter_section() if "metric" in cells else None,
                "status_kind": value.status,
                "label_name": cells.get("label"),
                **extremes,
            },
        )
        return number

    def _exact_mean(self, mean: Decimal, cells: Cells) -> Decimal:
        """Total / Invocations, of which nvprof writes the whole part as Avg."""
        total = _value(cells["total"], self.units.get("total", "")).number
        exact = mean if total is None else total / int(cells["invocations"])
        if abs(exact - mean) <= 1:
            return exact
        self._tell(
            "contradictory_metric",
            "warning",
            "recording",
            "the total of a counter is not its mean times the launches",
            "its mean is taken",
        )
        return mean

    def _close(self, kernel: _Kernel) -> None:
        self._put("kernel", kernel.row)
        self.is_timed = bool(self.is_timed) or kernel.row.get("dur_ns") is not None
        if counters := kernel.counter_row():
            self._put("kernel_counter", counters)

    def _close_all(self) -> None:
        for kernel in self.kernels.values():
            self._close(kernel)
        self.kernels.clear()

    # -- batches ------------------------------------------------------------------------------

    def batches(self) -> Iterator[Batch]:
        """The rows collected so far."""
        for table, rows in self.rows.items():
            if rows:
                yield table, batch_of_rows(TABLES[table], list(map(self._settle, rows)))
        self.rows, self.pending = {}, 0

    def last_batches(self) -> Iterator[Batch]:
        """The rows of kernels still open, and the devices."""
        self._close_all()
        for device_id, names in sorted(self.device_names.items()):
            self._put(
                "device",
                {
                    "device_id": device_id,
                    "name": names[0] if len(names) == 1 else None,
                    "is_described": True,
                    "properties_json": _json({"names": names} if len(names) > 1 else {}),
                },
            )
        for text in sorted(self.cut_devices):
            self._put("device", {"is_described": True, "properties_json": _json({"Device": text})})
        yield from self.batches()

    # -- issues -------------------------------------------------------------------------------

    def _tell(
        self,
        code: str,
        severity: Severity,
        origin: Origin,
        message: str,
        advice: str = "",
        **counts: Any,
    ) -> None:
        self.report.issue(Issue(code, severity, origin, message, advice, **counts))

    def _tell_damaged(self, line: _Line) -> None:
        self.report.event_count += 1
        self._tell(
            "damaged_event",
            "error",
            "import",
            "rows of nvprof's tables that cannot be read, or only by guessing, are left out",
            "look at the file at this offset",
            skipped_event_count=1,
            lost_bytes=line.size_bytes,
            first_offset_bytes=line.offset,
        )

    def _tell_other(
        self, line: _Line, what: str = "lines that are no rows: taken for what the program wrote"
    ) -> None:
        self._tell("other_text", "info", "import", what, first_offset_bytes=line.offset)

    def _tell_unread(self, line: _Line, skipped: int) -> None:
        self._tell(
            "unread_section",
            "info",
            "import",
            f"what stands under {self.title or 'this header'!r} has no table here",
            skipped_event_count=skipped,
            first_offset_bytes=line.offset,
        )

    def _tell_unnamed(self, line: _Line) -> None:
        self._tell(
            "unnamed_kernel",
            "error",
            "import",
            "metrics of kernels whose name cannot be told, since the line with it is damaged",
            "their kernel.name is NULL",
            first_offset_bytes=line.offset,
        )

    def _tell_no_unit(self) -> None:
        self._tell(
            "no_time",
            "warning",
            "recording",
            "times without a unit, since the row of units is not there",
            "their start_ns or dur_ns is NULL",
        )

    def _tell_negative(self) -> None:
        self._tell(
            "negative_duration",
            "warning",
            "recording",
            "durations below zero",
            "their dur_ns is NULL",
        )

    def _tell_odd(self, count: int) -> None:
        self._tell(
            "odd_value",
            "info",
            "import",
            "values that do not fit their column are kept in args_json only",
            occurrence_count=count,
        )

    def _tell_scale(self, offset: int) -> None:
        self._tell(
            "odd_scale",
            "warning",
            "recording",
            f"copies whose throughput does not fit that a KB is {self.kilo:,} bytes in the file",
            "their size_bytes and reported_bytes_per_s may be 2 to 7 percent off",
            first_offset_bytes=offset,
        )


# -- the parser -----------------------------------------------------------------------------------


_RECORD = (
    Recipe(
        "the timeline (nvprof came with CUDA up to 12, and counts on compute capability 7.x and "
        "before)",
        "sh",
        "nvprof --csv --print-gpu-trace --log-file trace.csv python train.py\n",
    ),
    Recipe(
        f"the counters: each kernel is run several times, so in a run of its own; on 7.x add "
        f"{', '.join(_LEVELS)}",
        "sh",
        "nvprof --csv --log-file metrics.csv --metrics \\\n"
        + ",\\\n".join((*(n for n in _COUNTERS if "bytes" not in n), *_L2_SECTORS, _OCCUPANCY))
        + " \\\n  python train.py\n",
    ),
)


class NvprofParser:
    """What nvprof prints, or writes with --log-file."""

    name = "nvprof"
    title = "nvprof text and CSV: summary, GPU and API trace, metrics, events"
    record = _RECORD

    def sniff(self, head: bytes) -> Match | None:
        """By nvprof's own messages, or by the header of one of its tables."""
        text = _text(head, _encoding(head))
        if match := _NVPROF_SAYS.search(text):
            return Match(0.9, f"it says {match[0]!r}")
        for line in text.splitlines():
            if match := _NOTHING.match(line):
                return Match(0.6, f"it says {match[0]!r}")
            header = _header_of(line) if len(line) < _MOST_TEXT else None
            if header is not None:
                names = header.layout.names
                what = ", ".join(names[:4])
                certainty = 0.85 if len(names) > _FEW_COLUMNS else 0.5
                return Match(certainty, f"it has the header of a table of nvprof ({what}, …)")
        return None

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        """The rows of a file; see the module."""
        reading = _Reading(report)
        last: _Line | None = None
        with source.open() as stream:
            for last in _lines(stream, _encoding(source.head()), report):
                reading.read(last)
                if reading.pending >= _ROWS_IN_A_BATCH:
                    yield from reading.batches()
        _refuse_nothing(source, reading)
        yield from reading.last_batches()
        _tell_end(reading, stream.damage, last)
        _tell_coarseness(reading)
        _tell_cut_devices(reading)
        kinds = reading.kinds
        report.facts |= {
            "profiler_name": "nvprof",
            "recording_kind": next((k for k in ("timeline", "counters") if k in kinds), "summary"),
            "base_time_ns": None,
            "is_complete": not reading.is_cut and report.is_whole(),
            "metadata_json": _json(_metadata(reading)),
        }


def _metadata(reading: _Reading) -> Row:
    processes = [
        {"process_id": pid, "command": command}
        for pid, command in reading.processes.items()
        if pid is not None or command is not None
    ]
    found: Row = {"processes": processes, "totals": reading.totals}
    found = {key: value for key, value in found.items() if value}
    if reading.is_timed is not None:  # which of its kernels count: queries/view/launch_source.sql
        found["has_times"] = reading.is_timed
    return found


def _refuse_nothing(source: Source, reading: _Reading) -> None:
    """Raise FormatError where a file has nothing to ingest; its text says what it has instead."""
    has_rows = bool(reading.row_count or reading.kernels)
    if has_rows or (reading.totals and not any(map(_NO_KERNELS.match, reading.nothing))):
        return
    if reading.nothing:
        said = " ".join(f"{text.rstrip('.')}." for text in reading.nothing)
        what = f"nvprof says: {said} The program ran nothing on a GPU, or "
        what += "ended before nvprof could write (call cudaDeviceReset or cudaProfilerStop)"
    elif reading.elsewhere is not None:
        what = f"nvprof wrote its results to {reading.elsewhere}, not here: "
        what += "print them with nvprof --import-profile FILE --csv --print-gpu-trace"
    elif reading.table is not None:
        what = f"there is a table's header at byte {reading.table_offset}, but no row under it "
        what += "that tracekit can read: record again, with --print-gpu-trace or --metrics"
    elif reading.processes:
        what = "there are messages of nvprof, but no table: record again, with --log-file"
    else:
        what = "there is no message and no table of nvprof in it"
    told = "; ".join(issue.message for issue in reading.report.issues.values())
    raise FormatError(f"{source.path}: {what}{f' ({told[:2000]})' if told else ''}")


def _tell_end(reading: _Reading, damage: str | None, last: _Line | None) -> None:
    """Say where the file ends too early, or may."""
    severity: Severity = "warning"
    if damage is not None:
        what, severity = f"the content ends too early: its {damage}", "error"
    elif last is not None and not last.is_ended:
        what = "the last line has no line feed: the file may be cut there"
    elif reading.awaits_footnote:
        what = "the footnotes of the trace are missing: its end may be, too"
    else:
        return
    reading.is_cut = True
    reading.report.issue(
        Issue(
            "cut_content",
            severity,
            "recording",
            what,
            "copy the file again, or record again",
            first_offset_bytes=None if last is None else last.offset,
        )
    )


def _tell_coarseness(reading: _Reading) -> None:
    step = reading.coarsest_ns
    if step > 1:
        reading.report.issue(
            Issue(
                "rounded_times",
                "info",
                "recording",
                f"nvprof rounded start times to {step.normalize():f} ns at the coarsest: "
                f"order, gaps "
                "and overlap below that are not real",
                "record with --csv --normalized-time-unit us",
            )
        )


def _tell_cut_devices(reading: _Reading) -> None:
    for text, offset in sorted(reading.cut_devices.items()):
        reading.report.issue(
            Issue(
                "cut_device_name",
                "info",
                "recording",
                f"the device is called {text!r}, cut before its number: device_id is NULL",
                "record with --csv, which has names and numbers in full",
                first_offset_bytes=offset,
            )
        )
