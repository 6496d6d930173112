"""Lines of perf stat that are known by ones before them give what each line read alone gives."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.benchmarks.perf_stat import written
from tracekit.errors import FormatError
from tracekit.parser import Report
from tracekit.parsers.perf_stat import PerfStatParser, csvrows, known
from tracekit.parsers.perf_stat import reading as perf_reading
from tracekit.parsers.perf_stat.csvrows import CsvReader
from tracekit.source import Source

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    path
    for folder in (ROOT / "fixtures" / "perf_stat", ROOT.parent / "shared" / "corpus" / "perf")
    for path in folder.rglob("*")
    if path.is_file()
)


def read(path: Path) -> tuple[Any, ...]:
    """Everything that a file gives."""
    report, rows = Report(), dict[str, list[Any]]()
    try:
        for table, batch in PerfStatParser().parse(Source.at(path), report):
            rows.setdefault(table, []).extend(batch.to_pylist())
    except FormatError as error:
        return str(error), report.issues
    return rows, report.issues, report.event_count, report.facts, report.read_bytes


def check_line_by_line(path: Path, least: int = 0) -> None:
    """The file gives the same by C, in columns, by fields, and when nothing is known.

    At least so many lines are known ones.
    """
    taken: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(perf_reading, "_FEW_LINES", 3)
        patch.setattr(perf_reading, "_MANY_LINES", 50)
        patch.setattr(known, "_MANY", 5)
        take = known.LearnedLines.take

        def counted(
            self: known.LearnedLines, found: known.LearnedRows, start: int, end: int
        ) -> int:
            taken.append(end - start)
            return take(self, found, start, end)

        patch.setattr(known.LearnedLines, "take", counted)
        ways, counts = [], []
        for owner, name, without in (
            (known, "line_scanner", None),
            (known, "line_scanner", lambda **_: None),
            (CsvReader, "_cut_even", lambda *_: None),
            (known.LearnedLines, "find", lambda *_: None),
        ):
            if without is not None:
                patch.setattr(owner, name, without)
            if name == "find":
                patch.setattr(CsvReader, "_more_again", lambda *_: False)
            ways.append(read(path))
            counts.append(sum(taken))
            taken.clear()
    assert counts[1] == counts[2] >= least
    assert counts[0] >= counts[1]  # a line that is not UTF-8 stops those of Python only
    assert counts[3] == 0
    assert ways[0] == ways[1] == ways[2] == ways[3]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_fixture_again_and_again(tmp_path: Path, path: Path) -> None:
    again = tmp_path / "stat"
    again.write_bytes(path.read_bytes() * 12)
    check_line_by_line(again)


@pytest.mark.parametrize("path", FILES[::4], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_damaged_file(tmp_path: Path, path: Path) -> None:
    rng, damaged = random.Random(path.name), tmp_path / "stat"
    content = bytearray(path.read_bytes() * 12)
    for _ in range(6):
        place = rng.randrange(len(content))
        flipped = rng.choice([b"", b"\x00", b"\xff", b"\n", b"9", bytes([content[place] ^ 1])])
        content[place : place + rng.choice([1, 1, 30])] = flipped
    damaged.write_bytes(content[: rng.randrange(len(content) // 2, len(content))])
    check_line_by_line(damaged)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("form", ["csv", "json", "txt"])
def test_most_lines_of_many_are_known(tmp_path: Path, form: str) -> None:
    path = tmp_path / "stat"
    path.write_text(written(form, 3000, cpu_count=4))
    check_line_by_line(path, least=2500)


# Texts that stand in for others: what is plain no more, or says something else.
ODD = [
    "",
    "-5",
    "1e9",
    "nan",
    "-nan",
    "inf",
    "007",
    "12.5",
    "1,5",
    "<not counted>",
    "summary",
    "<not supported>",
    "<none>",
    "abc",
    "\xa0",
    "\x1f",
    "\x1b[31m1\x1b[m",
    "\r",
    "\\u0031",
    "99999999999999999999999",
    "1.234.567",
    "CPU7",
    "#",
    "  3",
    "0.000000001",
    "%",
    "\u0663",
    "\x00",
]


def spoiled(text: str, rng: random.Random, share: float) -> bytes:
    """Some of the lines with another text in place of a word, cut, doubled or of other bytes."""
    lines: list[bytes] = []
    for line in text.splitlines():
        words = list(known_words(line))
        changed = line
        if rng.random() < share:
            start, end = rng.choice(words)
            changed = line[:start] + rng.choice(ODD) + line[end:]
        raw = changed.encode()
        if rng.random() < share / 8:
            raw = rng.choice([raw[: len(raw) // 2], raw + b"\r", b"\xff" + raw, b"", b"noise 1 2"])
        lines += [raw] * rng.choice([1] * 40 + [2])
    return b"\n".join(lines) + b"\n"


def known_words(line: str) -> list[tuple[int, int]]:
    """Where the words of a line are: what stands between blanks, commas and quotes."""
    places, start = [], 0
    for at, letter in enumerate(f"{line},"):
        if letter in ' ,"':
            places.append((start, at))
            start = at + 1
    return places


@pytest.mark.sampled(6)
@pytest.mark.parametrize("form", ["csv", "json", "txt"])
@pytest.mark.parametrize("share", [0.004, 0.2])
def test_odd_lines_among_known_ones(tmp_path: Path, form: str, share: float) -> None:
    path = tmp_path / "stat"
    path.write_bytes(spoiled(written(form, 3000, cpu_count=4), random.Random(1), share))
    check_line_by_line(path, least=500)


@pytest.mark.deep
def test_formats_one_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "stat"
    forms = ["json", "txt", "json", "csv", "txt", "json", "csv"]
    path.write_text("".join(written(form, 700, cpu_count=2) for form in forms))
    check_line_by_line(path, least=1000)


SHAPES = [
    "{time},CPU{cpu},{value},,cycles,{run},{share},,",
    "{time},CPU{cpu},{value},,instructions,{run},{share},{metric},insn per cycle",
    "{time},CPU{cpu},{value},,cpu/event=0xc7,umask=0x1/u,{run},{share},,",
    "{time},CPU{cpu},,,,,{metric},%  tma_retiring",
    "{time},{value},MiB,uncore_imc/cas_count_read/,{run},{share},,",
    "{value},,branches,{error}%,{run},{share},,",
    "     summary,CPU{cpu},{value},,cycles,{run},{share},,",
    (
        '{{"interval" : {time}, "cpu" : "{cpu}", "counter-value" : "{value}", "unit" : "", '
        '"event" : "cycles", "event-runtime" : {run}, "pcnt-running" : {share}, '
        '"metric-value" : "{metric}", "metric-unit" : "insn per cycle"}}'
    ),
    (
        '{{"counter-value" : "{value}", "unit" : "", "event" : "cycles", "variance" : {error}, '
        '"event-runtime" : {run}, "pcnt-running" : {share}, "metric-value" : {metric}, '
        '"metric-unit" : ""}}'
    ),
    "     {time} CPU{cpu}    {value}      cycles    #  {metric}  insn per cycle  ({share}%)",
    "     {time} S0    2     {value}      cycles   ({share}%)",
    "     {time}    {value} msec task-clock    #  {metric} CPUs utilized",
    "     {value}      cycles     ( +-  {error}% )  ({share}%)",
    "\n Performance counter stats for './work' (3 runs):\n",
    "\n   0.5 seconds time elapsed\n",
    "# started on Mon Oct  5 10:00:00 2026\n",
]
NUMBER = st.one_of(
    st.integers(0, 10**12).map(str), st.decimals(0, 10**6, places=2).map(str), st.sampled_from(ODD)
)
LINE = st.builds(
    lambda shape, time, **cells: shape.format(time=f"{time // 10}.{time % 10}00000000", **cells),
    st.shared(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=4), key="shapes").flatmap(
        st.sampled_from
    ),
    st.integers(0, 30),
    cpu=st.integers(0, 3),
    value=NUMBER,
    run=st.integers(0, 10**9) | st.sampled_from(ODD),
    share=st.sampled_from(["100.00", "50.00", "0.00", *ODD]),
    metric=NUMBER,
    error=st.sampled_from(["0.50", "12.00", *ODD]),
)


@settings(
    max_examples=settings().max_examples * 3 // 5,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(LINE, min_size=1, max_size=60))
def test_any_lines(tmp_path_factory: Any, lines: list[str]) -> None:
    path = tmp_path_factory.mktemp("perf") / "stat"
    path.write_bytes("\n".join([*lines, ""]).encode())
    check_line_by_line(path)


LOOKS = {
    # A metric without a name is none of perf's.
    "csv": ("1.000000000,5,,cycles,1,100.00,,", "1.000000000,5,,cycles,1,100.00,7,"),
    # The mark that numbers are cut out with.
    "txt": (
        "     1.000000000 CPU0   5      cycles",
        "\x1f1.000000000\x1f CPU0 \x1f5\x1f      cycles",
    ),
    # A number that is no JSON.
    "json": (
        '{"interval" : 1.0, "counter-value" : "5", "event" : "cycles", "event-runtime" : 1}',
        '{"interval" : 1.0, "counter-value" : "5", "event" : "cycles", "event-runtime" : 01}',
    ),
}


@pytest.mark.parametrize(("line", "odd"), LOOKS.values(), ids=LOOKS)
def test_what_looks_like_a_known_line_and_is_none(tmp_path: Path, line: str, odd: str) -> None:
    path = tmp_path / "stat"
    path.write_text("\n".join([*[line] * 20, odd, *[line] * 20, ""]))
    check_line_by_line(path, least=20)


@pytest.mark.parametrize("metric", ['"metric-value" : "3"', '"metric-unit" : "GHz"'])
def test_each_line_with_half_a_metric_is_told(tmp_path: Path, metric: str) -> None:
    path = tmp_path / "stat"
    line = '{"interval" : 1.0, "counter-value" : "5", "event" : "cycles", "event-runtime" : 1, %s}'
    path.write_text(f"{line % metric}\n" * 100)
    check_line_by_line(path)
    _, issues, *_ = read(path)
    assert [issue.occurrence_count for issue in issues.values() if issue.code == "cut_line"] == [
        100
    ]


def test_lines_in_columns_have_the_fields_of_each_line() -> None:
    rng, kept = random.Random(22), 0
    for _ in range(2000):
        count = rng.randint(2, 4)
        lines = [
            ",".join(rng.choice([*ODD, '"', '"a', "NA", "null"]) for _ in range(count)).encode()
            for _ in range(rng.randint(1, 4))
        ]
        lines += rng.choice([[b""], [b"a,\xff"], [b"a"], []] + [[]] * 4)
        columns = csvrows._columns(lines, ",")
        if columns is not None:
            fields = zip(*(column.to_pylist() for column in columns), strict=True)
            assert list(map(list, fields)) == [line.decode().split(",") for line in lines]
            kept += 1
    assert kept > 200


@pytest.mark.parametrize(
    "lines",
    [[b"\xef\xbb\xbfa,b"], [b"a,b\rc,d"], [b"a,b", b""], [b"a,b", b"a"], [b"a,\xff"], [b"," * 99]],
)
def test_odd_lines_are_not_read_in_columns(lines: list[bytes]) -> None:
    assert csvrows._columns(lines, ",") is None
