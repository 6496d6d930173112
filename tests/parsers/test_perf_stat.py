"""Output of perf stat, each row worked out by hand. Files under fixtures/perf_stat are told apart
there into recordings and those made by hand."""

from __future__ import annotations

import gzip
import json
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.benchmarks.perf_stat import written
from tests.parsers.conftest import Parsed, Row, gathered
from tracekit.conformance import check_parser
from tracekit.errors import FormatError
from tracekit.parser import Report
from tracekit.parsers.perf_stat import PerfStatParser, assemble
from tracekit.reading.text import lines
from tracekit.registry import claims
from tracekit.schema import TABLES, batch_of_rows
from tracekit.source import Source

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "perf_stat"
TITLE = "\n Performance counter stats for './work':\n\n"
FOOTER = "\n       0.500000000 seconds time elapsed\n\n"
Read = Callable[[bytes | str], Parsed]


def parsed(path: Path) -> Parsed:
    report = Report()
    return gathered(PerfStatParser().parse(Source.at(path), report), report)


def fixture(name: str) -> Parsed:
    return parsed(FIXTURES / name)


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads output given as text or bytes."""

    def run(content: bytes | str) -> Parsed:
        path = tmp_path / "stat.txt"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return parsed(path)

    return run


def known(row: Row, *names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def rows(found: Parsed, *names: str, kind: str | None = None) -> list[tuple[Any, ...]]:
    return [known(row, *names) for row in found["counter"] if kind in (None, row["record_kind"])]


# -- the same in text, CSV and JSON ---------------------------------------------------------------

SAME = (
    "record_kind",
    "event_name",
    "event_key",
    "pmu_name",
    "metric_event_name",
    "value",
    "unit",
    "status_kind",
    "running_ratio",
    "stddev",
)


@pytest.mark.parametrize("name", ["stat.csv", "stat.json"])
def test_a_measurement_is_the_same_in_every_format(name: str) -> None:
    text, other = fixture("intel_trio/stat.txt"), fixture(f"intel_trio/{name}")
    expected = [list(row) for row in rows(text, *SAME)]
    expected[-1][8] = 1.0  # the footer does not say that the clock never stopped
    assert [list(row) for row in rows(other, *SAME)] == expected
    assert known(text.one("measurement"), "dur_ns", "dur_kind", "repeat_count") == (
        641_900_000,
        "footer",
        3,
    )
    assert known(other.one("measurement"), "dur_ns", "dur_kind", "repeat_count") == (
        641_900_000,
        "duration_time",
        None,
    )
    assert (text.codes, other.codes) == ([], [])


def test_the_numbers_of_that_measurement() -> None:
    found = fixture("intel_trio/stat.txt")
    assert rows(found, "event_name", "value", "unit", "status_kind", "running_ratio", "stddev") == [
        ("cycles", 8_192_000_000, None, "scaled", 0.75, 8_192_000),
        ("Hz", 3.2e9, "hz", "ok", None, None),
        ("instructions", 12_288_000_000, None, "scaled", 0.75, 2_457_600),
        ("insn per cycle", 1.5, None, "ok", None, None),
        ("branches", 1_000_000_000, None, "ok", 1.0, 100_000),
        ("/sec", 390_625_000, "1/s", "ok", None, None),
        ("branch-misses", 25_000_000, None, "ok", 1.0, 300_000),
        ("of all branches", 0.025, "ratio", "ok", None, None),
        ("fp_arith_inst_retired.scalar_double", 9_007_199_254, None, "scaled", 0.5, 0),
        (
            "fp_arith_inst_retired.512b_packed_double",
            500_000_001,
            None,
            "scaled",
            0.5,
            250_000.0005,
        ),
        ("fp_arith_inst_retired.128b_packed_single", None, None, "not_counted", 0.0, None),
        ("amx_ops_retired.bf16", None, None, "not_supported", None, None),
        ("uncore_imc/cas_count_read/", 1_074_266_112, "byte", "ok", 1.0, 4_297_064.448),
        (
            "uncore_imc/cas_count_write/",
            537_133_056,
            "byte",
            "ok",
            1.0,
            pytest.approx(3_222_798.336),
        ),
        ("power/energy-pkg/", 310.72, "J", "ok", 1.0, pytest.approx(1.025376)),
        ("task-clock", 2_560_000_000, "ns", "ok", 1.0, 5_120_000),
        ("CPUs utilized", 3.988, None, "ok", None, None),
        ("duration_time", 641_900_000, "ns", "ok", None, 1_283_800),
    ]
    assert found.one("measurement")["dur_stddev_ns"] == 1_284_000
    assert found.one("measurement")["target_name"] == "./solver 4096"


@pytest.mark.parametrize(
    ("error", "ns"),
    [
        (" +- 0.0000000016 seconds time elapsed", 2),
        (" +- 0.000001999 seconds time elapsed  ( +-  0.29% )", 1999),
        (" seconds time elapsed  ( +-  0.29% )", 3),  # 0.0029 * 1000
        (" seconds time elapsed  ( +-  nan% )", None),
        (" +- 1e300 seconds time elapsed", None),
        (" seconds time elapsed  ( +-  1e300% )", None),
    ],
)
def test_the_error_of_a_time_is_in_whole_ns(read: Read, error: str, ns: int | None) -> None:
    found = read(f"{TITLE}     1,234      cycles   ( +-  0.50% )\n\n   0.000001000{error}\n\n")
    assert known(found.one("measurement"), "dur_ns", "dur_stddev_ns") == (1000, ns)
    if ns == 3:
        found = read("1000,ns,duration_time,0.29%,1000,100.00,,\n5,,cycles,0.10%,5,100.00,,\n")
        assert known(found.one("measurement"), "dur_ns", "dur_stddev_ns") == (1000, ns)


@pytest.mark.parametrize("version", ["", "linux612_"])
@pytest.mark.parametrize("ending", ["csv", "json"])
def test_times_as_events_are_those_of_the_footer(version: str, ending: str) -> None:
    found = fixture(f"{version}times_{ending}/stat.{ending}")
    text = fixture(f"{version}times/stat.txt")
    names = ["duration_time", "user_time", "system_time"]
    for one in (found, text):
        times = {r["event_name"]: r["value"] for r in one["counter"] if r["record_kind"] == "time"}
        assert list(times) == names
        measured = known(one.one("measurement"), "dur_ns", "user_ns", "system_ns")
        assert measured == tuple(times[name] for name in names)
    assert "no_elapsed_time" not in found.codes


def test_a_duration_of_zero_is_no_duration() -> None:
    found = fixture("linux72_times_csv/stat.csv")
    assert found.one("measurement")["dur_ns"] is None
    assert "no_elapsed_time" in found.codes


def test_without_a_time_there_is_none() -> None:
    found = fixture("csv/stat.csv")
    assert known(found.one("measurement"), "dur_ns", "dur_kind") == (None, None)
    assert found.codes == ["no_elapsed_time"]
    assert "duration_time" in found.issues["no_elapsed_time"].advice


# -- columns of -x in every version ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("402.603109,task-clock", {"value": 402_603_109, "unit": "ns"}),
        ("1234,cycles,0.50%", {"value": 1234, "stddev": 6.17}),
        ("1234,,cycles", {"value": 1234}),
        ("1234,,cycles,617,50.00", {"running_ratio": 0.5, "running_ns": 617}),
        ("1234,,cycles,1234,100.00,,", {"running_ratio": 1.0, "running_ns": 1234}),
        ("1234,,cycles,0.50%,617,50.00,,", {"stddev": 6.17, "running_ratio": 0.5}),
        ("1234,,cycles,617,50.00,0.50%,,", {"stddev": 6.17, "running_ratio": 0.5}),
        ("1234,,cycles,my/group,617,50.00,,", {"cgroup_name": "my/group", "running_ns": 617}),
        ("1234,,cycles,,617,50.00,,", {"cgroup_name": None, "running_ns": 617}),
        ("1234,,cycles,my/group,0.50%,617,50.00,,", {"cgroup_name": "my/group", "stddev": 6.17}),
        ("S0,8,1234,,cycles,617,50.00,,", {"scope_name": "S0", "scope_cpu_count": 8}),
        ("S0-D1,8,1234,,cycles,617,50.00,,", {"scope_name": "S0-D1", "scope_cpu_count": 8}),
        ("S0-D1-L3-ID8,8,1234,,cycles,617,50.00,,", {"scope_name": "S0-D1-L3-ID8"}),
        ("S0-C3,2,1234,cycles", {"scope_name": "S0-C3", "scope_cpu_count": 2, "value": 1234}),
        ("N1,8,1234,,cycles,617,50.00,,", {"scope_name": "N1", "scope_cpu_count": 8}),
        ("CPU3,1234,,cycles,617,50.00,,", {"scope_name": "CPU3", "scope_cpu_count": None}),
        ("a b-12,1234,,cycles,617,50.00,,", {"scope_name": "a b-12", "value": 1234}),
        ("     2.000000005,1234,,cycles,617,50.00,,", {"time_ns": 2_000_000_005, "value": 1234}),
        (
            "1234,,cpu/event=0xc7,umask=0x1/u,617,50.00,,",
            {"event_key": "cpu/event=0xc7,umask=0x1/", "modifier_name": "u", "running_ns": 617},
        ),
        (
            "10.50,MiB,uncore_imc/cas_count_read/,617,100.00,,",
            {"value": 11_010_048, "unit": "byte", "unit_raw": "MiB"},
        ),
        ("7,furlongs,x/y/,617,100.00,,", {"value": 7, "unit": "furlongs"}),
        ("<not counted>,,cycles,0,0.00,,", {"status_kind": "not_counted", "running_ratio": 0.0}),
        (
            "     2.000000005,<not counted>,,cycles,0,100.00,,",
            {"status_kind": "not_counted", "running_ratio": 1.0, "value": None},
        ),
        ("<not counted>,,cycles", {"status_kind": "not_counted", "running_ratio": None}),
        (
            "<not supported>,,cycles,0,100.00,,",
            {"status_kind": "not_supported", "running_ratio": None, "value": None},
        ),
        ("9007199254740991,,cycles,1,100.00,,", {"value": 2**53 - 1}),
    ],
)
@pytest.mark.parametrize("sep", [",", ";", "|", "\t", "@"])
def test_a_line_of_csv(read: Read, line: str, expected: Row, sep: str) -> None:
    written = line.replace(",", sep).replace(f"0xc7{sep}umask", "0xc7,umask")
    found = read(f"# started on Mon Oct  5 10:00:00 2026\n\n{written}\n")
    row = found.one("counter")
    assert {name: row[name] for name in expected} == expected
    assert row["event_name"] in line
    assert found.one("measurement")["started_at"] == "Mon Oct  5 10:00:00 2026"


def test_more_metrics_of_a_line(read: Read) -> None:
    found = read(
        "1000,,instructions,10,100.00,2.00,insn per cycle\n"
        ",,,,,0.25,stalled cycles per insn\n"
        "50,,branch-misses,10,100.00,5.00,of all branches\n"
        "9,,slots,10,100.00,10.0,Heavy Operations,20.0,Light Operations\n"
    )
    assert rows(found, "event_name", "metric_event_name", "value", "unit", kind="metric") == [
        ("insn per cycle", "instructions", 2.0, None),
        ("stalled cycles per insn", "instructions", 0.25, None),
        ("of all branches", "branch-misses", 0.05, "ratio"),
        ("Heavy Operations", "slots", 0.1, "ratio"),
        ("Light Operations", "slots", 0.2, "ratio"),
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("linux-3.2.csv", [402_603_109, 137_765_150, None]),
        ("linux-3.10-repeats.csv", [402_603_109, 137_765_150]),
        ("linux-3.12-intervals.csv", [405_454_531, 812_751, 400_000_000, 800_000]),
        ("linux-3.14-unit.csv", [137_765_150, 137_765_151, 3.5]),
        ("linux-4.1-running.csv", [402_603_109, 1_819_888]),
        ("man-page-order.csv", [1_819_888, 402]),
        ("linux-5.8-summary.csv", [100, 200, 300, 600, 400, 800]),
    ],
)
def test_old_columns(name: str, expected: list[float | None]) -> None:
    found = fixture(f"old_csv/{name}")
    assert [r["value"] for r in found["counter"] if r["record_kind"] == "event"] == expected
    assert set(found.codes) <= {"no_elapsed_time"}
    found.one("measurement")


# -- intervals and measurements -------------------------------------------------------------------


@pytest.mark.parametrize("case", ["intervals/stat.txt", "intervals_csv/stat.csv"])
def test_intervals(case: str) -> None:
    found = fixture(case)
    events = [r for r in found["counter"] if r["record_kind"] == "event"]
    assert [r["interval_index"] for r in events] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    ends = [r["time_ns"] for r in events[::3]]
    assert [r["dur_ns"] for r in events[::3]] == [ends[0], ends[1] - ends[0], ends[2] - ends[1]]
    assert known(found.one("measurement"), "dur_ns", "dur_kind", "interval_count") == (
        ends[2],
        "intervals",
        3,
    )


@pytest.mark.parametrize(
    ("case", "page_faults"),
    [
        ("idle/stat.txt", [855, None, None, 0, 15]),
        ("idle_csv/stat.csv", [852, None, None, 15]),
        ("idle_json/stat.json", [852, None, None, 0, 15]),
    ],
)
def test_intervals_without_work_are_told_from_ones_that_were_lost(
    case: str, page_faults: list[int | None]
) -> None:
    found = [r for r in fixture(case)["counter"] if r["event_name"] == "page-faults"]
    assert [known(r, "value", "running_ratio", "status_kind") for r in found] == [
        (value, 1.0, "not_counted" if value is None else "ok") for value in page_faults
    ]


@pytest.mark.parametrize(
    ("version", "ending"),
    [
        ("", ""),
        ("", "_csv"),
        ("", "_json"),
        ("linux612_", "_csv"),
        ("linux612_", "_json"),
        ("linux72_", "_csv"),
        ("linux72_", "_json"),
    ],
)
def test_a_summary_belongs_to_its_intervals(version: str, ending: str) -> None:
    folder = FIXTURES / f"{version}intervals_summary{ending}"
    (path,) = folder.iterdir()
    found = parsed(path)
    of_all = [r for r in found["counter"] if r["interval_index"] is None]
    events = [r["event_name"] for r in of_all if r["record_kind"] == "event"]
    if (version, ending) != ("linux72_", "_json"):  # which writes no summary
        assert events == ["task-clock", "page-faults", "context-switches"]
    assert found.one("measurement")["interval_count"] >= 3
    for name in ("page-faults", "context-switches") if events else ():
        counted = [r for r in found["counter"] if r["event_name"] == name]
        (whole,) = [r["value"] for r in counted if r["interval_index"] is None]
        parts = [r["value"] for r in counted if r["interval_index"] is not None]
        assert sum(filter(None, parts)) == pytest.approx(whole, rel=0.02)


def test_an_interval_that_goes_back_is_another_measurement(read: Read) -> None:
    one = "     1.000000000,5,,cycles,1,100.00,,\n     2.000000000,6,,cycles,1,100.00,,\n"
    found = read(one + one)
    assert rows(found, "measurement_index", "interval_index") == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [m["dur_ns"] for m in found["measurement"]] == [2 * 10**9, 2 * 10**9]


@pytest.mark.parametrize("between", ["", "\n", "# started on Mon Oct  5 10:00:00 2026\n\n"])
def test_measurements_appended_to_csv(read: Read, between: str) -> None:
    one = "5,,cycles,1,100.00,,\n7,,instructions,1,100.00,1.40,insn per cycle\n"
    found = read(one + between + one + between + one)
    assert [r["measurement_index"] for r in found["counter"]] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert len(found["measurement"]) == 3


def test_one_event_appended_to_csv(read: Read) -> None:
    found = read("5,,cycles,1,100.00,,\n" * 3)
    assert rows(found, "measurement_index") == [(0,), (1,), (2,)]


def test_units_that_perf_does_not_merge_are_one_measurement(read: Read) -> None:
    box = "1.00,MiB,uncore_imc/cas_count_read/,1,100.00,,\n"
    found = read(box * 4 + box.replace("read", "write") * 4)
    assert {r["measurement_index"] for r in found["counter"]} == {0}


def test_the_same_event_of_other_cpus_is_one_measurement() -> None:
    for name in ("cpus_csv/stat.csv", "core_csv/stat.csv", "core_json/stat.json", "cpus/stat.txt"):
        found = fixture(name)
        assert known(found.one("measurement"), "cpu_count") == (2,), name
        assert len({r["scope_name"] for r in found["counter"] if r["scope_name"]}) == 2


def test_a_second_duration_that_is_not_counted(read: Read) -> None:
    found = read(
        "641900000,ns,duration_time,641900000,100.00,,\n<not counted>,ns,duration_time,0,0.00,,\n"
        "5,,cycles,1,100.00,,\n"
    )
    assert found.one("measurement")["dur_ns"] == 641_900_000


def test_blocks_after_intervals(read: Read) -> None:
    lines = "     1.000000000              1,000      cycles\n"
    same = TITLE + "             1,000      cycles\n" + FOOTER
    other = TITLE + "             7,000      instructions\n" + FOOTER
    assert len(read(lines + same)["measurement"]) == 1
    found = read(lines + other)
    assert [m["target_name"] for m in found["measurement"]] == [None, "./work"]
    assert [m["interval_count"] for m in found["measurement"]] == [1, None]
    assert rows(found, "measurement_index", "event_name") == [
        (0, "cycles"),
        (1, "instructions"),
        (1, "duration_time"),
    ]


# -- text -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("     1,234      cycles", {"event_name": "cycles", "value": 1234, "running_ratio": 1.0}),
        ("     1,234 cycles", {"event_name": "cycles", "value": 1234}),
        ("     1,234      cycles:u   (82.57%)", {"modifier_name": "u", "running_ratio": 0.8257}),
        ("     1,234      cycles   [82.57%]", {"running_ratio": 0.8257, "status_kind": "scaled"}),
        (
            "     1,234      cycles   ( +-  0.50% )  (50.00%)",
            {"stddev": 6.17, "running_ratio": 0.5},
        ),
        ("      1.50 msec task-clock", {"value": 1_500_000, "unit": "ns", "unit_raw": "msec"}),
        ("      1.500000 task-clock (msec)", {"value": 1_500_000, "event_name": "task-clock"}),
        ("      1.500000 task-clock", {"value": 1_500_000, "unit": "ns"}),
        ("     10.50 MiB  uncore_imc/cas_count_read/", {"value": 11_010_048, "unit": "byte"}),
        ("     2.00 furlongs x/y/", {"unit": "furlongs", "event_name": "x/y/"}),
        ("     1,234      cycles       my/group  ", {"cgroup_name": "my/group"}),
        (
            "     1,234      x [uncore_cha_3]",
            {"pmu_name": "uncore_cha_3", "event_key": "uncore_cha/x/"},
        ),
        ("S0        16     1,234      cycles", {"scope_name": "S0", "scope_cpu_count": 16}),
        ("CPU12            1,234      cycles", {"scope_name": "CPU12", "value": 1234}),
        ("     my prog-123   1,234      cycles", {"scope_name": "my prog-123", "value": 1234}),
        ("  S0-D0-C0   2   <not counted>      cycles", {"status_kind": "not_counted"}),
        ("   <not counted> msec task-clock", {"status_kind": "not_counted", "running_ratio": 1.0}),
        ("   <not counted>      cycles  (0.00%)", {"running_ratio": 0.0, "value": None}),
        ("   <not supported>      cycles", {"status_kind": "not_supported", "running_ratio": None}),
        ("     1 234 567      cycles", {"value": 1_234_567}),
        ("     1\u202f234\u202f567      cycles", {"value": 1_234_567}),
        ("     1\u2019234\u2019567      cycles", {"value": 1_234_567}),
    ],
)
def test_a_line_of_text(read: Read, line: str, expected: Row) -> None:
    found = read(f"{TITLE}{line}\n{FOOTER}")
    row = found["counter"][0]
    assert {name: row[name] for name in expected} == expected
    assert [r["event_name"] for r in found["counter"][1:]] == ["duration_time"]
    assert found.codes == []


@pytest.mark.parametrize(
    "clock",
    [
        "260,914,232      task-clock",
        "260914232      task-clock:u",
        "260.914232      cpu-clock",
        "260,914,232 ns   software/task-clock/u",
        "260.91 msec task-clock:uH",
        "260.914232      task-clock (msec)",
        "0.260914232 s  task-clock:k",
    ],
)
def test_a_clock_is_in_ns_in_whatever_unit_it_is_written(read: Read, clock: str) -> None:
    """0.980 CPUs of 0.266 s are 261 ms: what perf says of itself tells the unit."""
    text = read(
        f"{TITLE}    {clock}  #    0.980 CPUs utilized\n    1,528,288,428      cycles\n\n"
        "    0.266134713 seconds time elapsed\n"
    )
    row = text["counter"][0]
    assert row["value"] == pytest.approx(0.98 * 266_134_713, rel=1e-3)
    assert row["unit"] == "ns"
    assert row["event_key"] in ("task-clock", "cpu-clock")
    assert text.codes == []


@pytest.mark.parametrize(
    "event", ["task-clock", "task-clock:u", "software/task-clock/", "cpu-clock:k"]
)
@pytest.mark.parametrize(
    ("value", "unit"),
    [("402603109", ""), ("402.603109", ""), ("402.60", "msec"), ("402603.109", "usec")],
)
def test_a_clock_of_csv_and_json_is_as_long_as_it_ran(
    read: Read, event: str, value: str, unit: str
) -> None:
    csv = read(f"{value},{unit},{event},402603109,100.00,,\n")
    lines = (
        f'{{"counter-value" : "{value}", "unit" : "{unit}", "event" : "{event}", '
        '"event-runtime" : 402603109, "pcnt-running" : 100.00}\n'
    )
    for found in (csv, read(lines)):
        row = found.one("counter")
        assert row["value"] == pytest.approx(row["running_ns"], rel=1e-4)
        assert row["unit"] == "ns"


def test_one_file_may_have_clocks_of_both_kinds(read: Read) -> None:
    lines = [
        "     1.000000000,402.603109,,task-clock,402603109,100.00",
        "     2.000000000,402603109,,task-clock,402603109,100.00",
    ] * 40
    found = read("".join(f"{line}\n" for line in lines))
    assert {row["value"] for row in found["counter"]} == {402_603_109}


@pytest.mark.parametrize(
    ("clock", "is_told"),
    [
        ("   260,914,232 msec task-clock    #    0.980 CPUs utilized", True),
        ("   260,914,232 msec task-clock", True),
        ("       260.91      task-clock     #    0.980 CPUs utilized", True),
        ("       260.91 msec task-clock     #    0.980 CPUs utilized", False),
        ("   999,260.91 msec task-clock", False),  # 3,755 CPUs: there are such machines
        ("CPU0   999,260.91 msec cpu-clock", True),
    ],
)
def test_a_clock_that_contradicts_the_file_is_told(read: Read, clock: str, is_told: bool) -> None:
    found = read(
        f"{TITLE}{clock}\n    1,528,288,428      cycles\n\n    0.266134713 seconds time elapsed\n"
    )
    assert found.codes == (["clock_contradicts_time"] if is_told else [])


WRAPPED = """
       131,388,652      stalled-cycles-frontend   #   15.06% frontend cycles idle     ( +-  3.69% )  (78.16%)
       806,440,340      instructions              #    0.92  insn per cycle
                                                  #    0.16  stalled cycles per insn  ( +-  2.87% )  (75.33%)
       147,952,968      branches                  #  226.736 M/sec
                                                                     (74.97%)
