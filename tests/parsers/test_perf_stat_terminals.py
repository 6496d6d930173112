"""Output of perf stat as terminals, scripts and options other than the usual ones leave it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.parsers.conftest import Parsed, gathered
from tracekit.errors import FormatError
from tracekit.parser import Report
from tracekit.parsers.perf_stat import PerfStatParser
from tracekit.registry import claims
from tracekit.source import Source

Read = Callable[[str], Parsed]
FOOTER = "\n       0.500000000 seconds time elapsed\n\n"
_NULL_IN_JSON = (
    '{"counter-value" : "9.0", "unit" : "(null)", "event" : "cycles", "event-runtime" : 5, '
    '"pcnt-running" : 100.00, "metric-value" : "0.0", "metric-unit" : "(null)"}\n'
)
TITLE = "\n Performance counter stats for './work':\n\n"


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads output, which the parser must claim before all others."""

    def run(content: str) -> Parsed:
        path = tmp_path / "stat.txt"
        path.write_text(content)
        assert claims(content.encode())[0][0].name == "perf-stat"
        report = Report()
        return gathered(PerfStatParser().parse(Source.at(path), report), report)

    return run


def rows(found: Parsed, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in found["counter"]]


@pytest.mark.parametrize("keys", ["^C", "^C^C", "^\\", "^Z"])
def test_keys_that_the_terminal_shows_are_not_of_perf(read: Read, keys: str) -> None:
    found = read(
        "#           time             counts unit events\n"
        "     1.000500000         7,000,000      cycles\n"
        f"{keys}     1.250500000         2,000,000      cycles\n"
    )
    assert rows(found, "interval_index", "time_ns", "event_name", "value") == [
        (0, 1_000_500_000, "cycles", 7e6),
        (1, 1_250_500_000, "cycles", 2e6),
    ]
    assert found.one("measurement")["dur_ns"] == 1_250_500_000
    assert found.codes == []


def test_keys_in_csv(read: Read) -> None:
    found = read(
        "     1.000122334,600,,cycles,1000,100.00,,\n^C     1.745238111,300,,cycles,700,100.00,,\n"
    )
    assert rows(found, "time_ns", "value") == [(1_000_122_334, 600), (1_745_238_111, 300)]


def in_columns(*cells: str) -> str:
    return "".join(f"{cell:>20} " for cell in cells)


@pytest.mark.parametrize(
    ("names", "values", "expected"),
    [
        (
            ("GHz", "insn per cycle", "branch-misses of all branches"),
            ("1.250", "0.75", "2.50%"),
            [
                ("Hz", 1.25e9, "hz"),
                ("insn per cycle", 0.75, None),
                ("branch-misses of all branches", 0.025, "ratio"),
            ],
        ),
        (  # names unknown to us, the second longer than a column
            ("DRAM_BW_Use", "my own long metric of many words", "my other one"),
            ("1.5", "20.0", "3.0"),
            [
                ("DRAM_BW_Use", 1.5, None),
                ("my own long metric of many words", 20, None),
                ("my other one", 3, None),
            ],
        ),
        (  # a metric without a name has no row; one without a value is unknown
            ("GHz", "(null)", "DRAM_BW_Use"),
            ("2.000", "(null)", "(null)"),
            [("Hz", 2e9, "hz"), ("DRAM_BW_Use", None, None)],
        ),
    ],
)
def test_metrics_only(
    read: Read,
    names: tuple[str, ...],
    values: tuple[str, ...],
    expected: list[tuple[str, float | None, str | None]],
) -> None:
    found = read(f"{TITLE}{in_columns(*names)}\n{in_columns(*values)}\n{FOOTER}")
    assert rows(found, "event_name", "value", "unit")[:-1] == [
        (name, value if value is None else pytest.approx(value), unit)
        for name, value, unit in expected
    ]
    assert found.codes == []


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (
            "frob rate,nitz of foo,\n1.2,3.4,\n",
            [(None, None, "frob rate", 1.2), (None, None, "nitz of foo", 3.4)],
        ),
        (  # the words before the names have commas, whatever the separator is
            "time,socket,cpus,frob rate;\n 1.000000000;S0;8;1,25;\n 2.000000000;S0;8;(null);\n",
            [(0, "S0", "frob rate", 1.25), (1, "S0", "frob rate", None)],
        ),
    ],
)
def test_metrics_only_of_any_name_in_csv(read: Read, table: str, expected: list[object]) -> None:
    found = read(f"# started on Mon Mar  3 10:11:12 2025\n\n{table}")
    assert rows(found, "interval_index", "scope_name", "event_name", "value") == expected
    assert set(found.codes) <= {"no_elapsed_time"}


