"""Turns lines of a file into rows: nvprof's messages, headers of tables, and their rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tracekit.parser import Batch
from tracekit.parsers.nvprof import regular
from tracekit.parsers.nvprof.found import (
    MOST_KEPT,
    MOST_MESSAGES,
    ROWS_IN_A_BATCH,
    PendingRows,
    Where,
)
from tracekit.parsers.nvprof.issues import (
    BESIDE_A_ROW,
    OTHER,
    TWO_COMMANDS,
    nothing,
    said,
    unread,
)
from tracekit.parsers.nvprof.metrics import metric_row
from tracekit.parsers.nvprof.quantities import UNITS, DamagedRow
from tracekit.parsers.nvprof.sniffing import NOTHING
from tracekit.parsers.nvprof.tables import (
    DEVICE_LINE,
    KERNEL_LINE,
    NOTE,
    ROW_IN_NAME,
    Cells,
    TableLayout,
    header_of,
)
from tracekit.parsers.nvprof.totals import summary_row, unified_row
from tracekit.parsers.nvprof.traces import trace_row
from tracekit.reading.text.lines import TextLine

_MOST_TEXT = 500
# A last line that ends this way is complete, with or without a line feed.
_WHOLE_ENDS = ('"', "]", "%", "B/s")
_MARK = re.compile(r"(?<!=)==(?P<pid>\d{1,18})== |(?<!=)={8} ")
_COMMAND = re.compile(
    r"(?:NVPROF is profiling process (?P<pid>\d+), command|Profiling application): ?(?P<command>.*)"
)
_CHATTER = re.compile(r"(?:Some kernel\(s\) will be replayed|Replaying kernel|Kernel replay) .*")
_SEVERE = re.compile(r"(?P<kind>Warning|Error): ?(?P<text>.*)")
_TITLE = re.compile(r"(?P<title>[A-Z][\w /().-]{2,60}):")
_ELSEWHERE = re.compile(r"Generated result file: ?(?P<file>.*)")
_FOOTNOTE = re.compile(r"(?:Regs|SSMem|DSMem|SrcMemType|DstMemType): ")
_SUM_LINE = re.compile(r"(?P<name>Total [A-Z][\w ]{2,60}): (?P<count>\d{1,18})")
_UNREAD = ("NVTX result", "CPU profiling result", "Dependency Analysis", "System profiling result")


@dataclass(slots=True)
class Reading:
    """Reads one file, with nvprof's messages in it."""

    found: PendingRows
    processes: dict[int | None, str | None] = field(default_factory=dict)
    messages: set[str] = field(default_factory=set)
    nothing: list[str] = field(default_factory=list)
    elsewhere: str | None = None
    awaits_footnote: bool = False
    is_cut: bool = False
    last: TextLine | None = None

    @property
    def where(self) -> Where:
        """The current place in the file."""
        return self.found.where

    def read(self, line: TextLine) -> None:
        """Take one line; nvprof's messages can follow the program's output on it."""
        text = line.text
        mark = _MARK.search(text) if "==" in text else None
        if mark is None:
            self._plain(line, text, is_ended=line.is_ended)
            return
        self._plain(line, text[: mark.start()], is_ended=True)
        self._message(line, mark["pid"], text[mark.end() :].strip())

    def take_line(self, line: TextLine) -> Iterator[Batch]:
        """Read one line; yield the rows so far if they are many."""
        self.last = line
        self.read(line)
        if self.found.pending >= ROWS_IN_A_BATCH:
            yield from self.found.batches()

    def take(self, place: int, text: bytes) -> list[Batch] | None:
        """Take whole lines that begin at `place`, if they are rows that can be read at once."""
        return regular.rows_at_once(self.found, place, text, _has_message)

    def rows_end(self, text: bytes) -> int:
        """Return where the lines that `take` may take end."""
        return regular.rows_end(self.where.table, text)

    def takes_rows(self) -> bool:
        """Return whether the next lines may be rows for `take`."""
        where = self.where
        is_between = where.awaits_units or not where.is_read
        return not is_between and regular.is_for_columns(where.table)

    def _plain(self, line: TextLine, text: str, *, is_ended: bool) -> None:
        if not text.strip():
            return
        if header := header_of(text):
            before = header.before.rstrip()
            if before and not self._place(line, before):
                self.found.tell(OTHER, line)
            self._begin(header.layout, line)
            if header.has_row:
                self.found.tell_damaged(line)
        elif match := NOTHING.search(text):
            self._note_nothing(match[0], line)
        elif self.where.table is None:
            if not self._place(line, text):
                self.found.tell(OTHER, line)
        elif not self._is_about(line, text, self.where.table):
            self._row(line, text.rstrip(), self.where.table, is_ended=is_ended)

    def _begin(self, layout: TableLayout, line: TextLine) -> None:
        self.where.table, self.where.table_offset = layout, line.offset_bytes
        self.where.units, self.where.awaits_units = {}, layout.is_csv
        is_gpu = self.where.title in ("", "Profiling result")
        self.where.type_name = "GPU activities" if is_gpu else self.where.title
        if "type" in layout.keys or (layout.kind == "summary" and self.where.has_summary):
            self.where.type_name = None  # a second one without types has lost its title
        self.where.has_summary |= layout.kind == "summary"
        self.where.kernel, self.where.is_first_of_kernel = None, False
        self.awaits_footnote |= "Regs*" in layout.names

    def _place(self, line: TextLine, text: str) -> bool:
        """Note a line with the device or kernel of the next rows."""
        if match := DEVICE_LINE.fullmatch(text):
            self.where.device = match["device"]
            self.found.device(self.where.device, 0)
            self.where.kernel, self.where.has_summary = None, False
        elif not (match := KERNEL_LINE.fullmatch(text)):
            return False
        if match["kernel"] is not None:
            self.where.kernel = match["kernel"].strip()
            self.where.is_first_of_kernel = True
            if ROW_IN_NAME.search(self.where.kernel):
                self.where.kernel = None
                self.found.tell_damaged(line)
        return True

    def _is_about(self, line: TextLine, text: str, table: TableLayout) -> bool:
        """Take a line of a table that is not a row: units, footnotes, devices."""
        awaited, self.where.awaits_units = self.where.awaits_units, False
        if awaited:
            cells = [cell.strip() for cell in text.split(",")]
            if len(cells) == len(table.keys) and UNITS.issuperset(cells):
                self.where.units = dict(zip(table.keys, cells, strict=True))
                return True
        if _FOOTNOTE.match(text):
            self.awaits_footnote = False
            return True
        if table.kind == "unified" and (match := _SUM_LINE.fullmatch(text)):
            self.found.totals.append({"type": "Unified Memory", **match.groupdict()})
            return True
        return not table.is_csv and self._place(line, text)

    def _message(self, line: TextLine, pid: str | None, text: str) -> None:
        self.where.pid = int(pid) if pid else None
        if len(self.processes) < MOST_KEPT:
            self.processes.setdefault(self.where.pid, None)
        if match := _COMMAND.fullmatch(text):
            self._note_command(line, pid, match)
        elif match := NOTHING.search(text):
            self._note_nothing(match[0], line)
        elif match := _SEVERE.match(text):
            self._tell_message(match["kind"], match["text"][:_MOST_TEXT].rstrip("."), line)
        elif match := _ELSEWHERE.match(text):
            self.elsewhere = match["file"][:_MOST_TEXT]
        elif match := _TITLE.fullmatch(text):
            self._section(match["title"], line)
        elif not _CHATTER.fullmatch(text):
            self.found.tell(OTHER, line)

    def _note_command(self, line: TextLine, pid: str | None, match: re.Match[str]) -> None:
        """Note the command of a process, which nvprof prints twice."""
        known, command = self.processes.get(self.where.pid), match["command"]
        if known not in (None, command) or match["pid"] not in (None, pid):
            self.found.tell(TWO_COMMANDS, line)
        if self.where.pid in self.processes:
            self.processes[self.where.pid] = command

    def _section(self, title: str, line: TextLine) -> None:
        self.where.title = title
        self.where.table, self.where.has_summary = None, False
        self.where.is_read = not title.startswith(_UNREAD)
        if title == "Profiling result":  # its kernels belong to no other run
            self.found.close_all()
            self.where.device, self.where.kernel = "", None
        if not self.where.is_read:
            self.found.tell(unread(self.where.title, 0), line)

    def _tell_message(self, kind: str, text: str, line: TextLine) -> None:
        if len(self.messages) >= MOST_MESSAGES and text not in self.messages:
            text = "(further messages)"
        self.messages.add(text)
        self.found.tell(said(kind, text), line)

    def _note_nothing(self, text: str, line: TextLine) -> None:
        if text not in self.nothing:
            self.nothing.append(text)
        self.found.tell(nothing(text), line)

    def _row(self, line: TextLine, text: str, table: TableLayout, *, is_ended: bool) -> None:
        try:
            cells = table.cells(text)
            if cells is None:
                self.found.tell(OTHER, line)
                return
            if cells.pop(NOTE, None):
                self.found.tell(BESIDE_A_ROW, line)
            if not is_ended and not text.endswith(_WHOLE_ENDS):
                self.is_cut = True
                raise DamagedRow
            if not self.where.is_read or table.kind == "cpu":
                self.found.tell(unread(self.where.title, 1), line)
                self.found.report.event_count += 1
                return
            self._take(line, cells, table)
        except DamagedRow:
            self.found.tell_damaged(line)
            if "type" in table.keys and not text.startswith(" " * 20):
                self.where.type_name = None  # the line may have begun rows of another type

    def _take(self, line: TextLine, cells: Cells, table: TableLayout) -> None:
        if table.kind == "trace":
            trace_row(self.found, line, cells, table)
        elif table.kind == "metrics":
            metric_row(self.found, line, cells)
        elif table.kind == "summary":
            summary_row(self.found, line, cells)
        else:
            unified_row(self.found, line, cells)


def _has_message(text: str) -> bool:
    """Return whether a message of nvprof is in a text."""
    return bool(NOTHING.search(text) or ("==" in text and _MARK.search(text)))