"""  # noqa: E501


def test_what_stands_behind_an_event_may_be_in_the_next_line(read: Read) -> None:
    found = read(f"{TITLE.replace(':', ' (3 runs):')}{WRAPPED}{FOOTER}")
    assert rows(found, "event_name", "running_ratio", "status_kind", "stddev", kind="event") == [
        ("stalled-cycles-frontend", 0.7816, "scaled", pytest.approx(131_388_652 * 0.0369)),
        ("instructions", 0.7533, "scaled", pytest.approx(806_440_340 * 0.0287)),
        ("branches", 0.7497, "scaled", 0),
    ]
    assert [row["value"] for row in found["counter"] if row["record_kind"] == "metric"] == [
        0.1506,
        0.92,
        0.16,
        226.736e6,
    ]
    assert found.codes == []


def test_lines_of_intervals_are_wrapped_too(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the event is in rows that are already given out, or in those of known lines."""
    monkeypatch.setattr(assemble, "BATCH_ROWS", 16)
    monkeypatch.setattr(lines, "BLOCK_BYTES", 701)
    text = "".join(
        f"     {at}.000000000       1,000      cycles\n"
        f"     {at}.000000000       2,000      instructions   #    2.00  insn per cycle\n"
        f"     {at}.000000000                                 #    0.16  stalled cycles per insn"
        f"  ({at % 90 + 5}.00%)\n"
        for at in range(1, 400)
    )
    found = read(text)
    events = rows(found, "event_name", "interval_index", "running_ratio", kind="event")
    assert events == [
        event
        for at in range(1, 400)
        for event in (
            ("cycles", at - 1, 1.0),
            ("instructions", at - 1, pytest.approx((at % 90 + 5) / 100)),
        )
    ]
    assert len(found["counter"]) == 4 * 399
    assert len({row["event_id"] for row in found["counter"]}) == 4 * 399


