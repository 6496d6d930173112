"""The text pages, which ncu prints without --csv."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tracekit.parser import Report
from tracekit.parsers.nsight_compute.assemble import Rule, Sink
from tracekit.parsers.nsight_compute.csvpages import OTHER_ARGS, percent
from tracekit.parsers.nsight_compute.launches import Launch, args_json, number, sizes
from tracekit.parsers.nsight_compute.metrics import section_name
from tracekit.parsers.nsight_compute.textsummary import TextSummary
from tracekit.reading.issues import skip_damaged_row

_PROCESS = re.compile(r"\[(\d{1,12})\] (.*)@(\S+)")
_SIZES = r"\(\d+, \d+, \d+\)|n/a"
_LAUNCH = re.compile(
    rf"(?P<name>.*?)(?: ?(?P<grid>{_SIZES})x(?P<block>{_SIZES}))?"
    r"(?:, (?P<time>\d{4}-\w{3}-\d\d \d\d:\d\d:\d\d))?"
    r", Context (?P<context>\S+), Stream (?P<stream>[^\s,]+)"
    r"(?:, Device (?P<device>\S+), CC (?P<cc>\d+\.\d+))?"
)
_SECTION = re.compile(r" {4}Section: (\S.*)")
_DASHES = re.compile(r" {4}(-+ -+ -+)")
_RULE_DASHES = re.compile(r" {4}-+ -+")
_RULE = re.compile(r" {4}([A-Z]{3})   (\S.*)")
_GOES_ON = re.compile(r" {10} ?(\S.*)")
_RANGES = re.compile(r" {4}(NVTX \S.*):")
_IN_RANGES = re.compile(r" {6,40}\S.*")
_WARNING = re.compile(r" {4}(?:Warning|Error): (\S.*)")
_SPEEDUP = re.compile(r"Est(?:imated|\.)( Local)? Speedup: ([\d.,]+)%")
_KNOWN_RULE = re.compile(r" {4}(?:INF|OPT|WRN|ERR)   \S")
_GAP = re.compile(r"\s{2,}")
_NO_ROW = re.compile(r" {4}(?:Metric .*|[- ]*)")
_TITLE = "Metric Name"
_MOST_LINE = 4096  # except for the line of a launch, which has the kernel's name
_MOST_RULE_LINES = 1000
_MOST_WARNING = 300
_MOST_NAME_LINES, _MOST_NAME_LINE = 200, 1 << 15


@dataclass(slots=True)
class TextPage:
    """Reads the lines of text pages; launches are numbered as by ncu.

    A page continues after any other lines in it.
    """

    sink: Sink
    report: Report
    launch_count: int = 0
    is_orphan: bool = False
    is_last_line: bool = False  # the current line, which has no line feed
    summary: TextSummary = field(init=False)
    _process: tuple[int | None, str, str] = (None, "", "")
    _has_launch: bool = False
    _current: Launch | None = None
    _ranges_name: str = ""  # of the current lines that tell NVTX ranges
    _section: str | None = None
    _spans: Sequence[tuple[int, int]] = ()
    _row_count: int = 0
    _rule_at: int = 0
    _rule: list[str] = field(default_factory=list)
    _rule_kind: str = ""
    _name: list[str] = field(default_factory=list)  # lines that may begin a name
    _name_at: int = 0

    def __post_init__(self) -> None:
        """Read summaries, too."""
        self.summary = TextSummary(self.sink)

    def feed(self, place: int, line: bytes) -> bool:
        """Take a line; return False if it is not part of a text page."""
        if not line.startswith((b"  ", b"[", b"\t")) and b", Context " not in line:
            self._keep_for_name(place, line)
            return False
        # without trailing blanks: patterns that skip many of them take quadratic time
        text = line.decode("utf-8", "replace").rstrip()
        if text.startswith("\t"):  # a table below a table
            text = "    " + text[1:].lstrip()
        is_ours = self._launch(place, text) or (
            len(text) <= _MOST_LINE
            and (
                self._summarized(place, text)
                or self._header(place, text)
                or self._goes_on(text)
                or self._ranges(text)
                or self._warning(place, text)
                or self._table(place, text)
                or self._advice(place, text)
            )
        )
        if is_ours:
            self._name = []
        else:
            self._keep_for_name(place, line)
        return is_ours

    def finish(self) -> None:
        """Handle the end of input."""
        is_open = self._spans or (self.summary.has_table and self.summary.has_end)
        if is_open or (self._rule_kind and self.is_last_line):
            self.report.tell(
                "cut_page",
                "warning",
                "recording",
                "the page ends inside a table or a line",
                "the counters and sections after that are missing; copy the whole page",
            )
        self._end_rule()

    # -- launches and sections ------------------------------------------------------------------

    def _header(self, place: int, text: str) -> bool:
        if process := _PROCESS.fullmatch(text):
            self._leave()
            self.summary.close()
            self._process = number(process[1]), process[2], process[3]
            return True
        if section := _SECTION.fullmatch(text):
            self._leave()
            if not self._has_launch:
                self.is_orphan = True
                self._begin(place, {})
            self._section = section_name(section[1])
            return True
        return False

    def _summarized(self, place: int, text: str) -> bool:
        """Take a line of a summary."""
        is_ours = self.summary.feed(place, text, self._process)
        if is_ours:
            self._leave()
            self._has_launch = False
        return is_ours

    def _launch(self, place: int, text: str) -> bool:
        """Take the line of a launch, or the last line of a name that spans several."""
        launch = _LAUNCH.fullmatch(text) if ", Context " in text else None
        name = launch["name"] if launch else ""
        is_whole = text.startswith("  ") and (text[2:3] != " " or not name.strip())
        if launch is None or not (is_whole or self._name):
            return False
        self._leave()
        if self.is_last_line:
            self._skip_cut(place, len(text), "the line of a launch")
            return True
        if not is_whole:
            place, name = self._name_at, "\n".join([*self._name, name])
        self._begin(place, launch.groupdict() | {"name": name[2:]})
        return True

    def _keep_for_name(self, place: int, line: bytes) -> None:
        """Take a line that begins like that of a launch: the name can continue below."""
        if line.startswith(b"  ") and line[2:3] not in (b"", b" "):
            self._name, self._name_at = [], place
        elif not self._name:
            return
        self._name.append(line.decode("utf-8", "replace").rstrip("\r"))
        if len(self._name) > _MOST_NAME_LINES or len(line) > _MOST_NAME_LINE:
            self._name = []

    def _leave(self) -> None:
        """End the current section and rule."""
        self._end_rule()
        self._spans, self._section, self._ranges_name = (), None, ""

    def _begin(self, place: int, says: dict[str, str]) -> None:
        process_id, process, host = self._process
        get = {name: value or "" for name, value in says.items()}.get
        self._current = Launch(
            event_id=place,
            name=get("name") or None,
            launch_index=self.launch_count if says else None,
            process_id=process_id,
            context_id=number(get("context", "")),
            stream_id=number(get("stream", "")),
            device_id=number(get("device", "")),
            grid=sizes(get("grid", "")),
            block=sizes(get("block", "")),
            compute_capability=get("cc") or None,
            args_json=args_json(OTHER_ARGS, (process, host, get("time", ""))),
        )
        self.sink.begin(self._current)
        self.launch_count += 1
        self._has_launch = True
        self.summary.close()

    def _ranges(self, text: str) -> bool:
        """Take a line with the NVTX ranges of the launch, kept as its argument."""
        if not self._has_launch or self._current is None:
            return False
        if title := _RANGES.fullmatch(text):
            self._ranges_name = title[1]
            return True
        if not (self._ranges_name and _IN_RANGES.fullmatch(text)):
            self._ranges_name = ""
            return False
        args = json.loads(self._current.args_json or "{}")
        before = args.get(self._ranges_name, "")
        args[self._ranges_name] = f"{before} {text.strip()}".strip()[:_MOST_LINE]
        self._current.args_json = json.dumps(args, ensure_ascii=False)
        return True

    def _warning(self, place: int, text: str) -> bool:
        """Take a message of ncu about the whole launch."""
        warning = _WARNING.fullmatch(text) if self._has_launch and not self._spans else None
        if warning:
            self.report.tell(
                "profiler_warning",
                "info",
                "recording",
                f"ncu says: {warning[1][:_MOST_WARNING]}",
                "see the tool's documentation",
                first_offset_bytes=place,
            )
        return bool(warning)

    # -- tables ---------------------------------------------------------------------------------

    def _table(self, place: int, text: str) -> bool:
        if not self._has_launch:
            return False
        if dashes := _DASHES.fullmatch(text):
            self._end_rule()
            is_end = bool(self._spans and self._row_count)
            self._spans, self._row_count = () if is_end else _spans(dashes[1]), 0
            return True
        if not self._spans or _KNOWN_RULE.match(text):
            self._spans = ()
            return False
        if self._is_cut(text) or self._is_joined(text):
            self._skip_cut(place, len(text), "a row of the table")
            return True
        cells = _cells(text, self._spans)
        if cells and cells[0] != _TITLE:
            label, unit, value = cells
            self.sink.add((self.sink.key(self._section, label, unit),), (value,))
            self._row_count += 1
        return cells is not None

    def _is_cut(self, text: str) -> bool:
        """Return whether the file ends within the last column, which is right-aligned."""
        is_short = self.is_last_line and len(text) < self._spans[-1][1]
        return is_short and not _NO_ROW.fullmatch(text) and text[4:5].strip() != ""

    def _is_joined(self, text: str) -> bool:
        """Return whether another row continues in this one: values have no gaps."""
        value = text[self._spans[-1][0] :].strip()
        return bool(_GAP.search(value)) and not _NO_ROW.fullmatch(text)

    def _skip_cut(self, place: int, length: int, what: str) -> None:
        message = f"{what} is truncated, or merged with another"
        advice = "it was skipped; export the report again"
        skip_damaged_row(self.report, message, advice, place, length)

    # -- advice ---------------------------------------------------------------------------------

    def _advice(self, place: int, text: str) -> bool:
        rule = _RULE.fullmatch(text) if self._has_launch and not self._spans else None
        if rule:
            self._end_rule()
            self._rule_at, self._rule_kind, self._rule = place, rule[1], [rule[2]]
        return bool(rule or _RULE_DASHES.fullmatch(text))

    def _goes_on(self, text: str) -> bool:
        """Take a further line of advice."""
        goes_on = _GOES_ON.fullmatch(text) if self._rule_kind else None
        if goes_on and len(self._rule) < _MOST_RULE_LINES:
            self._rule.append(goes_on[1])
        return bool(goes_on)

    def _end_rule(self) -> None:
        if not self._rule_kind:
            return
        speedup = _SPEEDUP.fullmatch(self._rule[0])
        message = " ".join(self._rule[1:] if speedup else self._rule)
        kind = ("local" if speedup[1] else "global") if speedup else None
        self.sink.rule(
            Rule(
                self._rule_at,
                self._section,
                None,
                self._rule_kind,
                message or None,
                kind,
                percent(speedup[2]) if speedup else None,
            )
        )
        self._rule_kind, self._rule = "", []


def _spans(dashes: str) -> list[tuple[int, int]]:
    """Return the positions of the columns, from the runs of dashes after an indent of four."""
    return [(match.start() + 4, match.end() + 4) for match in re.finditer("-+", dashes)]


def _cells(text: str, spans: Sequence[tuple[int, int]]) -> tuple[str, str, str] | None:
    """Return name, unit and value of a row; None if the line is not a row of the table."""
    if not text.startswith("    ") or text[4:5] in ("", " ", "\t"):
        return None
    (_, name_end), (unit_start, unit_end), (value_start, _) = spans
    gaps = text[name_end:unit_start] + text[unit_end:value_start]
    value = text[value_start:].strip()
    if gaps.strip() or not value:
        return _loose_cells(text.strip())
    return text[:name_end].strip(), text[unit_start:unit_end].strip(), value


def _loose_cells(text: str) -> tuple[str, str, str] | None:
    """Return the cells of a row whose name is wider than its column, separated by gaps."""
    name, *others = _GAP.split(text)
    last = " ".join(others)
    if not others:
        return None
    if last.endswith("(!) n/a"):
        return name, last.removesuffix("(!) n/a").strip(), "(!) n/a"
    unit, _, value = last.rpartition(" ")
    return (name, unit, value) if " " not in unit else None
