"""What C reads of lines of perf stat is what regular expressions and decimals make of them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracekit.compiled import library
from tracekit.parsers.perf_stat.layouts import PATTERNS, FieldCell, FieldLayout, Form
from tracekit.parsers.perf_stat.scanning import LineScanner, ScannedLines, line_scanner
from tracekit.parsers.perf_stat.textrows import cut_numbers
from tracekit.reading.text.numbers import Notation

pytestmark = pytest.mark.skipif(library() is None, reason="no C compiler here")


def scanner(*, is_text: bool = False) -> LineScanner:
    found = line_scanner(is_text=is_text)
    assert found is not None
    return found


def scanned(
    fields: list[str],
    layout: FieldLayout,
    text: str,
    powers: tuple[int, ...] = (0,),
    separator: bytes | None = b";",
    notation: Notation = "point",
) -> ScannedLines:
    """The lines of a text, of which only these fields were learned."""
    scan = scanner()
    known = scan.layout(layout, len(fields))
    fixed = [fields[at] for at in layout.fixed(len(fields))]
    known.learn(fixed, range(len(powers)), powers)
    return scan.scan(text.encode(), 0, 100, separator, notation, [known])


CELL = st.text(st.sampled_from("0123456789.,<> -+eE%"), max_size=12) | st.sampled_from(
    ["<not counted>", "<not supported>", "0.123456789", "  1.000000000", "01.5", "0", "", "1,234"]
)


@given(CELL, st.sampled_from(list(Form)))
def test_a_cell_is_in_the_form_that_its_pattern_says(cell: str, form: Form) -> None:
    layout = FieldLayout(FieldCell(1, form, "<", "%"))
    found = scanned(["x", ""], layout, f"x;<{cell}%")
    is_plain = re.fullmatch(PATTERNS[form], cell, re.ASCII) is not None
    assert found.rows["value"].to_pylist() == [cell] * is_plain


@given(st.integers(0, 10**19), st.integers(0, 9), st.integers(-3, 9), st.booleans(), st.booleans())
def test_a_number_is_its_decimal_rounded_once(
    digits: int, decimals: int, power: int, is_grouped: bool, is_comma: bool
) -> None:
    number = Decimal(digits).scaleb(-decimals)
    written = f"{number:{',' if is_grouped else ''}.{decimals}f}"
    if is_comma:
        written = written.translate(str.maketrans(",.", ".,"))
    layout = FieldLayout(FieldCell(1, Form.PLAIN))
    notation: Notation = "comma" if is_comma else "point"
    found = scanned(["x", ""], layout, f"x;{written}", (power,), notation=notation)
    assert found.rows["value"].to_pylist() == [written][: len(written) <= 32]
    for value in found.rows["value_number"].to_pylist():
        assert value == float(number.scaleb(power)) or (digits >= 2**53 and math.isnan(value))


@pytest.mark.parametrize(
    "text", ["1,23", "1,2345", "1,234,5", "12,34.5", "1.5,000", ",123", "1,,234", "1.", "1.2.3"]
)
def test_what_is_no_number_in_the_notation_is_left_to_python(text: str) -> None:
    found = scanned(["x", ""], FieldLayout(FieldCell(1, Form.PLAIN)), f"x;{text}")
    assert all(map(math.isnan, found.rows["value_number"].to_pylist()))


TEXT = st.text(st.sampled_from("  (()%#<>12,.ab"), max_size=40) | st.lists(
    st.sampled_from(
        [
            "1",
            "12,345",
            "1.5",
            "<not counted>",
            "<not supported>",
            " ",
            "  ",
            "(",
            ")",
            "%",
            "a",
            "#",
        ]
    ),
    max_size=14,
).map("".join)


@given(TEXT)
def test_a_line_is_cut_at_the_numbers_that_the_pattern_finds(line: str) -> None:
    fields = cut_numbers(line)
    if len(fields) < 3:
        return
    value, *others = (FieldCell(at, Form.PLAIN_VALUE) for at in range(1, len(fields), 2))
    powers = (0,) * (1 + len(others))
    found = scanned(fields, FieldLayout(value, metrics=tuple(others)), line, powers, None)
    assert found.rows["value"].to_pylist() == fields[1::2]


def test_all_that_a_line_has_goes_to_its_rows() -> None:
    """Time, event, three metrics of which one has no name and one no series, and a share."""
    cells = (FieldCell(at, Form.METRIC) for at in (6, 7, 8))
    layout = FieldLayout(
        FieldCell(1, Form.VALUE),
        FieldCell(0, Form.TIME),
        FieldCell(3, Form.SHARE),
        FieldCell(4, Form.COUNT),
        FieldCell(5, Form.NUMBER, behind="%"),
        tuple(cells),
    )
    scan = scanner()
    known = scan.layout(layout, 9)
    known.learn(["cycles"], (7, -1, -2, 9), (6, 0, 0, 3))
    lines = [
        " 2.000000001;5;cycles;50.00;77;1.5%;;8;0.25",
        "2.000000002;<not counted>;cycles;0.00;0;0%;;;",
        "2.000000003;5;cycles;50.00;77;1.5%;4;8;0.25",  # a metric without a name
        "2.000000004;5;branches;50.00;77;1.5%;;8;0.25",
        "3.000000000;6;cycles;100.00;78;2%;;;1\r",
    ]
    found = scan.scan("\n".join(lines).encode(), 0, 100, b";", "point", [known])
    assert found.times.tolist() == [2000000001, 2000000002, -1, -1, 3000000000]
    assert found.starts.tolist() == [0, 2, 4, 4, 4, 6]
    assert found.ends.tolist() == [len("\n".join(lines[: i + 1])) for i in range(5)]
    said = found.rows.to_pydict()
    assert said["series"] == [7, 9] * 3
    assert said["value"] == ["5", "0.25", "<not counted>", "", "6", "1"]
    assert said["percent"] == ["50.00", None, "0.00", None, "100.00", None]
    assert said["running"] == ["77", None, "0", None, "78", None]
    assert said["noise"] == ["1.5", None, "0", None, "2", None]
    none = math.nan
    assert said["value_number"] == pytest.approx([5e6, 250, none, none, 6e6, 1e3], nan_ok=True)
    assert said["percent_number"] == pytest.approx([0.5, none, 0, none, 1, none], nan_ok=True)
    assert said["running_number"] == pytest.approx([77, none, 0, none, 78, none], nan_ok=True)
    assert said["noise_number"] == pytest.approx([0.015, none, 0, none, 0.02, none], nan_ok=True)


def test_text_without_a_share_ran_always() -> None:
    scan = scanner(is_text=True)
    known = scan.layout(FieldLayout(FieldCell(1, Form.PLAIN)), 3)
    known.learn(["", " cycles"], (0,), (0,))
    found = scan.scan(b"5 cycles\n  6 cycles", 0, 100, None, "point", [known])
    assert found.rows["percent"].to_pylist() == ["100", "100"]
    assert found.rows["percent_number"].to_pylist() == [1, 1]


def test_a_line_of_two_kinds_is_of_the_first_and_the_latest_series_counts() -> None:
    scan = scanner()
    first, second = (scan.layout(FieldLayout(FieldCell(at, Form.COUNT)), 2) for at in (1, 0))
    first.learn(["1"], (3,), (0,))
    second.learn(["2"], (4,), (0,))
    first.learn(["1"], (5,), (0,))
    found = scan.scan(b"1;2\n3;2\n1;x\n1;2;", 0, 100, b";", "point", [first, second])
    assert found.rows["series"].to_pylist() == [5, 4]
    assert found.starts.tolist() == [0, 1, 2, 2, 2]


def test_what_has_no_room_is_left_to_python() -> None:
    scan = scanner()
    many = scan.layout(FieldLayout(FieldCell(0, Form.COUNT)), 1000)
    long = scan.layout(FieldLayout(FieldCell(0, Form.COUNT, "a" * 100)), 2)
    full = scan.layout(
        FieldLayout(
            FieldCell(0, Form.COUNT), metrics=tuple(FieldCell(at, Form.METRIC) for at in range(99))
        ),
        200,
    )
    for layout in (many, long, full):
        layout.learn([""], (0,), (0,))
    found = scan.scan(b"5;x", 0, 100, b";", "point", [many, long, full])
    assert found.rows.num_rows == 0
    assert found.times.tolist() == [-1]


def test_no_more_lines_are_read_than_there_is_room_for() -> None:
    scan = scanner()
    metrics = tuple(FieldCell(at, Form.METRIC) for at in range(1, 60))
    known = scan.layout(FieldLayout(FieldCell(0, Form.COUNT), metrics=metrics), 61)
    known.learn(["x"], range(60), [0] * 60)
    line = ";".join(map(str, range(60))) + ";x"
    text, place, counts = "\n".join([line] * 90).encode(), 0, []
    while place <= len(text):
        found = scan.scan(text, place, 50, b";", "point", [known])
        counts.append(len(found.ends))
        assert found.rows["value"].to_pylist() == list(map(str, range(60))) * len(found.ends)
        place = int(found.ends[-1]) + 1
    assert sum(counts) == 90
    assert max(counts) < 50


_LINES = """
from pathlib import Path
from tests.benchmarks.perf_stat import written
from tests.parsers.test_perf_stat_known import spoiled
from tracekit.parser import Report
from tracekit.parsers.perf_stat import PerfStatParser, scanning
from tracekit.source import Source