@pytest.mark.parametrize("tail", ["(58.32%)", "( +-  0.45% )  (58.32%)"])
def test_a_share_that_is_of_nothing_is_told(read: Read, tail: str) -> None:
    found = read(f"{TITLE}     1,000      cycles    (58.32%)\n            {tail}\n{FOOTER}")
    assert found.codes != []


@pytest.mark.parametrize(
    "footer",
    [
        "  0.500000000  seconds time elapsed",
        "  0.500000000\tseconds  time   elapsed  ",
        "  0.500000000  +-  0.010000000  seconds time elapsed  (  +-  2.00%  )",
    ],
)
def test_blanks_of_a_footer_may_be_more(read: Read, footer: str) -> None:
    found = read(f"{TITLE}     1,000      cycles\n\n{footer}\n")
    assert rows(found, "event_name", "record_kind") == [
        ("cycles", "event"),
        ("duration_time", "time"),
    ]
    assert found.one("measurement")["dur_ns"] == 500_000_000
    assert found.codes == []


@pytest.mark.parametrize("name", ["raw 0x5301c7", "raw 0x5301c7:u", "unknown attr type: 7"])
@pytest.mark.parametrize("form", ["text", "csv", "json"])
def test_a_name_of_several_words_is_whole(read: Read, name: str, form: str) -> None:
    found = read(
        {
            "text": f"{TITLE}     1,000      {name}      my/group   (50.00%)\n{FOOTER}",
            "csv": f"1000,,{name},my/group,500,50.00,,\n",
            "json": f'{{"counter-value" : "1000", "unit" : "", "cgroup" : "my/group", "event" : '
            f'"{name}", "event-runtime" : 500, "pcnt-running" : 50.00}}\n',
        }[form]
    )
    row = found["counter"][0]
    assert known(row, "event_name", "cgroup_name", "value") == (name, "my/group", 1000)
    if name.startswith("raw"):
        assert row["event_key"] == "cpu/event=0xc7,umask=0x1/"


