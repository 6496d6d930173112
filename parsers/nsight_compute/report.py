"""Reads one report: its pages, and ncu's messages between them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

from tracekit.errors import FormatError
from tracekit.parser import Batch, Issue, Report, Severity
from tracekit.parsers.nsight_compute.assemble import Assembler, EvidenceSink, Sink
from tracekit.parsers.nsight_compute.csvpages import CsvPage
from tracekit.parsers.nsight_compute.textpage import TextPage
from tracekit.reading.text.lines import TextBlock, blocks, tell_places
from tracekit.reading.text.numbers import Notation, notation_of
from tracekit.schema import DEVICE_TABLE, batch_of_rows
from tracekit.source import Source

_MESSAGE = re.compile(r"==(PROF|WARNING|ERROR)==\s*(.*?)(?=={2}(?:PROF|WARNING|ERROR)==|$)")
_CONNECTED = re.compile(r"Connected to process (\d{1,12})(?: \((.*)\))?")
_REPORT = re.compile(r"(?:Report|Saved report to file)s?:? (\S.*)")
_PROGRESS = re.compile(
    r"Disconnected from process \d{1,12}|Profiling \".*\"(?: - \d{1,12})?(?: \(.*\))?:?[ \d%.]*|"
    r"(?:Application|Range) replay.*|(?:Creating|Target process|Collect).*|"
    r"(?:Trying to shutdown|Received signal).*"
)
_PASSES = re.compile(r"100% - (\d{1,6}) pass(?:es)?")
_REPLAY = re.compile(r": (Application|Range) replay pass (\d{1,6})")
_BLOCK_GROWTH = 4  # many launches at once: columns of few take longer
_MOST_TEXT = 300
_MOST_PROCESSES = 100
_MOST_MESSAGES = 200
_NOTES = ("Backing up device", "Note: Running", "Found outstanding", "Launching the")


def rows_of_report(source: Source, report: Report) -> Iterator[Batch]:
    """Yield the rows of `source`; raise FormatError if it has no launch."""
    reading = _ReportReader(report, Assembler(report, _notation(source)))
    for block in blocks(source, report, growth=_BLOCK_GROWTH):
        reading.take(block)
        yield from reading.sink.full_batches()
    reading.finish()
    yield from reading.sink.last_batches()
    tell_places(source, report)
    if not reading.sink.launch_count:
        raise FormatError(reading.nothing(source))
    reading.refuse_both(source)
    report.facts |= reading.facts()
    if devices := _devices(reading.sink):
        yield "device", batch_of_rows(DEVICE_TABLE, devices)


class _Pages:
    """Sorts the lines of a report by their page; the rest are messages."""

    def __init__(self, sink: Sink, report: Report, messages: _Messages) -> None:
        self.csv = CsvPage(sink, report, messages.feed)
        self.text = TextPage(sink, report)
        self._messages = messages
        self._rest: TextBlock | None = None  # rows of a launch that may continue

    def take(self, block: TextBlock) -> None:
        """Read whole lines."""
        self.csv.begin_block()
        if self.kinds() == ["details"] and not block.is_open:
            self._take_details(block)
            return
        self._take_rest()
        self._take_lines(block)

    def _take_rest(self) -> None:
        rest, self._rest = self._rest, None
        if rest:
            self._take_lines(rest)

    def _take_details(self, block: TextBlock) -> None:
        """Take rows of the details page, at once if possible; keep those of the last launch."""
        parts = (self._rest, block) if self._rest else (block,)
        place, self._rest = parts[0].offset_bytes, None
        text = b"\n".join([*(part.text for part in parts), b""])
        if len(parts) == 1 and (size := self.csv.size_of_current(text)):
            self._take_lines(TextBlock(place, text[: size - 1]))
            place, text = place + size, text[size:]
            if not text:
                return
        taken = self.csv.feed_details(place, text, self._take_line)
        if taken is not None:
            self._rest = TextBlock(place + taken, text[taken:-1])
        elif text:
            self._take_lines(TextBlock(place, text[:-1]))

    def _take_line(self, place: int, line: bytes) -> None:
        if not (self.csv.feed(place, line) or self.text.feed(place, line)):
            self._messages.feed(place, line)

    def _take_lines(self, block: TextBlock) -> None:
        self.csv.is_last_line = self.text.is_last_line = block.is_open
        place = block.offset_bytes
        if self.kinds() == ["raw"] and self.csv.feed_rows(place, block.lines):
            return
        fast, csv, text = self.csv.feed_fast, self.csv.feed, self.text.feed
        for line in block.lines:
            length = len(line) + 1
            plain = line.rstrip(b"\r")
            if not (fast(place, plain) or csv(place, plain) or text(place, plain)):
                self._messages.feed(place, plain)
            place += length

    def finish(self) -> None:
        """Handle the end of input."""
        self._take_rest()
        self.csv.finish()
        self.text.finish()

    def kinds(self) -> list[str]:
        """Return the kinds of pages found: details, raw, text, summary."""
        text = {"text"} if self.text.launch_count else set()
        return sorted(self.csv.pages | text | self._summaries())

    def _summaries(self) -> set[str]:
        return {"summary"} if self.text.summary.launch_count else set()


class _ReportReader:
    """Reads one source."""

    def __init__(self, report: Report, sink: Assembler) -> None:
        self.report = report
        self.sink = sink
        self.messages = _Messages(report)
        self._pages = _Pages(sink, report, self.messages)

    def take(self, block: TextBlock) -> None:
        """Read whole lines."""
        self._pages.take(block)

    def finish(self) -> None:
        """Handle the end of input."""
        self._pages.finish()
        if self._pages.text.is_orphan:
            self.report.issue(
                Issue(
                    "no_launch_line",
                    "warning",
                    "recording",
                    "the page starts without the line that names the kernel",
                    "the launch is kept without a name; copy the page including its first lines",
                )
            )
        if "summary" in self._pages.kinds():
            self.report.issue(
                Issue(
                    "summary_page",
                    "info",
                    "recording",
                    "the file is a summary (--print-summary): means over the launches of a kernel",
                    "totals are mean x launches, and rates that vary between launches "
                    "give no value; "
                    "export the report without that option for each launch",
                    occurrence_count=self.sink.launch_count,
                )
            )

    def refuse_both(self, source: Source) -> None:
        """Raise FormatError for a summary next to launches: it may include them."""
        kinds = self._pages.kinds()
        if "summary" in kinds and len(kinds) > 1:
            raise FormatError(
                f"{source.path}: has both a summary (--print-summary) and single launches, which "
                "may be the same launches: put each in its own file"
            )

    def nothing(self, source: Source) -> str:
        """Return why there is nothing to ingest."""
        return self.messages.nothing(source)

    def facts(self) -> dict[str, Any]:
        """Return the facts about the report."""
        says = self.messages.says() | {
            "notation": f"decimal {self.sink.notation}",
            "pages": self._pages.kinds(),  # which launches are the same: queries/macro/copy_of.sql
        }
        return {
            "profiler_name": "Nsight Compute",
            "recording_kind": "summary" if says["pages"] == ["summary"] else "counters",
            "is_complete": self.report.is_whole(),
            "metadata_json": json.dumps(says, ensure_ascii=False),
        }


class _Messages:
    """Reads ncu's messages between the rows; the profiled program's output is skipped."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._processes: list[dict[str, Any]] = []
        self._passes: list[int] = []
        self._launches = 0
        self._replay: dict[str, Any] = {}
        self._told: set[str] = set()
        self._is_denied = False
        self._last = ""
        self._exported = ""  # the report that ncu wrote its results to

    def feed(self, place: int, line: bytes) -> None:
        """Take a line that belongs to no page."""
        if not line.strip():
            return
        text = line.decode("utf-8", "replace") if b"==" in line or b"100% - " in line else ""
        found = list(_MESSAGE.finditer(text))
        for match in found:
            if match[1] != "PROF":
                self._tell(match[1], match[2].strip(), place)
            elif not self._note(match[2].strip()):
                self._tell_other(place)
        is_more = text[: found[0].start()].strip() if found else not self._note(text)
        if is_more:  # a note without a mark is the end of an interrupted line
            self._tell_other(place)

    def _note(self, text: str) -> bool:
        """Take an informative message; return False if it is not ncu's."""
        if process := _CONNECTED.match(text):
            if len(self._processes) < _MOST_PROCESSES:
                self._processes.append({"process_id": int(process[1]), "path": process[2]})
        elif replay := _REPLAY.search(text):
            most = max(int(replay[2]), self._replay.get("max_pass", 0))
            self._replay = {"kind": replay[1].lower(), "max_pass": most}
        elif report := _REPORT.fullmatch(text):
            self._exported = report[1][:_MOST_TEXT]
        elif passes := _PASSES.search(text):
            count = int(passes[1])
            self._launches += 1
            self._passes = [min([count, *self._passes]), max([count, *self._passes])]
            return not text[passes.end() :].strip()
        else:
            return bool(_PROGRESS.fullmatch(text))
        return True

    def _tell_other(self, place: int) -> None:
        self._report.issue(
            Issue(
                "other_text",
                "info",
                "import",
                "lines that belong to no page: treated as output of the program",
                first_offset_bytes=place,
            )
        )

    def _tell(self, kind: str, text: str, place: int) -> None:
        self._last = text if kind == "ERROR" or not self._last else self._last
        if len(self._told) >= _MOST_MESSAGES and text not in self._told:
            text = "more than can be listed here"
        self._told.add(text)
        issue = _issue_of(kind, text, place)
        self._is_denied |= issue.code == "no_permission"
        self._report.issue(issue)

    def says(self) -> dict[str, Any]:
        """Return processes and passes, for `metadata_json`."""
        says: dict[str, Any] = {"processes": self._processes} if self._processes else {}
        if self._replay:
            says["replay"] = self._replay
        if self._passes:
            says["passes"] = {
                "launches": self._launches,
                "min": self._passes[0],
                "max": self._passes[1],
            }
        return says

    def nothing(self, source: Source) -> str:
        """Return why there is nothing to ingest."""
        if self._is_denied:
            return (
                f"{source.path}: no kernels found: ncu had no permission to read the counters "
                "(ERR_NVGPUCTRPERM). Profile again as root, or allow users to read them "
                "(NVreg_RestrictProfilingToAdminUsers=0)"
            )
        if self._exported:
            name = shlex.quote(self._exported)
            return (
                f"{source.path}: the log has no page: ncu wrote its results to "
                f"{self._exported}. Export {self._exported} with: ncu --import {name} --csv "
                "--page raw"
            )
        damage = [i.message for i in self._report.issues.values() if i.code == "damaged_row"]
        says = f'; ncu says: "{self._last[:_MOST_TEXT]}"' if self._last else ""
        says += f"; {damage[0]}" if damage else ""
        return (
            f"{source.path}: no profiled kernels found{says}. Check that the program launches "
            "kernels, that the filters do not exclude all of them, and that --target-processes "
            "all is given "
            "if a child process launches them"
        )