def test_a_table_that_does_not_begin_as_those_of_perf_is_no_table_of_metrics() -> None:
    assert PerfStatParser().sniff(b"batch,time_s,\n1.2,3.4,\n") is None


def test_metrics_only_of_any_name_in_intervals(read: Read) -> None:
    found = read(
        "#           time CPU              UPI_BW_Use \n"
        "     1.000453137 CPU0                       0.25 \n"
        "     1.000453137 CPU18                      0.50 \n"
    )
    assert rows(found, "scope_name", "time_ns", "event_name", "value") == [
        ("CPU0", 1_000_453_137, "UPI_BW_Use", 0.25),
        ("CPU18", 1_000_453_137, "UPI_BW_Use", 0.5),
    ]


def test_metrics_only_in_json(read: Read) -> None:
    found = read('{"GHz" : "1.250", "DRAM_BW_Use" : "0.75", "x of all x" : "2.50"}\n')
    assert rows(found, "event_name", "value", "interval_index") == [
        ("Hz", 1.25e9, None),
        ("DRAM_BW_Use", 0.75, None),
        ("x of all x", pytest.approx(0.025), None),
    ]
    assert len(found["measurement"]) == 1


def test_metrics_only_in_intervals_of_json(read: Read) -> None:
    start = '"socket" : "S1", "aggregate-number" : 4'
    found = read(
        f'{{"interval" : 0.500000001, {start}, "GHz" : "0.500"}}\n'
        f'{{"interval" : 1.000000001, {start}, "GHz" : "0.750"}}\n'
    )
    assert rows(found, "time_ns", "scope_name", "scope_cpu_count", "value") == [
        (500_000_001, "S1", 4, 5e8),
        (1_000_000_001, "S1", 4, 7.5e8),
    ]
    assert found.one("measurement")["cpu_count"] == 4


@pytest.mark.parametrize(
    "line",
    [
        _NULL_IN_JSON,
        "9,(null),cycles,5,100.00,0.0,(null)\n",
        f"{TITLE}             9      cycles         #      0.0 (null)\n",
    ],
)
def test_null_is_no_name_and_no_unit(read: Read, line: str) -> None:
    found = read(line)
    assert rows(found, "event_name", "value", "unit") == [("cycles", 9, None)]


@pytest.mark.parametrize("name", ["br_mis_pred", "l1d_cache", "mem_access", "l2d_cache"])
def test_an_event_that_begins_another_is_not_truncated(read: Read, name: str) -> None:
    found = read(f"{TITLE}           519,909,965      {name}\n{FOOTER}")
    assert rows(found, "event_name", "value")[0] == (name, 519_909_965)
    assert found.codes == []


@pytest.mark.parametrize("spread", ["(+-  0.04% )", "( +-  0.04% )", "(  +- 0.04% )"])
def test_spreads_with_any_spaces(read: Read, spread: str) -> None:
    title = TITLE.replace(":\n", " (10 runs):\n")
    found = read(
        f"{title}    5000000  cache-misses   # 37.5 % of all cache refs  {spread}\n{FOOTER}"
    )
    # 0.04 % of 5,000,000
    assert rows(found, "event_name", "value", "stddev")[0] == ("cache-misses", 5e6, 2000)


def test_a_separator_with_a_blank(read: Read) -> None:
    found = read(
        "     0.250269405 ;CPU0 ;3129 ; ;cycles ;250166318 ;100,00 ; ;\n"
        "     0.250269405 ;CPU1 ;1526 ; ;cycles ;250161346 ;84,90 ; ;\n"
    )
    assert rows(found, "scope_name", "event_name", "value", "running_ratio") == [
        ("CPU0", "cycles", 3129, 1),
        ("CPU1", "cycles", 1526, pytest.approx(0.849)),
    ]


@pytest.mark.parametrize("separator", ["/", "%", "+", "_"])
def test_a_separator_that_is_in_fields_is_named(read: Read, separator: str) -> None:
    lines = (
        ("0.31", "msec", "task-clock", "306721", "100.00", "0", "CPUs utilized"),
        ("788234", "", "cycles", "311478", "100.00", "2", "GHz"),
    )
    with pytest.raises(FormatError, match=r"separated by '.', which .* perf stat -x\\;"):
        read("".join(f"{separator.join(line)}\n" for line in lines))