@pytest.mark.parametrize("title", ["", " Performance counter stats for './oth", "garbage\n"])
def test_a_block_that_lost_its_title_is_read(read: Read, title: str) -> None:
    """It was passed over as the output of a program, and nothing said so."""
    block = "       12.30 msec task-clock    #    0.990 CPUs utilized\n     9,000      cycles\n"
    found = read(f"{TITLE}     1,000      cycles\n{FOOTER}{title}\n{block}{FOOTER}")
    assert rows(found, "measurement_index", "event_name", "value", kind="event") == [
        (0, "cycles", 1000),
        (1, "task-clock", 12_300_000),
        (1, "cycles", 9000),
    ]
    assert [m["target_name"] for m in found["measurement"]] == ["./work", None]
    assert ("cut_title" in found.codes) == title.startswith(" Perf")


@pytest.mark.parametrize("form", ["csv", "json", "txt"])
def test_an_interval_that_is_cut_is_told(tmp_path: Path, form: str) -> None:
    """Of 107 intervals with 28 lines, most of them known, one is short."""
    path = tmp_path / "stat"
    every = written(form, 28 * 107, cpu_count=4).splitlines(keepends=True)
    path.write_text("".join(every))
    assert "uneven_intervals" not in parsed(path).codes
    path.write_text("".join([*every[:1500], *every[1501:]]))
    assert parsed(path).issues["uneven_intervals"].occurrence_count == 1


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("     1,000      ins", "cut_name"),
        ("     1,000      cycles   #", "cut_line"),
        ("     1,000      cycles   #    3.2", "cut_line"),
        ("     1,000      cycles   #    3.2 GHz     1,000      instructions  #  1.0", "cut_line"),
        ("     1,000      cycles   what is this", "damaged_row"),
        ("     what is this", "unknown_line"),
    ],
)
def test_what_is_cut_in_a_block_is_told(read: Read, line: str, code: str) -> None:
    found = read(f"{TITLE}     7      page-faults\n{line}\n{FOOTER}")
    assert code in found.codes
    assert found.issues[code].severity_kind != "info"


