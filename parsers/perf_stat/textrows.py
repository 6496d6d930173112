"""The text that `perf stat` prints: blocks with a title and a footer, and lines of intervals.

Layout: tools/perf/util/stat-display.c (builtin-stat.c before Linux 4.18). A line of a block is
``value [unit] event [cgroup]  # metric  ( +- error% )  (share%)``, optionally preceded by a time
and a scope.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tracekit.parser import Report
from tracekit.parsers.perf_stat.assemble import ALWAYS, NEVER, CounterSeries, CounterSink
from tracekit.parsers.perf_stat.cells import small
from tracekit.parsers.perf_stat.known import LineReader
from tracekit.parsers.perf_stat.layouts import PLAIN, FieldCell, FieldLayout, Form
from tracekit.parsers.perf_stat.measurements import Measurements
from tracekit.parsers.perf_stat.metrics import metric_series
from tracekit.parsers.perf_stat.names import is_known, is_metric_name, named
from tracekit.parsers.perf_stat.scopes import THREAD, UNIT
from tracekit.parsers.perf_stat.sniffing import INTERVALS, TABLE, TITLE, split_names
from tracekit.parsers.perf_stat.units import KNOWN_UNITS, event_scale, metric_of, says_its_unit
from tracekit.spelling import spelling_of

_SPACES = "\u00a0\u202f\u2009\ufffd"
_DIGITS = rf"\d(?:[\d.,'\u2019{_SPACES}]*\d)?(?:[eE][+-]?\d+)?"
_GROUPS = r"\d{1,3}(?: \d{3})+(?:[.,]\d+)?"  # thousands separated by blanks
_SIGNED = rf"[+-]?{_DIGITS}"

_WHOLE_TITLE = re.compile(
    r"\s*Performance counter stats for (process id |thread id )?'(.*)'(?: \((\d{1,9}) runs\))?:\s*",
    re.DOTALL,
)
_MOST_TITLE = 1 << 16
_MOST_LINE = 2048
_TABLE_SCOPES = re.compile(r"(?:(?:socket|die|cluster|cache|core|node)\s+cpus|cpu|CPU|comm-pid)\b")
_FOOTER = re.compile(
    rf"\s*({_DIGITS})(?:\s+\+-\s+({_DIGITS}))?\s+seconds\s+(time\s+elapsed|user|sys)"
    rf"(?:\s+\(\s*\+-\s*({_DIGITS}|nan)%\s*\))?\s*"
)
_ERROR = re.compile(r"\(\s*\+-\s*([\d.,]+|-?nan|inf)% ?\)\s*$")
_SHARE = re.compile(r"[(\[]\s*([\d.,]+|-?nan)%[)\]]\s*$")
_HASH = re.compile(r"\s#\s|\s#$")
_ROW = re.compile(
    rf"\s*(?:(?P<time>\d{{1,9}}\.\d{{9}})[ \t]+)?"
    rf"(?:(?P<scope>{UNIT}|{THREAD})[ \t]+(?:(?P<cpus>\d+)[ \t]+(?=[+\-\d<]))?)??"
    rf"(?P<value><not counted>|<not supported>|{_GROUPS}|{_SIGNED}|-?nan)"
    rf"(?P<gap>[ \t]+)(?P<rest>[A-Za-z_%].*)"
)
_MORE = re.compile(
    rf"\s*(?:(?P<time>\d{{1,9}}\.\d{{9}})(?:\s+|$))?"
    rf"(?:(?P<scope>{UNIT}|{THREAD})(?:\s+(?P<cpus>\d+))?\s*)??"
    rf"(?:(?P<group>[A-Za-z]\S*(?: \(\w+\))?)\s*)?"
)
_CELL = r"[+-]?[\d.,]+%?|-?nan%?|\(null\)"
_VALUES = re.compile(
    rf"\s*(?:(?P<time>\d{{1,9}}\.\d{{9}})[ \t]+)?"
    rf"(?:(?P<scope>{UNIT}|{THREAD})[ \t]+(?:(?P<cpus>\d+)[ \t]+(?=[+\-\d(]))?)??"
    rf"(?P<values>(?:{_CELL})(?:[ \t]+(?:{_CELL}))*)?\s*"
)
_METRIC = re.compile(rf"\s*({_SIGNED}|-?nan|-?inf)(%)?(?:\s+(%)?\s*(\S.*?)\s*|\s*)")
#: The rest of a truncated metric: nothing, or a number up to its decimals.
_STUMP = re.compile(rf"\s*(?:{_SIGNED}[.,])?\s*")
#: Lines without a word, or with a count, are not names of columns.
_NO_HEADER = re.compile(r"\d{3}|[#<]|^\s*\d|^(?!.*[A-Za-z]{2})")
_EVENT = re.compile(r"[A-Za-z_%][^\x00-\x1f\s]*")
_WORDS = re.compile(r"raw 0x[0-9a-f]+(?::\w+)?|unknown tracepoint|unknown attr type: \d+")
#: Two blanks, and after them a digit: no metric has such a name.
_JOINED = re.compile(r"\s{2,}(?:\S+\s+)*?(?:[\d<]|CPU\d|S\d)")
_SHOWN = 80
_NO_UNIT = 6  # blanks between a value and an event if there is no unit
_REPEATS = re.compile(r"\s*# (?:Table of individual measurements|Final result):\s*")
_REPEAT = re.compile(rf"\s*{_DIGITS} \([+-]{_DIGITS}\) #*\s*")
_HINTS = re.compile(
    r"Some events weren't counted\. Try disabling the NMI watchdog:|"
    r"\s*echo [01] > /proc/sys/kernel/nmi_watchdog|\s*perf stat \.\.\.|"
    r"The events in group usually have to be from.*|the same PMU\. Try reorganizing the group\."
)
_NAMES_GAP = re.compile(r" {2,}")
_COLUMN = 20  # METRIC_ONLY_LEN
_MAX_WAYS = 64
_KINDS = {"process id ": "process", "thread id ": "thread"}
#: Where a separate number is removed from a line, without the blanks before it.
_CUT = rf"(^|[ (]) *({PLAIN}|<not counted>|<not supported>)(%|[ )]|$)"
_MARK = "\x1f"
_MARKED = rf"\1{_MARK}\2{_MARK}\3"
_ASCII_CUT = re.compile(_CUT, re.ASCII)


@dataclass(frozen=True, slots=True)
class _Tail:
    """The rest of a line after its event."""

    notes: tuple[str, ...]
    error: str | None
    share: str | None


class TextReader(LineReader):
    """Reads the lines of blocks and intervals; unknown lines are left to other readers."""

    def __init__(self, sink: CounterSink, measurements: Measurements, report: Report) -> None:
        super().__init__(sink, measurements, report, _fields, is_text=True)
        self._title: str | None = None
        self.is_in_block = False  # its footer is still to come
        self._is_after_footer = False
        self._has_repeats = False
        self._heads = ""  # the header of a table of metrics only

    @property
    def is_plain(self) -> bool:
        """Whether a line has the same meaning anywhere."""
        return self._title is None and not self._has_repeats

    @property
    def is_in_title(self) -> bool:
        """Whether a title is open whose command continues in the next line."""
        return self._title is not None

    def feed(self, text: str) -> bool:
        """Read a line; return False if it is not perf's."""
        if self._title is not None or ("Performance" in text and TITLE.match(text)):
            return self._in_title(text)
        if len(text) > _MOST_LINE:
            return False
        if text.startswith("#"):
            return self._heading(text)
        if "seconds" in text and (footer := _FOOTER.fullmatch(text)):
            return self._footer(footer)
        return self._row(text) or self._more(text) or self._known(text) or self._table(text)

    def _heading(self, text: str) -> bool:
        """Read the header of intervals, or of a table of metrics in intervals."""
        if INTERVALS.match(text):
            self._names = []
            return True
        table = TABLE.fullmatch(text)
        return table is not None and self._header(_TABLE_SCOPES.sub("", table[1]))

    def _known(self, text: str) -> bool:
        """Return whether a line is a remark of perf; report times that are not read."""
        if _REPEAT.fullmatch(text):
            self._report.tell(
                "unread_section",
                "info",
                "import",
                "times of single repeats (--table) are not read",
                "their mean and spread are",
            )
            return True
        return bool(_REPEATS.fullmatch(text) or _HINTS.fullmatch(text))

    # -- the title and the footer -------------------------------------------------------------

    def _in_title(self, text: str) -> bool:
        if self._title is not None and self._is_behind_title(text):
            self._report.tell(
                "cut_title",
                "warning",
                "recording",
                "the title of a block has no end",
                f"what was measured is unknown; it starts {self._title.strip()[:_SHOWN]!r}",
                first_offset_bytes=self._sink.place,
            )
            self._title = None
            self._begin({})
            return self.feed(text)
        title = text if self._title is None else f"{self._title}\n{text}"
        found = _WHOLE_TITLE.fullmatch(title)
        if (
            found is None
            and len(title) < _MOST_TITLE
            and not (self._title is not None and TITLE.match(text))
        ):
            self._title = title
            return True
        self._title = None
        self._begin(_says(found) if found else {})
        return True

    @staticmethod
    def _is_behind_title(text: str) -> bool:
        """Return whether a line is perf's row, not output of the command."""
        found = _ROW.fullmatch(_parts(text[:_MOST_LINE])[0])
        parts = found and _event(found["rest"], len(found["gap"]), found["gap"])
        return bool(found and parts and _is_of_perf(found, *parts))

    def _begin(self, says: dict[str, Any]) -> None:
        self._measurements.titled(says)
        self.is_in_block, self._is_after_footer = True, False
        self._names, self._last, self._group = [], None, None
        self._has_repeats = (says.get("repeat_count") or 1) > 1

    def _footer(self, found: re.Match[str]) -> bool:
        kind = found[3].split()[-1]
        if not self.is_in_block and not self._is_after_footer:
            return False
        if not self._measurements.footer(kind, found[1], found[2], found[4]):
            return False
        self.is_in_block, self._is_after_footer = False, True
        self.row_count += 1
        return True

    # -- an event and what follows it ---------------------------------------------------

    def _row(self, text: str) -> bool:
        head, tail = _parts(text)
        found = _ROW.fullmatch(head)
        if found is None:
            return False
        parts = _event(found["rest"], len(found["gap"]), found["gap"])
        if parts is None:
            return False
        if not (self.is_in_block or found["time"]):
            if not _is_of_perf(found, *parts):
                return False
            self._begin({})  # a block that has lost its title
        if found["time"]:
            self._measurements.interval(int(found["time"].replace(".", "")), is_text=True)
        series = self._series(found, *parts, tail.notes)
        is_counted = not found["value"].startswith("<")
        error = tail.error
        if error is None and self._has_repeats and is_counted:
            error = NEVER  # perf omits what is zero
        share = tail.share or ALWAYS
        number = self._sink.number_of(series)
        self._measurements.counted(number, found["value"], error)
        self._sink.add(number, found["value"], share, None, error)
        self.passed(series)
        metrics = self._notes(tail.notes, series)
        is_learned = self.is_plain and says_its_unit(series.key, series.unit_raw)
        if is_learned and tail.error is None and found["time"]:
            self._learn(text, found, tail, (number, *metrics))
        return True

    def _learn(self, text: str, found: re.Match[str], tail: _Tail, series: tuple[int, ...]) -> None:
        """Learn lines that differ only in their numbers, if the numbers are unambiguous."""
        fields = cut_numbers(text)
        numbers = [note[1] for note in map(_METRIC.fullmatch, tail.notes) if note]
        said = (found["time"], found["cpus"], found["value"], *numbers, tail.share)
        if len(series) != 1 + len(tail.notes) or fields[1::2] != [s for s in said if s is not None]:
            return
        value = 3 if found["cpus"] is None else 5
        behind = range(value + 2, value + 2 + 2 * len(numbers), 2)
        layout = FieldLayout(
            FieldCell(value, Form.PLAIN_VALUE),
            FieldCell(1, Form.TIME),
            None if tail.share is None else FieldCell(behind.stop, Form.PLAIN),
            metrics=tuple(FieldCell(at, Form.PLAIN) for at in behind),
        )
        self.known.learn(fields, layout, series)

    def _series(
        self,
        found: re.Match[str],
        unit: str | None,
        name: str,
        cgroup: str | None,
        notes: tuple[str, ...],
    ) -> CounterSeries:
        remarks = [note.strip() for note in notes if note.strip() and not _METRIC.fullmatch(note)]
        spelling = spelling_of(name)
        return CounterSeries(
            "event",
            name,
            event_scale(spelling.key, unit, found["value"]),
            unit,
            spelling,
            scope_name=found["scope"],
            scope_cpu_count=small(found["cpus"]),
            cgroup_name=cgroup,
            args_json=json.dumps({"comment": " # ".join(remarks)}, ensure_ascii=False)
            if remarks
            else None,
        )

    def _notes(
        self,
        notes: tuple[str, ...],
        event: CounterSeries | None,
        share: str | None = None,
        **place: Any,
    ) -> list[int]:
        """Return the metrics after hash signs; other text there is someone's remark."""
        numbers = []
        for note in notes:
            found = _METRIC.fullmatch(note)
            is_cut = bool(_STUMP.fullmatch(note)) if found is None else not found[4]
            if is_cut or _JOINED.search(note.strip()) or (not found and _is_metric(note)):
                self._report.tell(
                    "cut_line",
                    "warning",
                    "recording",
                    "a metric is truncated, or merged with another line",
                    f"the text after the number is lost; the first is {note.strip()[:_SHOWN]!r}",
                    first_offset_bytes=self._sink.place,
                )
            elif found and named(found[4]):
                has_sign = bool(found[2] or found[3])
                series = metric_series(found[4], event, has_sign=has_sign, **place)
                numbers.append(self._add_metric(series, found[1], share))
        return numbers

    def _more(self, text: str) -> bool:
        """Read more metrics of the last event, or those of a group of metrics.

        perf puts how long the event ran, and its spread, after the last of its metrics.
        """
        head, tail = _parts(text)
        has_any = tail.notes or tail.share is not None or tail.error is not None
        found = _MORE.fullmatch(head) if has_any else None
        if found is None or not (self.is_in_block or found["time"]):
            return False
        if not all((note := _METRIC.fullmatch(n)) and note[4] for n in tail.notes):
            return False
        if found["group"] and (not tail.notes or is_known(spelling_of(found["group"]).key)):
            return False  # an event without its value
        if found["time"]:
            self._measurements.interval(int(found["time"].replace(".", "")), is_text=True)
        if found["group"]:
            self._group, self._last = found["group"], None
        event = self._last
        if event is not None and event.scope_name != found["scope"]:
            event = None
        is_of_event = event is not None and (tail.share is not None or tail.error is not None)
        is_told = bool(tail.notes)
        if is_of_event and not self._sink.amend(tail.share, tail.error, is_told=is_told):
            return False
        if event is None and not tail.notes:
            return False
        self._notes(
            tail.notes,
            event,
            tail.share if event is None else None,
            scope_name=found["scope"],
            scope_cpu_count=small(found["cpus"]),
            group=self._group if event is None else None,
        )
        return True

    # -- tables of metrics (--metric-only) ----------------------------------------------------

    def _header(self, text: str) -> bool:
        """Return the names of the columns, separated by two blanks, or by one after long names."""
        self._heads = text
        names = _NAMES_GAP.split(re.sub(r"% +(?=\w)", "%", text.strip()))
        self._names = [name for name in names if name]
        return bool(self._names)

    def _table(self, text: str) -> bool:
        if not text.strip():
            return False
        if self._names and (found := _VALUES.fullmatch(text)) and found["values"]:
            return self._values(found)
        is_first = self.is_in_block and self._last is None and self._group is None
        if is_first and not self._names and not _NO_HEADER.search(text):
            names = _NAMES_GAP.split(text.strip().lower())
            return not any(map(is_known, names)) and self._header(text)
        return False

    def _values(self, found: re.Match[str]) -> bool:
        values = found["values"].split()
        if len(values) != len(self._names):  # long names have one blank between them
            known = [name for names in self._names for name in split_names(names)]
            padded = names_of_columns(self._heads, len(values))
            self._names = known if len(known) == len(values) else padded or self._names
        if len(values) != len(self._names) or not (self.is_in_block or found["time"]):
            return False
        if found["time"]:
            self._measurements.interval(int(found["time"].replace(".", "")), is_text=True)
        self._add_columns(values, found["scope"], small(found["cpus"]))
        return True


