"""What the tests of the outputs share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

from tracekit.result import Result, ResultColumn, unit_of

MakeResult = Callable[..., Result]


@pytest.fixture(scope="session")
def make_result() -> MakeResult:
    """Builds a result from columns of values, units by the naming rule."""

    def build(
        columns: Mapping[str, Sequence[Any] | pa.Array[Any]],
        *,
        notes: Sequence[str] = (),
        heading: str = "",
    ) -> Result:
        arrays = [v if isinstance(v, pa.Array) else pa.array(v) for v in columns.values()]
        described = tuple(ResultColumn(name, unit_of(name), f"doc of {name}") for name in columns)
        table = pa.Table.from_arrays(arrays, names=list(columns))
        return Result("test", table, described, tuple(notes), heading)

    return build


#: Names that a file may hold, each with what it would do if it were printed as it is.
HOSTILE = {
    "ansi": "\x1b[31mred\x1b[0m",
    "c1": "\x9b31mred",
    "title": "\x1b]0;owned\x07",
    "rich markup": "[red]x[/red]",
    "emoji code": ":smile:",
    "html": "<script>alert(1)</script>",
    "formula": "=cmd|' /C calc'!A0",
    "new line": "first\nsecond\r\nthird",
    "tab": "\tindented",
    "long": "x" * 4000,
    "wide": "漢" * 500,
    "marks": "e" + "\u0301" * 300,
    "bidi": "\u202egnp.exe\u202c",
    "isolate": "\u2066left\u2069",
    "zero width": "ze\u200bro\ufeff",
    "tags": "a\U000e0041\U000e0042",
    "line separator": "a\u2028b\u2029c",
    "nul": "a\x00b\x7f",
    "sql": "'; DROP TABLE kernel; --",
    "markdown": "a|b`c*d_e[f](http://g)\\h~i@j$k$ &amp; <!-- www.x.org",
    "quotes": 'say "no", then',
    "template": "void f<" * 300,
    "empty": "",
    "blank": "   ",
}


@pytest.fixture(scope="session")
def hostile_names() -> dict[str, str]:
    """Names that would do harm if they were printed as they are."""
    return HOSTILE


@pytest.fixture(params=list(HOSTILE.values()), ids=list(HOSTILE))
def hostile(request: pytest.FixtureRequest) -> str:
    """One such name after the other."""
    name: str = request.param
    return name


#: Those that a picture could take for its own: its marks, its math, its lines, its room.
IN_PICTURES = (
    "ansi",
    "html",
    "new line",
    "long",
    "wide",
    "marks",
    "bidi",
    "line separator",
    "nul",
    "markdown",
    "empty",
)


@pytest.fixture(params=[HOSTILE[kind] for kind in IN_PICTURES], ids=IN_PICTURES)
def hostile_in_pictures(request: pytest.FixtureRequest) -> str:
    """One name after the other that could harm a picture; to draw one takes a second."""
    name: str = request.param
    return name