def test_metrics_of_text(read: Read) -> None:
    found = read(
        f"{TITLE}"
        "     1,000      instructions     #    2.84  insn per cycle              (83.95%)\n"
        "                                 #    0.10  stalled cycles per insn     (83.95%)\n"
        "       500      cycles     # \x1b[31m   0.0%\x1b[m Heavy Operations   "
        "#   25.1% Light Operations\n"
        f"        10      cache-misses     #    4.750 % of all cache refs\n{FOOTER}"
    )
    assert rows(found, "event_name", "metric_event_name", "value", kind="metric") == [
        ("insn per cycle", "instructions", 2.84),
        ("stalled cycles per insn", "instructions", 0.1),
        ("Heavy Operations", "cycles", 0.0),
        ("Light Operations", "cycles", 0.251),
        ("of all cache refs", "cache-misses", 0.0475),
    ]
    assert found.codes == []


@pytest.mark.parametrize(
    ("title", "name", "kind", "repeats"),
    [
        ("'ls -l'", "ls -l", "command", 1),
        ("'it's' (5 runs)", "it's", "command", 5),
        ("'system wide'", "system wide", "system", 1),
        ("process id '123'", "123", "process", 1),
        ("thread id '4,5'", "4,5", "thread", 1),
        ("'CPU(s) 0-3'", "CPU(s) 0-3", "cpu", 1),
        ("'BPF program(s) 7'", "BPF program(s) 7", None, 1),
        ("'sh -c first\nsecond'", "sh -c first\nsecond", "command", 1),
    ],
)
def test_a_title(read: Read, title: str, name: str, kind: str | None, repeats: int) -> None:
    found = read(f"\n Performance counter stats for {title}:\n\n   5 cycles\n{FOOTER}")
    one = found.one("measurement")
    assert known(one, "target_name", "target_kind", "repeat_count") == (name, kind, repeats)


