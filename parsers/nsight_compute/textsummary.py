"""Summaries on text pages (``--print-summary``): means over the launches of a kernel.

Versions of 2021 to 2023 write ``k(int), Block Size 256, Grid Size 32, Device 0, 1 invocations``,
newer ones ``k(int) (8, 1, 1)x(256, 1, 1), Device 0, CC 9.0, Invocations 1``, or the device above.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tracekit.parsers.nsight_compute.assemble import Sink, Spread
from tracekit.parsers.nsight_compute.launches import Launch, args_json, number, sizes
from tracekit.parsers.nsight_compute.metrics import section_name

_SIZES = r"\(\d+, \d+, \d+\)"
_NEW = re.compile(
    rf" {{2,4}}(?P<name>\S.*?)(?: ?(?P<grid>{_SIZES})x(?P<block>{_SIZES}))?"
    r"(?:, Device (?P<device>\d+), CC (?P<cc>\d+\.\d+))?, Invocations (?P<count>\d{1,18})"
)
_OLD = re.compile(
    r" {2,4}(?P<name>\S.*?)(?:, Block Size (?P<block>\d+), Grid Size (?P<grid>\d+))?"
    r"(?:, Device (?P<device>\d+))?, (?P<count>\d{1,18}) invocations"
)
_DEVICE = re.compile(r" {2}Device (\d+), CC (\d+\.\d+)")
_SECTION = re.compile(r" {4,8}Section: (\S.*)")
_DASHES = re.compile(r" {4,8}-+(?: -+){4}")
_TITLES = re.compile(r" {4,8}Metric Name +Metric Unit +Minimum +Maximum +Average")
_VALUES = 3

Process = tuple[int | None, str, str]


@dataclass(slots=True)
class TextSummary:
    """Reads the lines of a summary; it is open from the line of a kernel on."""

    sink: Sink
    launch_count: int = 0
    is_open: bool = False
    has_table: bool = False  # rows may follow
    has_end: bool = True  # of dashes, as newer versions draw it
    _device: tuple[str, str] = ("", "")
    _section: str | None = None
    _spans: Sequence[tuple[int, int]] = ()
    _row_count: int = 0

    def feed(self, place: int, text: str, process: Process) -> bool:
        """Take a line without trailing blanks; return False if it is not part of a summary."""
        if launch := _NEW.fullmatch(text) or _OLD.fullmatch(text):
            self._begin(place, launch.groupdict(), process)
            return True
        if device := _DEVICE.fullmatch(text):
            self._device, self.is_open, self.has_table = (device[1], device[2]), False, False
            return True
        return self.is_open and self._line(text)

    def close(self) -> None:
        """End the summary: a page of launches or another process follows."""
        self.is_open, self.has_table, self._device = False, False, ("", "")

    def _begin(self, place: int, says: dict[str, str | None], process: Process) -> None:
        get = {name: value or "" for name, value in says.items()}.get
        process_id, command, host = process
        args = {"Process Name": command, "Host Name": host}
        if (grid := get("grid", "")).isdigit():  # blocks and threads, of any shape
            args |= {"Grid Size": grid, "Block Size": get("block", "")}
        self.sink.begin(
            Launch(
                event_id=place,
                name=get("name") or None,
                launch_count=int(get("count", "1")),
                process_id=process_id,
                device_id=number(get("device") or self._device[0]),
                grid=sizes(grid),
                block=sizes(get("block", "")),
                compute_capability=get("cc") or self._device[1] or None,
                args_json=args_json(tuple(args), tuple(args.values())),
            )
        )
        self.launch_count += 1
        self.is_open, self.has_table, self._section = True, False, None

    def _line(self, text: str) -> bool:
        if section := _SECTION.fullmatch(text):
            self._section, self.has_table = section_name(section[1]), False
            return True
        if _DASHES.fullmatch(text):
            is_end = self.has_table and self._row_count > 0
            self._spans = [found.span() for found in re.finditer("-+", text)]
            self.has_table, self._row_count = not is_end, 0
            return True
        if _TITLES.fullmatch(text):
            self.has_end = self.has_table  # they stand between dashes
            return True
        cells = self._cells(text) if self.has_table else None
        if cells is None:
            return False
        label, unit, least, most, mean = cells
        self._row_count += 1
        self.sink.add((self.sink.key(self._section, label, unit),), (mean,), Spread(least, most))
        return True

    def _cells(self, text: str) -> list[str] | None:
        """Return name, unit, minimum, maximum and mean of a row; None if it is not a row."""
        spans = self._spans
        if not text.startswith("    ") or text[spans[0][0] : spans[0][0] + 1].strip() == "":
            return None
        edges = [0, *(end for _, end in spans[:-1])]
        starts = [start for start, _ in spans]
        gaps = "".join(text[end:start] for end, start in zip(edges, starts, strict=True))
        cells = [text[start:end].strip() for start, end in spans[:-1]]
        cells.append(text[spans[-1][0] :].strip())
        return cells if not gaps.strip() and all(cells[-_VALUES:]) else None