scanning.library = lambda: library
def read(content):
    path = Path({folder!r}) / "stat"
    path.write_bytes(content)
    for _ in PerfStatParser().parse(Source.at(path), Report()):
        pass
"""
_DAMAGED_LINES = """
rows = 0
for form in ("csv", "json", "txt"):
    for share in (0.01, 0.3):
        content = spoiled(written(form, 1500, cpu_count=4), rng, share)
        for size in (len(content), rng.randrange(1000, len(content))):
            rows += 1
            read(content[:size])
print(rows)
"""
#: Each allocation fails once: there is no answer, or Python reads what has no layout.
_LACKING_LINES = """
content = spoiled(written("csv", 3000, cpu_count=100), rng, 0.01)
failed = 0
for name in ("allocations_left", "tables_left"):
    left = ctypes.c_long.in_dll(library, name)
    for number in range(100):
        left.value = number
        try:
            read(content)
        except MemoryError:
            failed += 1
        if left.value >= 0:
            break
        left.value = -1
    left.value = -1
print(failed)
"""


@pytest.mark.deep
@pytest.mark.parametrize(("script", "least"), [(_DAMAGED_LINES, 12), (_LACKING_LINES, 5)])
def test_it_touches_its_own_memory_only(
    sanitized: Callable[[str], int], tmp_path: Path, script: str, least: int
) -> None:
    folder = _LINES.format(folder=str(tmp_path))
    assert sanitized(folder + script) >= least