def test_tables_of_metrics() -> None:
    found = fixture("topdown/stat.txt")
    assert rows(found, "scope_name", "event_name", "value", "unit", kind="metric")[:5] == [
        ("S0-D0-C0", "retiring", 0.388, "ratio"),
        ("S0-D0-C0", "bad speculation", 0.112, "ratio"),
        ("S0-D0-C0", "frontend bound", 0.2, "ratio"),
        ("S0-D0-C0", "backend bound", 0.3, "ratio"),
        ("S0-D0-C1", "retiring", 0.1, "ratio"),
    ]
    csv, text = fixture("metric_only/stat.csv"), fixture("metric_only/stat.txt")
    names = ("interval_index", "scope_name", "event_name", "value")
    assert rows(csv, *names)[:6] == [
        (0, "S0", "insn per cycle", 1.5),
        (0, "S0", "Hz", 3.2e9),
        (0, "S0", "branch-misses of all branches", 0.025),
        (0, "S1", "insn per cycle", 0.5),
        (0, "S1", "Hz", 3.1e9),
        (0, "S1", "branch-misses of all branches", None),
    ]
    assert rows(text, *names)[:5] == rows(csv, *names)[:5]
    assert csv.one("measurement")["cpu_count"] == 32


def test_groups_of_metrics_name_their_unit() -> None:
    found = fixture("hybrid/stat.txt")
    metrics = rows(found, "pmu_name", "event_name", "value", kind="metric")
    assert metrics[1:] == [
        ("cpu_core", "tma_bad_speculation", 0.215),
        ("cpu_core", "tma_frontend_bound", 0.123),
        ("cpu_atom", "tma_bad_speculation", 0.015),
    ]
    found = fixture("topdown_json/stat.json")
    assert rows(found, "pmu_name", "event_name", "value", kind="metric") == [
        (None, "tma_retiring", 0.25),
        (None, "tma_backend_bound", 0.3),
        ("cpu_core", "tma_bad_speculation", 0.125),
        (None, "insn per cycle", 1.5),
        (None, "branch-misses of all branches", None),
        (None, "insn per cycle", 0.75),
        (None, "branch-misses of all branches", 0.025),
    ]


@pytest.mark.parametrize("name", ["stat.csv", "stat.txt"])
def test_cgroups(name: str) -> None:
    found = fixture(f"cgroups/{name}")
    assert rows(found, "cgroup_name", "event_name", "value", "running_ratio", kind="event") == [
        ("system.slice", "cycles", 1_000_000, 1.0),
        ("system.slice", "instructions", 500_000, 1.0),
        ("user.slice/a", "cycles", 3_000_000, 0.5),
        ("user.slice/a", "instructions", None, 0.0),
    ]


def test_units_of_one_kind() -> None:
    found = fixture("no_merge/stat.txt")
    assert rows(found, "event_key", "pmu_name", "value")[:4] == [
        ("uncore_imc/cas_count_read/", "uncore_imc_0", 11_010_048),
        ("uncore_imc/cas_count_read/", "uncore_imc_1", 21_233_664),
        ("uncore_imc/unc_m_cas_count.rd/", "uncore_imc_1", 16_384),
        ("uncore_imc/cas_count_write/", "uncore_imc_3", 31_457_280),
    ]