def names_of_columns(header: str, count: int) -> list[str] | None:
    """Split a header into names, which perf pads to the width of a column; None if unclear.

    A longer name has one blank behind it, and may have some in it.
    """
    text = header.rstrip() + " "
    first = len(text) - len(text.lstrip())
    ends = [end for end in _blanks(text, first) if end >= _COLUMN]
    starts = [(first, end) for end in ends]
    padded = [(at, end) for at, end in starts if at == 0 or end == _COLUMN]
    for begins in (padded, starts):  # columns of a scope can precede the first
        ways = [[begin] for begin in begins]
        for _ in range(count - 1):
            ways = [
                [*way, new] for way in ways[:_MAX_WAYS] for new in _next_columns(text, way[-1][1])
            ]
        found = [way for way in ways if way[-1][1] == len(text) - 1]
        if len(found) == 1:
            return [text[at:end].strip() for at, end in found[0]]
    return None


def _next_columns(text: str, end: int) -> list[tuple[int, int]]:
    """Return where the column behind the blank at `end` can begin and end."""
    at = end + 1
    padded = text[at : at + _COLUMN]
    if padded.startswith(" "):
        is_one = "  " not in padded.strip() and text[at + _COLUMN : at + _COLUMN + 1] == " "
        return [(at, at + _COLUMN)] if is_one and not padded.endswith(" ") else []
    return [(at, stop) for stop in _blanks(text, at) if stop >= at + _COLUMN]


