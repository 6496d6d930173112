"""What a report page says, read by the HTML parser of the standard library."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

UNKNOWN = "\u2013"
_VOID = {"meta", "input", "br", "link", "img", "hr"}
#: Base units in one of those that a header shows.
_FACTORS = {
    "ns": 1.0,
    "µs": 1e3,
    "ms": 1e6,
    "s": 1e9,
    "%": 0.01,
    "B": 1.0,
    "FLOP": 1.0,
    "B/s": 1.0,
    "FLOP/s": 1.0,
    "FLOP/byte": 1.0,
    "inst": 1.0,
    "Hz": 1.0,
}
_PREFIXES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}


@dataclass
class TableSeen:
    """A table: its caption, the names and texts of its headers, and its cells."""

    caption: str = ""
    names: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)

    def values(self, name: str) -> list[float | str | None]:
        """The cells of a column: numbers in base units, other texts; None for unknown."""
        place = self.names.index(name)
        head = self.heads[place]
        factor = factor_of(head[head.rindex("[") + 1 : -1]) if head.endswith("]") else 1.0
        return [value_of(row[place].strip(), factor) for row in self.rows]


def factor_of(unit: str) -> float:
    """How many base units a unit in a header is."""
    if unit in _FACTORS:
        return _FACTORS[unit]
    return _PREFIXES[unit[0]] * _FACTORS[unit[1:]]


def value_of(text: str, factor: float) -> float | str | None:
    """The value of a cell."""
    if text == UNKNOWN:
        return None
    try:
        return float(text.replace(",", "")) * factor
    except ValueError:
        return text


class PageSeen(HTMLParser):
    """A page: tags with attributes, tables, texts by tag, scripts and styles."""

    def __init__(self, content: bytes) -> None:
        """Read a whole page."""
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.tables: list[TableSeen] = []
        self.commands: list[str] = []
        self._open: list[str] = []
        self.feed(content.decode("utf-8"))
        self.close()
        assert self._open == [], "elements are left open"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        known = dict(attrs)
        assert len(known) == len(attrs), f"an attribute twice: {attrs}"
        self.tags.append((tag, known))
        if tag not in _VOID:
            self._open.append(tag)
            self.texts.setdefault(tag, []).append("")
        if tag == "table":
            self.tables.append(TableSeen())
        elif tag == "tr" and "tbody" in self._open:
            self.tables[-1].rows.append([])
        elif tag == "td":
            self.tables[-1].rows[-1].append("")
        elif tag == "th":
            self.tables[-1].names.append(known["data-name"] or "")
            self.tables[-1].heads.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element without content, as in SVG."""
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """Leave an element: the innermost one."""
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note a text."""
        if not self._open:
            return
        self.texts[self._open[-1]][-1] += data
        if "td" in self._open:
            self.tables[-1].rows[-1][-1] += data
        elif "th" in self._open:
            self.tables[-1].heads[-1] += data
        elif self._open[-1] == "caption":
            self.tables[-1].caption += data

    def table(self, caption: str) -> TableSeen:
        """The table with this caption."""
        (found,) = [table for table in self.tables if table.caption == caption]
        return found

    @property
    def facts(self) -> dict[str, str]:
        """Terms with their descriptions: the first of each."""
        pairs = zip(reversed(self.texts["dt"]), reversed(self.texts["dd"]), strict=True)
        return dict(pairs)

    def attributes(self, name: str) -> list[str]:
        """The values of an attribute, in order."""
        return [known[name] or "" for _, known in self.tags if name in known]

    def timelines(self) -> list[Any]:
        """The data of the timelines."""
        scripts = [known for tag, known in self.tags if tag == "script"]
        texts = zip(scripts, self.texts["script"], strict=True)
        return [json.loads(text) for known, text in texts if known.get("type")]
