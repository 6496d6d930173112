"""Rows of a block as columns: what their cells say, or that the block is irregular."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracekit.parsers.nvprof.found import MOST_KEPT, MOST_MESSAGES, PendingRows, named_device
from tracekit.parsers.nvprof.quantities import DEFAULT_KILO, NONE, NOTED, POWERS, Value, value
from tracekit.parsers.nvprof.sniffing import may_have_header
from tracekit.parsers.nvprof.tables import TableLayout, may_make_header
from tracekit.reading.text.mixed_rows import MixedNumbers, MixedRows
from tracekit.reading.text.units import unit_of
from tracekit.schema import INT, REAL, TEXT

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Columns = dict[str, pa.Array]

_QUOTE = ord('"')
_LONGEST_TEXT = 100_000  # the csv module takes a few more
#: Exact on every machine, which powers that numpy computes need not be.
TENS = np.array([float(f"1e{power}") for power in range(23)])


class IrregularError(Exception):
    """A block that is to be read line by line."""


def refuse(is_irregular: object) -> None:
    """Raise IrregularError if something is irregular."""
    if is_irregular:
        raise IrregularError


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Rows of a table, and what their texts mean."""

    found: PendingRows
    table: TableLayout
    event_ids: Ints
    rows: MixedRows
    texts: list[str]  # without spaces around them
    text: bytes

    @classmethod
    def of(
        cls, found: PendingRows, table: TableLayout, place: int, rows: MixedRows, text: bytes
    ) -> RowBlock:
        """Take rows that begin at `place`; refuse those that may have a header in them."""
        texts = [text.strip() for text in rows.texts]
        refuse(any(len(text) > _LONGEST_TEXT for text in rows.texts))
        block = cls(found, table, place + rows.starts, rows, texts, text)
        names = distinct(block.codes("name"))
        of_others = (codes for column, codes in rows.codes.items() if column != table.free)
        others = set().union(*(distinct(codes) for codes in of_others))
        other = "\0".join(texts[code] for code in others)
        if may_have_header("\0".join(texts)):
            refuse(any(may_make_header(f"{texts[code]}\0{other}") for code in names))
        return block

    def is_none(self, key: str) -> Flags:
        """Return which cells of a column say nothing; without it, all."""
        if key not in self.table.keys:
            return np.ones(len(self.event_ids), np.bool_)
        if self.table.keys.index(key) not in self.rows.codes:
            return self.numbers(key).is_empty
        return self.flags(self.codes(key), NONE.__contains__)

    def codes(self, key: str) -> Ints:
        """Return the numbers of the texts of a column."""
        return self.rows.codes[self.table.keys.index(key)]

    def numbers(self, key: str) -> MixedNumbers:
        """Return the numbers of a column; without it, empty ones."""
        if key in self.table.keys:
            return self.rows.numbers[self.table.keys.index(key)]
        zeros = np.zeros(len(self.event_ids), np.int64)
        return MixedNumbers(zeros, zeros, np.ones(len(zeros), np.bool_))

    def flags(self, codes: Ints, says: Callable[[str], object]) -> Flags:
        """Return what is true of each text; equal ones are asked once."""
        found = np.zeros(len(self.texts), np.bool_)
        for code in distinct(codes):
            found[code] = bool(says(self.texts[code]))
        return found[codes]

    def each(
        self,
        codes: Ints,
        read: Callable[[str], str | int | None],
        kind: pa.DataType,
    ) -> pa.Array:
        """Return what each text says; equal ones are read once."""
        said: list[str | int | None] = [None] * len(self.texts)
        for code in distinct(codes):
            said[code] = read(self.texts[code])
        return pa.array(said, kind).take(pa.array(codes))

    def named(self, codes: Ints) -> pa.Array:
        """Return each text."""
        return self.each(codes, lambda text: text, TEXT)

    def integers(self, key: str) -> pa.Array:
        """Return the integers of a column; refuse others."""
        numbers = self.numbers(key)
        refuse(numbers.decimals.any())
        return pa.array(numbers.digits, INT, mask=numbers.is_empty)

    def devices(self) -> tuple[list[tuple[str, int]], pa.Array]:
        """Return the devices as written, with the place of their first rows; and their numbers.

        Those of text may be truncated before the number, which is NULL then.
        """
        if "device" not in self.table.keys:
            return [], pa.nulls(len(self.event_ids), INT)
        codes = self.codes("device")
        every = distinct(codes)
        texts = [self.texts[code] for code in every]
        refuse(len(self.found.device_names) + len(texts) >= MOST_KEPT)
        is_cut = any(text not in NONE and not named_device(text) for text in texts)
        refuse(is_cut and self.table.is_csv)
        refuse(len(self.found.cut_devices) + len(texts) >= MOST_MESSAGES)
        first = [int(np.argmax(codes == code)) for code in every]
        known = {text: found[1] for text in texts if (found := named_device(text))}
        places = sorted(zip(first, texts, strict=True))
        return [(text, place) for place, text in places], self.each(codes, known.get, INT)

    def begins_quoted(self) -> bool:
        """Return whether each row begins with a quote: the program wrote nothing before it."""
        first = np.frombuffer(self.text, np.uint8)[self.rows.starts]
        return bool((first == _QUOTE).all())

    def processes(self) -> Columns:
        """Return the column of the process; none if it is unknown."""
        pid, count = self.found.where.pid, len(self.event_ids)
        return {} if pid is None else {"process_id": pa.array(np.full(count, pid), INT)}

    def quantities(self, key: str) -> Quantities:
        """Return the values of a column; refuse what is no whole cell."""
        place = self.table.keys.index(key)
        numbers, codes = self.rows.numbers[place], self.rows.codes[place]
        for code in distinct(codes[numbers.is_empty]):
            text = self.texts[code]
            refuse('"' in text or text != self.rows.texts[code] or NOTED.fullmatch(text))
        return Quantities(self, numbers, codes, self.found.where.units.get(key, ""))

    def written(self, key: str, rows: Ints) -> pa.StringArray:
        """Return the cells of a column of values at some rows."""
        return self.rows.written[self.table.keys.index(key)].take(pa.array(rows * 2))