def _blanks(text: str, start: int) -> list[int]:
    """Return the blanks up to the first two in a row, or the last."""
    stop = text.find("  ", start)
    part = text[start : len(text) if stop < 0 else stop + 1]
    return [start + at for at, letter in enumerate(part) if letter == " "]


def cut_numbers(line: str) -> list[str]:
    """Split a line at its numbers; each second field is one."""
    return _ASCII_CUT.sub(_MARKED, line).split(_MARK)


def _fields(lines: pa.Array) -> pa.Array:
    """Split lines at their numbers; each second field is a number."""
    others = pc.if_else(pc.match_substring(lines, _MARK), "", lines)
    return pc.split_pattern(pc.replace_substring_regex(others, _CUT, _MARKED), _MARK)


def _is_metric(note: str) -> bool:
    """Return whether a note without a number is the name of one of perf's metrics."""
    return is_metric_name(note) or metric_of(note).name in ("/sec", "Hz") or "  " in note.strip()


def _says(found: re.Match[str]) -> dict[str, Any]:
    """Return the target of the measurement and its repeats from a title."""
    name = found[2]
    kind = _KINDS.get(found[1] or "", "command")
    if found[1] is None and name == "system wide":
        kind = "system"
    elif found[1] is None and name.startswith("CPU(s) "):
        kind = "cpu"
    elif found[1] is None and name.startswith("BPF program(s) "):
        return {"target_name": name, "repeat_count": int(found[3] or 1)}
    return {"target_name": name, "target_kind": kind, "repeat_count": int(found[3] or 1)}


