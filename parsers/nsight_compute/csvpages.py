"""The CSV pages: details (one row per metric or rule), raw (one per launch, and one of units)."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter

import pyarrow.compute as pc

from tracekit.parser import Report
from tracekit.parsers.nsight_compute.assemble import Assembler, Rule, Sink, Spread
from tracekit.parsers.nsight_compute.detail_blocks import DetailBlock, DetailLayout
from tracekit.parsers.nsight_compute.launches import (
    Launch,
    args_json,
    capability_of,
    number,
    sizes,
)
from tracekit.parsers.nsight_compute.metrics import section_name
from tracekit.parsers.nsight_compute.regular import launches_of
from tracekit.parsers.nsight_compute.sniffing import HEADER, SUMMARY
from tracekit.reading.issues import skip_damaged_row
from tracekit.reading.text.quoted_rows import QuotedRows, quoted_rows

_NVTX = ("PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg", "Push/Pop_Range", "Start/Stop_Range")
#: Without the label if only section headers were exported.
_DETAIL_COLUMNS = ("Section Name", "Body Item Label", "Metric Name", "Metric Unit", "Metric Value")
_RULE_COLUMNS = (
    "Section Name",
    "Rule Name",
    "Rule Type",
    "Rule Description",
    "Estimated Speedup Type",
    "Estimated Speedup",
)
_MEAN, _LEAST, _MOST = "Average", "Minimum", "Maximum"
OTHER_ARGS = ("Process Name", "Host Name", "Kernel Time")
_LAUNCH_CELLS = (
    "Kernel Name",
    "ID",
    "Process ID",
    "Context",
    "Stream",
    "Device",
    "Grid Size",
    "Block Size",
    "CC",
    "Invocations",
)
#: Columns that identify the launch of a row; the NVTX ones are recognized by their ends.
_LAUNCH_COLUMNS = (*_LAUNCH_CELLS, *OTHER_ARGS)

_CELLS_BEFORE = re.compile(rb' *(?:(?:"[^"]*")?[,;\t])+')
_ROW = re.compile(rb'"\d{1,12}","\d{1,12}",')
_NUMBER = r"^[0-9]{1,12}$"  # as in _ROW
_SUMMARY_ROW = re.compile(rb'(?<![,"])"\d{1,12}","')
#: A table of the devices of the machine, among the rows of ``--print-details all``.
_GPUS = re.compile(rb'"GPU ID","GPU Name",')
_GPU = re.compile(rb'"(\d{1,6})","([^"]{1,200})",')
_NO_LINKS = b"The system does not have any NVLink connections."
_REST = re.compile(rb'"')
_UNITS = re.compile(rb'(?:"",){3}')
_PLAIN_ROW = re.compile(rb'"?\d*(?:\.0+)?"?[,;\t]')
_QUOTED_ROW = re.compile(rb'(?:"[^"]*(?:""[^"]*)*"(?:,|$))*(?:"[^"]*(?:""[^"]*)*")?,?')
_MOST_OPEN_BYTES = 1 << 20
_MOST_OPEN_LINES = 200
_MOST_SEEN = 1 << 20
#: What a line of a text page may begin with or have in it, and one of another CSV page.
_IN_A_PAGE = re.compile(rb'^(?:  |[\t"[])|, Context ')
_MOST_HELD_BYTES = 16 << 20
_NO_KEY = -1

csv.field_size_limit(1 << 26)


@dataclass(frozen=True, slots=True)
class _Header:
    """The columns of a page by name, and whether cells are quoted."""

    places: dict[str, int]
    nvtx: tuple[str, ...]
    metrics: tuple[tuple[str, int], ...]
    delimiter: str
    is_quoted: bool  # as ncu writes it
    width: int
    launch_places: tuple[int, ...]

    @property
    def arg_names(self) -> tuple[str, ...]:
        """The columns of the launch that are kept as its arguments."""
        return (*OTHER_ARGS, *self.nvtx)

    @property
    def is_long(self) -> bool:
        return "Metric Name" in self.places

    @property
    def is_summary(self) -> bool:
        return _MEAN in self.places

    @property
    def row(self) -> re.Pattern[bytes]:
        """How a row begins if cells are quoted."""
        return _SUMMARY_ROW if self.is_summary else _ROW

    @property
    def first_metric(self) -> int:
        """Where the metrics of a raw page begin if they come last, as ncu writes it, or 0."""
        places = [place for _, place in self.metrics]
        first = self.width - len(places)
        is_plain = self.is_quoted and places == list(range(first, self.width))
        return first if is_plain and "ID" in self.places else 0

    def pick(self, cells: Sequence[str]) -> Sequence[str]:
        """Return the arguments of `_launch` from a row with an empty cell after it."""
        return [cells[place] for place in self.launch_places]

    @property
    def is_in_order(self) -> bool:
        """Whether the columns of a metric follow each other, after those of the launch."""
        order = [self.places[name] for name in self.details]
        names = (*_LAUNCH_COLUMNS, *self.nvtx)
        launch = [at for name, at in self.places.items() if name in names]
        is_whole = {"Section Name", "Metric Unit", "Metric Value"} <= set(self.details)
        return is_whole and order == list(range(max(launch) + 1, max(launch) + 1 + len(order)))

    @property
    def layout(self) -> DetailLayout | None:
        """How rows of the details page are read at once; None if they cannot be."""
        if not (self.is_quoted and self.is_long and not self.is_summary and self.is_in_order):
            return None
        names = (*_LAUNCH_COLUMNS, *self.nvtx)
        first = self.places["Section Name"]
        if sorted(self.places[name] for name in names if name in self.places) != [*range(first)]:
            return None
        return DetailLayout(
            first,
            len(self.details) - 1,
            self.width,
            self.launch_places,
            self.arg_names,
            [self.places.get(name, -1) for name in names],
        )

    @property
    def details(self) -> list[str]:
        """The columns of a metric that the page has."""
        return [name for name in _DETAIL_COLUMNS if name in self.places]


@dataclass(slots=True)
class CsvPage:
    """Reads lines that look like CSV; other text on them goes to `on_text`."""

    sink: Sink
    report: Report
    on_text: Callable[[int, bytes], None]
    header: _Header | None = None
    is_last_line: bool = False  # the current line, which has no line feed
    pages: set[str] = field(default_factory=set)  # details, raw: those whose header was found
    units: Sequence[str] | None = None
    _open: list[bytes] = field(default_factory=list)
    _open_at: int = 0
    _cells: list[str] = field(default_factory=list)  # of a row that continues in the next line
    _cells_at: tuple[int, int] = (0, 0)  # where they begin, and how many bytes they have
    _current: tuple[str, ...] | None = None
    _seen: set[int] = field(default_factory=set)  # hashes of launches
    _prefix: bytes = b"\0"  # no line begins so
    _keys: dict[bytes, int] = field(default_factory=dict)
    _row_keys: Sequence[int] = ()
    _first_metric: int = 0  # of a raw page whose rows can be split at once; else 0
    _generation: int = 0
    _has_gpus: bool = False  # rows of the table of devices may follow

    def begin_block(self) -> None:
        """Forget numbers of metrics that are no longer valid."""
        if self._generation != self.sink.generation:
            self._generation = self.sink.generation
            self._keys.clear()
            self._row_keys = ()

    def feed_rows(self, place: int, lines: Sequence[bytes]) -> bool:
        """Take rows of the raw page at once; False if they must be read one by one."""
        sink, header = self.sink, self.header
        if self._open or not self._first_metric or not self._row_keys or self.is_last_line:
            return False
        if header is None or not isinstance(sink, Assembler):
            return False
        rows = quoted_rows(place, lines, header.width, self._first_metric)
        if rows is None or (rows.has_quotes and not _begin_as_rows(rows, lines)):
            return False
        launches = launches_of(rows, header.launch_places, header.arg_names)
        if launches is None or not sink.add_rows(launches, self._row_keys, rows):
            return False
        self._has_gpus &= not rows.has_quotes  # as after `feed`, which reads these one by one
        return True

    def size_of_current(self, text: bytes) -> int:
        """Return the size of the rows at the start of `text` that continue the current launch."""
        at = 0
        while text.startswith(self._prefix, at):
            at = text.index(b"\n", at) + 1
        return at

    def feed_details(
        self, place: int, text: bytes, feed: Callable[[int, bytes], None]
    ) -> int | None:
        """Take launches of the details page at once; None if lines must be read one by one.

        Return the size of what was taken: the last launch may continue. Lines that are no rows go
        to `feed`.
        """
        sink, header = self.sink, self.header
        if header is None or self._open or not isinstance(sink, Assembler):
            return None
        layout = header.layout
        block = DetailBlock.of(place, text, layout) if layout else None
        if block is None or block.has("Process ID"):  # as a header has
            return None
        if not (names := block.names):
            return 0 if len(text) < _MOST_HELD_BYTES else None
        others = [(start, end) for start, end in block.rows.other_lines if start < block.end]
        rules, launches = self._rules_of(block), block.launches()
        if names[0] == self._current or rules is None or launches is None:
            return None
        if not self._are_no_rows(text, others):
            return None
        cells = block.cells(launches, self._key_of)
        if _NO_KEY in cells.metric or not sink.add_details(cells, rules):
            return None
        for start, name in zip(launches.event_ids.tolist(), names, strict=True):
            self._look_for_repeat(start, hash(name))
        self._current, self._prefix = names[-1], b"\0"
        for start, end in others:
            feed(place + start, text[start:end].rstrip(b"\r"))
        return block.end

    def _key_of(self, head: bytes) -> int:
        """Return the number of a metric by its cells; _NO_KEY if they are those of none."""
        assert self.header is not None
        if (known := self._keys.get(head)) is not None:
            return known
        names = self.header.details[:-1]
        get = dict(zip(names, head.decode().split('","'), strict=True)).get
        if not (label := get("Metric Name", "")):
            return _NO_KEY
        section = section_name(get("Section Name", ""))
        unit, item = get("Metric Unit", ""), get("Body Item Label", "")
        key = self._keys[head] = self.sink.key(section, label, unit, item)
        return key

    def _rules_of(self, block: DetailBlock) -> list[tuple[int, Rule]] | None:
        """Return the advice in the rows of other cells; None if one of them is something else."""
        assert self.header is not None
        found, width = list[tuple[int, Rule]](), block.rest_width
        names = ("Metric Name", *_RULE_COLUMNS)
        places = [self.header.places.get(name, -1) for name in names]
        pick = itemgetter(
            *(place - self.header.width + width if place > 0 else -1 for place in places)
        )
        for launch, place, cells in block.other_rows():
            if len(cells) not in (width, width + 1):
                return None
            label, *says = pick([*cells, ""])
            if label or not _is_rule(says):
                return None
            found.append((launch, _rule(place + (place == launch), says)))
        return found

    def _are_no_rows(self, text: bytes, lines: Sequence[tuple[int, int]]) -> bool:
        """Return whether lines between rows are of devices, or of no page."""
        assert self.header is not None
        table_end = -1  # of devices
        for start, end in lines:
            line = text[start:end]
            if _GPUS.match(line) or (start == table_end and _GPU.match(line)):
                table_end = end + 1
            elif line.strip() != _NO_LINKS and (
                _IN_A_PAGE.search(line) or self.header.row.search(line)
            ):
                return False
        return True

    def feed_fast(self, place: int, line: bytes) -> bool:
        """Take a row that looks like those before it; False if it does not."""
        if self._open:
            return False
        if self._first_metric and self._row_keys:
            return self._feed_wide_fast(place, line)
        if not line.startswith(self._prefix):
            return False
        if line.endswith(b'",'):
            tail = line[len(self._prefix) : -2]
        elif line.endswith(b'"'):
            tail = line[len(self._prefix) : -1]
        else:
            return False
        head, _, value = tail.rpartition(b'","')
        key = self._keys.get(head)
        if key is None or b'"' in value:
            return False
        self.sink.add((key,), (value.decode("utf-8", "replace"),))
        return True

    def _feed_wide_fast(self, place: int, line: bytes) -> bool:
        """Take a row of the raw page that has no quote within a cell."""
        header = self.header
        assert header is not None
        if line.count(b'"') != 2 * header.width or not (line[:1] == line[-1:] == b'"'):
            return False
        cells = line[1:-1].decode("utf-8", "replace").split('","')
        if len(cells) != header.width or not cells[header.places["ID"]].isdigit():
            return False
        metrics = cells[self._first_metric :]
        cells.append("")  # the value of a missing column
        self.sink.begin(_launch(place, header.pick(cells), header.arg_names))
        self.sink.add(self._row_keys, metrics)
        return True

    def feed(self, place: int, line: bytes) -> bool:
        """Take a line that is CSV or continues a row; return False if it is something else."""
        if self._open:
            return self._feed_open(place, line)
        if self._feed_header(place, line):
            return True
        if self.header is None:
            return False
        if not self.header.is_quoted:
            return self._feed_plain(place, line)
        if self._feed_devices(line):
            return True
        row = self.header.row.search(line) or self._unit_row(line) or self._rest_of_row(line)
        if row is None:
            return self._is_cut_row(place, line)
        self._take_text(place, line[: row.start()])
        self._feed_row(place + row.start(), line[row.start() :])
        return True

    def _feed_devices(self, line: bytes) -> bool:
        """Take a line of the table of devices, for their names."""
        assert self.header is not None
        is_due = self._has_gpus and not self.header.row.match(line)
        device = _GPU.match(line) if is_due else None
        self._has_gpus = bool(device or _GPUS.match(line))
        if device:
            self.sink.name_device(int(device[1]), device[2].decode("utf-8", "replace"))
        return self._has_gpus or line.strip() == _NO_LINKS

    def _is_cut_row(self, place: int, line: bytes) -> bool:
        """Return whether the file ends after the first few bytes of a row."""
        if not (self.is_last_line and line.startswith(b'"')):
            return False
        self._skip_damaged(place, len(line), "is truncated")
        return True

    def _unit_row(self, line: bytes) -> re.Match[bytes] | None:
        assert self.header is not None
        is_due = not self.header.is_long and self.units is None
        return _UNITS.search(line) if is_due else None

    def _rest_of_row(self, line: bytes) -> re.Match[bytes] | None:
        """Match the rest of a row of a summary that ncu broke off in the middle."""
        return _REST.match(line) if self._cells else None

    def finish(self) -> None:
        """Handle the end of input: an open row was truncated."""
        self._give_up()
        self._give_up_cells()

    # -- rows over several lines ----------------------------------------------------------------

    def _feed_open(self, place: int, line: bytes) -> bool:
        assert self.header is not None
        if self.header.row.match(line) or HEADER.match(line) or self._is_too_long():
            self._give_up()
            return self.feed(place, line)
        self._open.append(line)
        whole = b"\n".join(self._open)
        if whole.count(b'"') % 2 == 0:
            self._open = []
            self._feed_whole(self._open_at, whole)
        return True

    def _give_up(self) -> None:
        """Treat the open row as truncated, and read its continuation lines on their own."""
        if not self._open:
            return
        place, lines, self._open = self._open_at, self._open, []
        self._skip_damaged(place, len(lines[0]), "is truncated")
        for line in lines:
            if line is not lines[0] or b"==" in line:  # the row itself is reported
                self._take_text(place, line)
            place += len(line) + 1

    def _is_too_long(self) -> bool:
        return len(self._open) > _MOST_OPEN_LINES or sum(map(len, self._open)) > _MOST_OPEN_BYTES

    def _feed_row(self, place: int, line: bytes) -> None:
        if line.count(b'"') % 2:
            self._open, self._open_at = [line], place
        else:
            self._feed_whole(place, line)

    def _feed_plain(self, place: int, line: bytes) -> bool:
        """Take a line of a page without quotes: another program rewrote it."""
        if not _PLAIN_ROW.match(line):
            return False
        if self.is_last_line and not self._has_all_cells(line):
            self._skip_damaged(place, len(line), "is truncated")
            return True
        if self.is_last_line:
            self.report.tell(
                "cut_row",
                "warning",
                "recording",
                "the last row has no line feed: it may be truncated",
                "its last value may lack digits; get a new copy of the file",
                first_offset_bytes=place,
            )
        self._feed_row(place, line)
        return True

    def _has_all_cells(self, line: bytes) -> bool:
        """Return whether a row has all cells of its page, and something in the last."""
        assert self.header is not None
        text = line.decode("utf-8", "replace")
        cells = next(csv.reader([text], delimiter=self.header.delimiter), [])
        return len(cells) == self.header.width and bool(cells[-1].strip())

    def _feed_whole(self, place: int, row: bytes) -> None:
        assert self.header is not None
        if self.header.is_quoted:
            match = _QUOTED_ROW.match(row)
            end = match.end() if match else 0
            self._take_text(place + end, row[end:])
            row = row[:end]
        # of quoted cells: a comma at the end begins none
        text = row.removesuffix(b",") if self.header.is_quoted else row
        cells = _split(text, self.header.delimiter)
        if self.header.is_summary:
            self._summary_cells(place, cells, row)
        elif self.header.is_long:
            self._long_row(place, cells, row)
        else:
            self._wide_row(place, cells, row)

    # -- summaries: ncu ends lines of some sections after the fifth cell of a row ----------------

    def _summary_cells(self, place: int, cells: list[str], row: bytes) -> None:
        """Take rows of as many cells as there are columns, even across line ends."""
        assert self.header is not None
        if self._cells and self.header.row.match(row):
            self._give_up_cells()
        if not self._cells:
            self._cells_at = place, 0
        self._cells += cells
        self._cells_at = self._cells_at[0], self._cells_at[1] + len(row)
        width, first = self.header.width, self.header.places["Metric Name"]
        while len(self._cells) >= width:
            whole = self._cells[:width]
            get = self._getter(whole)
            if number(get("Process ID")) is None or number(get("Invocations")) is None:
                self._give_up_cells()
                return
            if whole[first:] == whole[: width - first]:  # the next row begins there
                self._tell_no_metric(self._cells_at[0])
                self._cells = self._cells[first:]
            else:
                self._long_row(self._cells_at[0], whole, row)
                self._cells = self._cells[width:]
            self._cells_at = place + len(row), 0

    def _give_up_cells(self) -> None:
        """Skip the current cells: they are not a whole row."""
        if self._cells:
            assert self.header is not None
            is_short = len(self._cells) < self.header.width
            what = f"has {len(self._cells)} cells" if is_short else "has cells of other columns"
            self._skip_damaged(*self._cells_at, what)
            self._cells = []

    def _take_text(self, place: int, text: bytes) -> None:
        if text.strip():
            self.on_text(place, text)

    # -- headers --------------------------------------------------------------------------------

    def _feed_header(self, place: int, line: bytes) -> bool:
        if b"Process ID" not in line:
            return False
        match = HEADER.search(line) or SUMMARY.search(line)
        if match is None:
            return False
        start = 0 if _has_cells_before(line, match.start()) else match.start()
        header = _header(line[start:].lstrip(), match[1].decode())
        if header is None:
            return False
        before = line[:start]
        if header.is_quoted and line[start:].count(b'"') % 2:
            self._tell_cut_header(place + start)
        if row := self.header.row.search(before) if self.header is not None else None:
            self._skip_damaged(place + row.start(), len(before) - row.start(), "is truncated")
        self._take_text(place, before)
        self._give_up_cells()
        self.header = header
        self.pages.add("summary" if header.is_summary else "details" if header.is_long else "raw")
        self.units, self._current, self._row_keys = None, None, ()
        self._prefix, self._first_metric = b"\0", header.first_metric
        self._keys.clear()
        return True

    # -- the details page -----------------------------------------------------------------------

    def _long_row(self, place: int, cells: list[str], row: bytes) -> None:
        header = self.header
        assert header is not None
        get = self._getter(cells)
        label = get("Metric Name")
        if not self._is_whole(cells):
            self._skip_damaged(place, len(row), f"has {len(cells)} cells")
            return
        is_first = self._begin_long(place, cells, row)
        says = [get(name) for name in _RULE_COLUMNS]
        if _is_rule(says):
            self.sink.rule(_rule(place + is_first, says))
        elif label:
            section = section_name(get("Section Name"))
            key = self.sink.key(section, label, get("Metric Unit"), get("Body Item Label"))
            if header.is_summary:
                self.sink.add((key,), (get(_MEAN),), Spread(get(_LEAST), get(_MOST)))
            else:
                self.sink.add((key,), (get("Metric Value"),))
                self._remember(row, get, key)

    def _is_whole(self, cells: Sequence[str]) -> bool:
        """Return whether a row of the details page has all cells."""
        header = self.header
        assert header is not None
        last = max(
            header.places[name] for name in (*header.details, _MEAN) if name in header.places
        )
        label = self._getter(cells)("Metric Name")
        least = last if label else header.width - 1  # metric rows end before the rule's columns
        return least < len(cells) <= header.width + 1

    def _launch_at(self, place: int, get: Callable[[str], str]) -> Launch:
        assert self.header is not None
        names = self.header.arg_names
        return _launch(place, [get(name) for name in (*_LAUNCH_CELLS, *names)], names)

    def _getter(self, cells: Sequence[str]) -> Callable[[str], str]:
        assert self.header is not None
        places = self.header.places

        def get(name: str) -> str:
            place = places.get(name)
            return "" if place is None or place >= len(cells) else cells[place]

        return get

    def _begin_long(self, place: int, cells: Sequence[str], row: bytes) -> bool:
        """Return whether the row is the first of a launch."""
        assert self.header is not None
        names = [*_LAUNCH_COLUMNS, *self.header.nvtx]
        get = self._getter(cells)
        current = tuple(get(name) for name in names)
        if current == self._current:
            return False
        self._current = current
        self._look_for_repeat(place, hash(current))
        self.sink.begin(self._launch_at(place, get))
        self._prefix = b"\0"
        if self.header.is_in_order and self.header.is_quoted:
            self._prefix = _prefix(row, self.header.places["Section Name"])
        return True

    def _look_for_repeat(self, place: int, launch: int) -> None:
        """Report rows of a launch that are not adjacent; ncu writes them adjacent."""
        if launch in self._seen:
            self.report.tell(
                "split_launch",
                "warning",
                "import",
                "rows of one launch are not adjacent: each part counts as a separate launch",
                "export the report again; if another program sorted the rows, sort them by ID",
                first_offset_bytes=place,
            )
        if len(self._seen) < _MOST_SEEN:
            self._seen.add(launch)

    def _remember(self, row: bytes, get: Callable[[str], str], key: int) -> None:
        """Let rows like this one take the fast path."""
        if not row.startswith(self._prefix) or self.header is None:
            return
        texts = [get(name) for name in self.header.details[:-1]]
        if not any('"' in text for text in texts):
            self._keys['","'.join(texts).encode()] = key

    # -- the raw page ---------------------------------------------------------------------------

    def _wide_row(self, place: int, cells: list[str], row: bytes) -> None:
        header = self.header
        assert header is not None
        if len(cells) not in (header.width, header.width + 1):
            self._skip_damaged(place, len(row), f"has {len(cells)} cells, not {header.width}")
            return
        get = self._getter(cells)
        if not get("ID") and not get("Kernel Name"):
            if self.units is None:
                self.units = [cells[at] for _, at in header.metrics]
            return
        if self.units is None:
            self._tell_no_units(place)
            self.units = [""] * len(header.metrics)
        if not self._row_keys:
            pairs = zip(header.metrics, self.units, strict=True)
            self._row_keys = [self.sink.key(None, name, unit) for (name, _), unit in pairs]
        self.sink.begin(self._launch_at(place, get))
        self.sink.add(self._row_keys, [cells[at] for _, at in header.metrics])

    # -- what to tell ---------------------------------------------------------------------------

    def _tell_no_units(self, place: int) -> None:
        self.report.tell(
            "no_units",
            "warning",
            "recording",
            "the row of units below the header is missing",
            "times and bytes are not computed; export again with --page raw --csv",
            first_offset_bytes=place,
        )

    def _tell_cut_header(self, place: int) -> None:
        self.report.tell(
            "damaged_row",
            "error",
            "recording",
            "the header of a page is truncated",
            "counters after that are missing; export the report again",
            first_offset_bytes=place,
        )

    def _tell_no_metric(self, place: int) -> None:
        self.report.tell(
            "no_metric",
            "info",
            "recording",
            "a summary row ends before its metric",
            "ncu writes such rows if it has no value; nothing else is missing",
            first_offset_bytes=place,
        )

    def _skip_damaged(self, place: int, length: int, what: str) -> None:
        advice = "it was skipped; export the report again"
        skip_damaged_row(self.report, f"a row of the table {what}", advice, place, length)


def _begin_as_rows(rows: QuotedRows, lines: Sequence[bytes]) -> bool:
    """Return whether `CsvPage.feed` sees no more than a row in each line."""
    if b"Process ID" in b"\n".join(lines):
        return False
    numbers = (pc.match_substring_regex(rows.column(place), _NUMBER) for place in (0, 1))
    return all(pc.all(are_numbers).as_py() for are_numbers in numbers)


def _split(text: bytes, delimiter: str) -> list[str]:
    """Return the cells of a row; none if it is not CSV."""
    try:
        return next(csv.reader([text.decode("utf-8", "replace")], delimiter=delimiter), [])
    except csv.Error:
        return []


def _has_cells_before(line: bytes, start: int) -> bool:
    """Return whether the text before the column ID is columns, such as row numbers of pandas.

    It can also be the program's output, but not in a file written without quotes.
    """
    before = line[:start]
    if line[start : start + 1] == b'"':
        return bool(_CELLS_BEFORE.fullmatch(before))
    return before.endswith((b",", b";", b"\t"))


def _header(line: bytes, delimiter: str) -> _Header | None:
    """Return the columns of a page; None if the line is not a header."""
    is_quoted = line.startswith(b'"') and delimiter == ","
    if is_quoted and (match := _QUOTED_ROW.match(line)):
        line = line[: match.end()]
    names = [name.strip() for name in _split(line, delimiter)]
    if "Kernel Name" not in names:
        return None
    places: dict[str, int] = {}
    nvtx, metrics = [], []
    is_long = "Metric Name" in names
    for place, name in enumerate(names):
        is_nvtx = name.endswith(_NVTX[0]) or any(part in name for part in _NVTX[1:])
        if name in _LAUNCH_COLUMNS or is_nvtx or is_long:
            places.setdefault(name, place)
            nvtx += [name] if is_nvtx else []
        elif name:
            metrics.append((name, place))
    wanted = (*_LAUNCH_CELLS, *OTHER_ARGS, *nvtx)
    return _Header(
        places,
        tuple(nvtx),
        tuple(metrics),
        delimiter,
        is_quoted,
        len(names),
        tuple(places.get(name, len(names)) for name in wanted),
    )


def _prefix(row: bytes, column: int) -> bytes:
    """Return a quoted row up to its `column`-th cell, including the quote."""
    place = 0
    for _ in range(column):
        place += 1
        while True:
            place = row.index(b'"', place) + 1
            if row[place : place + 1] != b'"':
                break
            place += 1
        place += 1
    return row[: place + 1]


def _launch(place: int, cells: Sequence[str], arg_names: tuple[str, ...]) -> Launch:
    """Return a launch from the cells of _LAUNCH_CELLS, then those of `arg_names`."""
    name, index, process, context, stream, device, grid, block, capability, count = cells[:10]
    return Launch(
        place,
        name or None,
        number(index),
        number(count) or 1,
        number(process),
        number(context),
        number(stream),
        number(device),
        sizes(grid),
        sizes(block),
        capability_of(capability),
        args_json(arg_names, tuple(cells[10:])),
    )


def _is_rule(says: Sequence[str]) -> bool:
    """Return whether a row of the details page is advice, by its cells of _RULE_COLUMNS."""
    return any(says[1:4])


def _rule(place: int, says: Sequence[str]) -> Rule:
    """Return the advice in the cells of _RULE_COLUMNS."""
    section, name, kind, message, speedup_kind, speedup = says
    return Rule(
        place,
        section_name(section),
        name or None,
        kind or None,
        message.strip() or None,
        speedup_kind or None,
        percent(speedup),
    )


@lru_cache(maxsize=4096)
def percent(text: str) -> float | None:
    """Return a percentage as a ratio; some locales have a decimal comma."""
    match = re.fullmatch(r"(\d{1,9})(?:[.,](\d{1,9}))?%?", text.strip())
    return float(f"{match[1]}.{match[2] or 0}e-2") if match else None