def test_raw_codes_and_memory_counters_by_socket() -> None:
    found = fixture("intel_raw/stat.csv")
    assert rows(found, "event_key", "scope_name", "value", "unit")[:5] == [
        ("unc_m_cas_count.rd", "S0", 16_785_408, None),
        ("unc_m_cas_count.rd", "S1", 0, None),
        ("unc_m_cas_count.wr", "S0", 8_392_704, None),
        ("unc_m_cas_count.wr", "S1", 128, None),
        ("cpu/event=0xc7,umask=0x1/", "S0", 9_007_199_254, None),
    ]
    assert known(found.one("measurement"), "aggregation_kind", "cpu_count", "dur_ns") == (
        "socket",
        32,
        641_900_000,
    )


# -- locales and shells ---------------------------------------------------------------------------


@pytest.mark.parametrize("locale", ["german", "french"])
def test_recordings_in_a_locale_with_a_decimal_comma(locale: str) -> None:
    for case in ("default/stat.txt", "json/stat.json", "repeats/stat.txt", "times_json/stat.json"):
        found = fixture(f"{locale}_{case}")
        clock, faults = (
            next(r for r in found["counter"] if r["event_name"] == name)
            for name in ("task-clock", "page-faults")
        )
        assert 20e6 < clock["value"] < 200e6, case
        assert 1000 < faults["value"] < 3000, case
        per_s = next(r for r in found["counter"] if r["metric_event_name"] == "page-faults")
        seconds = clock["value"] / 1e9
        assert per_s["value"] == pytest.approx(faults["value"] / seconds, rel=0.1)


def test_csv_in_such_a_locale_loses_the_decimals_of_metrics() -> None:
    found = fixture("german_intervals_csv/stat.csv")
    assert {r["status_kind"] for r in found["counter"] if r["record_kind"] == "event"} == {"ok"}
    assert rows(found, "value", "status_kind", kind="metric") == [(None, "unreadable")] * 9
    assert found.issues["cut_metric"].occurrence_count == 9


@pytest.mark.parametrize("locale", ["german", "french"])
def test_a_comma_twice_is_refused(locale: str) -> None:
    path = FIXTURES / f"{locale}_csv" / "stat.csv"
    assert [parser.name for parser, _ in claims(path.read_bytes())] == ["perf-stat"]
    with pytest.raises(FormatError, match=r"field separator.*LC_ALL=C"):
        parsed(path)


def test_swiss_thousands() -> None:
    found = fixture("swiss/stat.txt")
    assert rows(found, "value", kind="event") == [(1_234_560_000,), (3_703_680_000,)]


def test_a_number_that_can_be_two_is_refused(read: Read) -> None:
    with pytest.raises(FormatError, match=r"numbers are ambiguous.*LC_ALL=C"):
        read(f"{TITLE}     1.234 msec task-clock\n")
    found = read(f"{TITLE}     1.234      cycles\n")  # a count has no decimals
    assert rows(found, "value") == [(1234,)]


def test_what_shells_do_to_it() -> None:
    found = fixture("shells/colours.txt")
    assert rows(found, "event_name", "value", "running_ratio")[:2] == [
        ("cycles", 1_000_000, 0.8395),
        ("insn per cycle", 2.84, None),
    ]
    assert found.issues["other_text"].occurrence_count == 1
    found = fixture("shells/powershell.txt")
    assert rows(found, "value") == [(1_000_000,), (2_500,), (500_000_000,)]
    assert found.one("measurement")["target_name"] == ".\\work.exe"


def test_json_that_is_none() -> None:
    found = fixture("broken_json/stat.json")
    assert rows(found, "event_name", "value", "running_ns")[0] == (
        "cpu-clock",
        3_805_723_968,
        3_805_731_510_100,
    )
    assert rows(found, "event_name", "scope_name", "value")[5:7] == [
        ("/sec", "S0-D0-C0", 122.447136),
        ("insn per cycle", "S0-D0-C0", 1.5),
    ]
    assert found.issues["broken_json"].occurrence_count == 2


# -- what is refused, damaged or hostile ----------------------------------------------------------


def test_perf_data_is_named(read: Read) -> None:
    content = b"PERFILE2" + bytes(200)
    assert [parser.name for parser, _ in claims(content)] == ["perf-stat"]
    with pytest.raises(FormatError, match=r"perf.data.*perf stat report -i"):
        read(content)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "hello\n",
        "a,b,c\n1,2,3\n",
        "time,value\n1.5,2\n",
        "# To display the perf.data header",
        "1,2,3,4,5\n6,7,8,9,10\n",
        '{"a" : 1}\n',
        TITLE,
    ],
)
def test_what_has_no_counter_is_refused(read: Read, content: str) -> None:
    with pytest.raises(FormatError, match="no perf stat counters"):
        read(content)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "hello\n",
        "a,b,c\n1,2,3\n",
        "1,2,3,4,5\n",
        "x;1;2\n",
        "10 apples\n20 pears\n",
        "10,apples\n20,pears\n",
    ],
)
def test_what_is_not_claimed(content: str) -> None:
    assert PerfStatParser().sniff(content.encode()) is None


def test_two_separators_are_refused(read: Read) -> None:
    with pytest.raises(FormatError, match="two separators"):
        read("5,,cycles,1,100.00,,\n5;;cycles;1;100.00;;\n")


def test_a_cut_line_is_an_error(read: Read) -> None:
    found = read("5,,cycles,1,100.00,,\n7,,instructions,1,100.00,,\n9,,bran\x00ches,1,100\n")
    assert found.issues["damaged_row"].severity_kind == "error"
    assert (found.report.event_count, found.report.skipped_event_count) == (3, 1)
    assert found.facts["is_complete"] is False


def test_a_last_line_without_a_line_feed_is_told(read: Read) -> None:
    found = read("5,,cycles,1,100.00,,\n7,,instructions,1,100.00,,")
    assert found.codes == ["cut_row", "no_elapsed_time"]


def test_a_block_without_a_footer_is_not_complete(read: Read) -> None:
    found = read(f"{TITLE}     5 cycles\n")
    assert found.facts["is_complete"] is False
    assert found.one("measurement")["dur_ns"] is None