def _parts(text: str) -> tuple[str, _Tail]:
    """Split a line at its first hash sign."""
    share = error = None
    text = text.rstrip()
    for _ in range(2 if text.endswith((")", "]")) else 0):
        if share is None and (found := _SHARE.search(text)):
            share, text = found[1], text[: found.start()]
        if "+-" in text and error is None and (found := _ERROR.search(text)):
            error, text = found[1], text[: found.start()]
    head, *notes = _HASH.split(text)
    return head.rstrip(), _Tail(tuple(notes), error, share)


def _is_of_perf(found: re.Match[str], unit: str | None, name: str, cgroup: str | None) -> bool:
    """Return whether a line is perf's row anywhere: its columns match, its event is known."""
    is_set = found[0].startswith("   ") and (unit in KNOWN_UNITS or len(found["gap"]) == _NO_UNIT)
    return is_set and cgroup is None and is_known(spelling_of(name).key)


@lru_cache(maxsize=4096)
def _event(rest: str, width: int, gap: str) -> tuple[str | None, str, str | None] | None:
    """Return unit, event and cgroup; None if it is something else.

    perf prints one blank before a unit, and more if there is none.
    """
    tokens = rest.split()
    if len(tokens) >= 2 and re.fullmatch(r"\(\S+\)", tokens[1]):  # task-clock (msec)
        tokens[:2] = [tokens[1][1:-1], tokens[0]]
        has_unit = True
    else:
        has_unit = len(tokens) >= 2 and (
            tokens[0] in KNOWN_UNITS
            or (width == 1 and "\t" not in gap and not tokens[1].startswith("["))
        )
    unit = tokens.pop(0) if has_unit else None
    name = _name_of(tokens)
    if tokens and re.fullmatch(r"\[\S+\]", tokens[0]):  # name [uncore_imc_0]
        name = f"{name} {tokens.pop(0)}"
    if len(tokens) > 1 or not _EVENT.match(name):
        return None
    return unit, name, tokens[0] if tokens else None


def _name_of(tokens: list[str]) -> str:
    """Split off the name of an event: most are one word, some of evsel__name() are more."""
    words = next((n for n in (2, 4) if _WORDS.fullmatch(" ".join(tokens[:n]))), 1)
    name = " ".join(tokens[:words])
    del tokens[:words]
    return name
