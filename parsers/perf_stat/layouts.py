"""What lines of perf stat look like that differ only in their numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Flags = npt.NDArray[np.bool_]


class Form(IntEnum):
    """How a cell is written; the numbers are those in tracekit.c."""

    TIME, SHORT_TIME, COUNT, SHARE, NUMBER, VALUE, METRIC, BARE, PLAIN, PLAIN_VALUE = range(10)


_NUMBER, _WORDS = r"\d+(?:[.,]\d+)?", "<not counted>|<not supported>"
#: A number that stands by itself in text, in any notation.
PLAIN = r"\d(?:[\d.,]{0,30}\d)?"
#: What a cell of each form is. (Patterns here mean the same to Python and to RE2.)
PATTERNS = {
    Form.TIME: r" *\d{1,9}\.\d{9}",
    Form.SHORT_TIME: r"(?:0|[1-9]\d{0,8})\.\d{1,9}",
    Form.COUNT: r"\d+",
    Form.SHARE: r"\d{1,3}[.,]\d\d",
    Form.NUMBER: _NUMBER,
    Form.VALUE: f"{_NUMBER}|{_WORDS}",
    Form.METRIC: f"(?:{_NUMBER})?",
    Form.BARE: r"(?:0|[1-9]\d*)(?:\.\d+)?",  # valid JSON
    Form.PLAIN: PLAIN,
    Form.PLAIN_VALUE: f"{PLAIN}|{_WORDS}",
}


@dataclass(frozen=True, slots=True)
class FieldCell:
    """A cell in the field `at`, which has `before` and `behind` around it."""

    at: int
    form: Form
    before: str = ""
    behind: str = ""

    def of(self, fields: pa.Array) -> tuple[pa.Array, Flags]:
        """Return the cells among `fields`, and which of them are plain."""
        whole = f"^{re.escape(self.before)}({PATTERNS[self.form]}){re.escape(self.behind)}$"
        is_plain = pc.match_substring_regex(fields, whole)
        is_part = self.before or self.behind
        cells = pc.replace_substring_regex(fields, whole, r"\1") if is_part else fields
        return cells, np.asarray(is_plain)

    def of_few(self, fields: pa.Array) -> tuple[pa.Array, Flags]:
        """Return the same, faster if few are different."""
        coded = fields.dictionary_encode()
        cells, is_plain = self.of(coded.dictionary)
        return cells.take(coded.indices), is_plain[np.asarray(coded.indices)]


@dataclass(frozen=True, slots=True)
class FieldLayout:
    """Which fields of a line are cells. A time has up to nine decimals after a point."""

    value: FieldCell
    time: FieldCell | None = None
    share: FieldCell | None = None
    run: FieldCell | None = None
    error: FieldCell | None = None
    metrics: tuple[FieldCell, ...] = ()

    def fixed(self, count: int) -> list[int]:
        """Return the fields, of `count`, that are not cells."""
        cells = (self.value, self.time, self.share, self.run, self.error, *self.metrics)
        taken = {cell.at for cell in cells if cell is not None}
        return [at for at in range(count) if at not in taken]