def test_the_programs_own_output_is_told(read: Read) -> None:
    noise = "solved in 3 steps\n     100 iterations done in 3 s\nok\n"
    found = read(f"{noise}{TITLE}     5 cycles\n{FOOTER}{noise}")
    assert rows(found, "event_name") == [("cycles",), ("duration_time",)]
    told = found.issues["other_text"]
    assert (told.occurrence_count, told.lost_bytes) == (6, 2 * (len(noise) - 3))
    assert told.severity_kind == "info"


def test_hostile_names(read: Read) -> None:
    long = "x" * (1 << 20)
    found = read(f"5,,{long},1,100.00,,\n6,,\x1b[31mcycles\x1b[m,1,100.00,,\n7,,a b c,1,100.00,,\n")
    assert [r["event_name"] for r in found["counter"]] == [long, "cycles", "a b c"]


def test_an_infinite_or_negative_number(read: Read) -> None:
    found = read("1e999,,cycles,1,100.00,,\n-5,,instructions,1,100.00,-nan,insn per cycle\n")
    assert rows(found, "value", "status_kind") == [
        (None, "unreadable"),
        (-5.0, "ok"),
        (None, "not_counted"),
    ]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "name", ["repeats/stat.txt", "intel_trio/stat.csv", "core_json/stat.json", "cpus_csv/stat.csv"]
)
def test_conforms(name: str) -> None:
    check_parser(PerfStatParser(), (FIXTURES / name).read_bytes(), effort=6)


def test_no_fixture_raises_anything_else() -> None:
    for path in sorted(FIXTURES.glob("*/*")):
        assert "perf-stat" in [parser.name for parser, _ in claims(path.read_bytes())], path
        if path.parent.name not in ("german_csv", "french_csv"):
            found = parsed(path)
            assert all(i.severity_kind != "error" for i in found.issues.values()), path


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "stat.csv"

    def peak(intervals: int) -> int:
        with path.open("w") as out:
            for index in range(intervals):
                for cpu in range(64):
                    out.write(f"{index:6d}.500000000,CPU{cpu},{index},,cycles,1,100.00,,\n")
        tracemalloc.start()
        for _ in PerfStatParser().parse(Source.at(path), Report()):
            pass
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    assert peak(1600) < 1.5 * peak(800)


def test_batches_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "stat.csv"
    path.write_text("".join(f"{n},,e{n},1,100.00,,\n" for n in range(20_000)))
    sizes = [
        b.num_rows for t, b in PerfStatParser().parse(Source.at(path), Report()) if t == "counter"
    ]
    assert (sum(sizes), max(sizes)) == (20_000, assemble.BATCH_ROWS)


# -- whatever it holds ----------------------------------------------------------------------------

QUICK = settings(
    max_examples=settings().max_examples // 4,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["cycles", "instructions:u", "cpu/event=0x1,umask=0x2/", "r01c7", "a.b"]),
        st.one_of(st.none(), st.integers(0, 2**53 - 1)),
        st.just(10_000) | st.integers(0, 10_000),
    ),
    min_size=1,
    max_size=5,
    unique_by=lambda event: event[0],
)


def as_csv(events: list[tuple[str, int | None, int]]) -> str:
    return "".join(
        f"{'<not counted>' if value is None else value};;{name};{share};{share / 100:.2f};;\n"
        for name, value, share in events
    )


def as_json(events: list[tuple[str, int | None, int]]) -> str:
    return "".join(
        json.dumps(
            {
                "counter-value": "<not counted>" if value is None else f"{value}.000000",
                "unit": "",
                "event": name,
                "event-runtime": share,
                "pcnt-running": share / 100,
            },
            separators=(", ", " : "),
        )
        + "\n"
        for name, value, share in events
    )


def as_text(events: list[tuple[str, int | None, int]]) -> str:
    lines = (
        f"{'<not counted>' if value is None else f'{value:,}':>18}      {name:<32}"
        f"  ({share / 100:.2f}%)\n"
        for name, value, share in events
    )
    return f"{TITLE}{''.join(lines)}\n   0.123456789 seconds time elapsed\n\n"


@QUICK
@given(EVENTS)
def test_every_format_gives_the_same_rows(tmp_path_factory: Any, events: Any) -> None:
    path = tmp_path_factory.mktemp("perf") / "stat"
    expected = [(name, value, share / 10_000) for name, value, share in events]
    for made in (as_csv, as_json, as_text):
        path.write_text(made(events))
        found = parsed(path)
        assert rows(found, "event_name", "value", "running_ratio", kind="event") == expected


@QUICK
@given(EVENTS, st.sampled_from(["crlf", "gzip", "bom", "noise", "rows"]))
def test_nothing_around_the_rows_changes_them(tmp_path_factory: Any, events: Any, how: str) -> None:
    path = tmp_path_factory.mktemp("perf") / "stat"
    plain = as_csv(events)
    path.write_text(plain)
    names = ("event_name", "value", "running_ratio", "running_ns", "status_kind")
    expected = rows(parsed(path), *names)
    content = {
        "crlf": plain.replace("\n", "\r\n").encode(),
        "gzip": gzip.compress(plain.encode()),
        "bom": b"\xef\xbb\xbf" + plain.encode(),
        "noise": b"hello\n\n" + plain.encode() + b"bye\n",
        "rows": plain.encode(),
    }[how]
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        if how == "rows":
            patch.setattr(assemble, "BATCH_ROWS", random.Random(0).randint(1, 3))
        assert rows(parsed(path), *names) == expected


def test_rows_fit_their_tables() -> None:
    for path in (FIXTURES / "intel_trio").iterdir():
        for table, batch in PerfStatParser().parse(Source.at(path), Report()):
            assert batch.schema == TABLES[table].schema
            assert batch_of_rows(TABLES[table], batch.to_pylist()).equals(batch)