def _issue_of(kind: str, text: str, place: int) -> Issue:
    """Return a warning or error of ncu as an issue."""
    if "ERR_NVGPUCTRPERM" in text:
        advice = "profile as root, or allow users to read the counters"
        return _said("no_permission", "error", text, advice, place)
    if "No kernels were profiled" in text or "No ranges were profiled" in text:
        advice = "check the filters, and --target-processes all"
        return _said("no_kernels", "warning", text, advice, place)
    if "LaunchFailed" in text:
        advice = "the kernel fails: run it without ncu first"
        return _said("launch_failed", "error", text, advice, place)
    if "Failed to profile" in text:
        advice = "launches before it are kept; later ones are missing"
        return _said("profiling_failed", "error", text, advice, place)
    if "Unable to access the following" in text or "No metrics to collect" in text:
        advice = "these counters are NULL: this device does not have them"
        return _said("metrics_missing", "warning", text, advice, place)
    if kind == "ERROR":
        advice = "everything before it is kept"
        return _said("profiler_error", "error", text, advice, place)
    severity: Severity = "info" if text.startswith(_NOTES) else "warning"
    return _said("profiler_warning", severity, text, "see the tool's documentation", place)


def _said(code: str, severity: Severity, text: str, advice: str, place: int) -> Issue:
    message = f"ncu says: {text[:_MOST_TEXT]}"
    return Issue(code, severity, "recording", message, advice, first_offset_bytes=place)


def _notation(source: Source) -> Notation:
    """Return the notation of the numbers; raise FormatError if it matters and is unknown."""
    unheard, sink = Report(), EvidenceSink()
    pages = _Pages(sink, unheard, _Messages(unheard))
    advice = "Export it again with LC_ALL=C (or an English locale), or with more metrics"
    return notation_of(blocks(source, unheard), pages, sink, source.path, advice)


def _devices(sink: Assembler) -> list[dict[str, Any]]:
    return [
        {"device_id": device_id, "is_described": bool(known.get("name")), **known}
        for device_id, known in sorted(
            sink.devices.items(), key=lambda item: (item[0] is None, item[0] or 0)
        )
    ]