@dataclass(frozen=True, slots=True)
class Quantities:
    """The values of a column; those without a unit have `unit`.

    A text can be a number, too, such as a negative one: `quantities.value` tells.
    """

    block: RowBlock
    numbers: MixedNumbers
    codes: Ints
    unit: str

    def are_plain(self) -> bool:
        """Return whether all numbers are integers without a unit."""
        is_text = self.numbers.is_empty
        has_unit = self.unit or self.block.flags(self.codes[~is_text], bool).any()
        is_odd = self.block.flags(self.codes[is_text], lambda text: value(text).number is not None)
        return not (has_unit or self.numbers.decimals.any() or is_odd.any())

    def flags_of_texts(self, says: Callable[[str], object]) -> Flags:
        """Return which cells are texts of which something is true."""
        found: Flags = self.numbers.is_empty & self.block.flags(self.codes, says)
        return found

    def are_without_units(self) -> Flags:
        """Return which cells are numbers without their own unit."""
        found: Flags = ~self.numbers.is_empty & ~self.block.flags(self.codes, bool)
        return found

    def reals(self, read: Callable[[str, str, int], float | None]) -> Reals:
        """Return each number in its base unit, like `Value.in_base`; NaN if there is none.

        `read` tells the number of a text, from its unit and the bytes of a KB. A product or
        quotient of digits and a power of ten is rounded once, as both are exact; powers of two
        change no digit.
        """
        texts, kilo = self.block.texts, self.block.found.kilo or DEFAULT_KILO
        powers, twos = np.zeros(len(texts), np.int64), np.ones(len(texts))
        of_texts = np.full(len(texts), np.nan)
        for code in distinct(self.codes[~self.numbers.is_empty]):
            unit = texts[code] or self.unit
            of_bytes = POWERS.get(unit.removesuffix("/s"))
            if of_bytes is None:
                powers[code] = unit_of(unit).power
            elif kilo == DEFAULT_KILO:
                twos[code] = float(kilo**of_bytes)
            else:
                powers[code] = 3 * of_bytes
        for code in distinct(self.codes[self.numbers.is_empty]):
            number = read(texts[code], self.unit, kilo)
            of_texts[code] = np.nan if number is None else number
        shift = self.numbers.decimals - powers[self.codes]
        refuse(most(np.abs(shift)) >= len(TENS))
        tens, digits = TENS[np.abs(shift)], self.numbers.digits
        scaled = np.where(shift >= 0, digits / tens, digits * tens) * twos[self.codes]
        return np.where(self.numbers.is_empty, of_texts[self.codes], scaled)

    def each(self, read: Callable[[Value], str | None]) -> pa.Array:
        """Return what is read of each value, whatever its number; equal ones are read once."""
        places = self.codes * 2 + self.numbers.is_empty
        said: list[str | None] = [None] * (2 * len(self.block.texts))
        for place in distinct(places):
            text = self.block.texts[place // 2]
            said[place] = read(value(text if place % 2 else f"1{text}", self.unit))
        return pa.array(said, TEXT).take(pa.array(places))


def known(numbers: Reals) -> pa.Array:
    """Return numbers; NULL for NaN."""
    return pa.array(numbers, REAL, mask=np.isnan(numbers))


def distinct(codes: Ints) -> list[int]:
    """Return each code once, in order."""
    return np.flatnonzero(np.bincount(codes)).tolist()


def most(values: Ints) -> int:
    """Return the maximum; 0 without any."""
    return int(values.max(initial=0))


def reals(numbers: MixedNumbers) -> Reals:
    """Return the float64 nearest to each number."""
    found: Reals = numbers.digits / TENS[numbers.decimals]
    return found
