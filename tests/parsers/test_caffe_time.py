"""Logs of caffe time, each row worked out by hand; the files of fixtures/caffe_time are made by
hand too."""

from __future__ import annotations

import csv
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.parsers.conftest import Parsed, Row, gathered
from tracekit.conformance import check_parser
from tracekit.errors import FormatError
from tracekit.parser import Report
from tracekit.parsers.caffe_time import CaffeTimeParser
from tracekit.registry import claims
from tracekit.source import Source

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "caffe_time"
CASES = sorted(path.parent.name for path in FIXTURES.glob("*/caffe.log"))
PREFIX = "I0512 12:34:58.000001  1234 caffe.cpp:358] "
Read = Callable[[bytes | str], Parsed]


def parsed(path: Path) -> Parsed:
    report = Report()
    return gathered(CaffeTimeParser().parse(Source.at(path), report), report)


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads a log given as text or bytes."""

    def run(content: bytes | str) -> Parsed:
        path = tmp_path / "log"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return parsed(path)

    return run


def rows(found: Parsed, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in found["layer_stat"]]


def is_sound(found: Parsed) -> bool:
    """Whether every event has its row, at a place of its own, or was skipped by an issue."""
    places = {row["event_id"] for row in found["layer_stat"]}
    return len(places) + found.report.skipped_event_count == found.report.event_count


@pytest.mark.parametrize("case", CASES)
def test_a_case(case: str) -> None:
    with (FIXTURES / case / "expected.csv").open(encoding="utf-8", newline="") as lines:
        header, *expected = csv.reader(line for line in lines if not line.startswith("#"))
    found = parsed(FIXTURES / case / "caffe.log")
    texts = [["" if v is None else str(v) for v in row] for row in rows(found, *header)]
    assert texts == expected
    assert is_sound(found)


def test_what_the_sound_cases_tell_of_themselves() -> None:
    for case, devices in (
        ("means", '["CPU"]'),
        ("sums_2014", '["GPU 3"]'),
        ("interleaved", '["GPU 0","GPU 1","GPU 1: Tesla P100-PCIE-16GB"]'),
    ):
        found = parsed(FIXTURES / case / "caffe.log")
        assert found.facts == {
            "profiler_name": "caffe time",
            "recording_kind": "summary",
            "is_complete": True,
            "metadata_json": f'{{"devices":{devices}}}',
        }
    assert found.codes == ["other_text"]
    assert found.issues["other_text"].occurrence_count == 2


def test_what_the_damaged_case_lacks() -> None:
    found = parsed(FIXTURES / "damaged" / "caffe.log")
    counts = {code: issue.occurrence_count for code, issue in found.issues.items()}
    assert counts == {
        "damaged_row": 4,
        "other_time": 1,
        "failed_run": 1,
        "other_text": 1,
        "no_end": 3,
        "no_heading": 3,
    }
    assert "Initialization" in found.issues["other_time"].advice
    assert "out of memory" in found.issues["failed_run"].advice
    assert found.facts["is_complete"] is False


def test_least_times_are_no_means() -> None:
    found = parsed(FIXTURES / "least" / "caffe.log")
    assert found.codes == ["other_time"]
    assert "1.25 ms" in found.issues["other_time"].advice
    layers = [row for row in found["layer_stat"] if row["net_index"] == 0 and row["name"]]
    (forward,) = rows(found, "dur_ns")[9]
    assert sum(row["dur_ns"] for row in layers if row["phase_kind"] == "forward") < forward
    assert {row["statistic_kind"] for row in layers} == {"min"}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("*** Benchmark begins ***", "no_times"),
        ("conv1\tbackwa", "other_message"),
        ("Testing for 5 iter", "other_message"),
        (f"Testing for 5 iterations.{PREFIX}Testing for 6 iterations.", "joined_messages"),
    ],
)
def test_a_line_of_a_benchmark_that_is_not_read_is_said(read: Read, line: str, code: str) -> None:
    found = read(
        f"{PREFIX}Average time per layer:\n{PREFIX}a\tforward: 1 ms.\n"
        f"{PREFIX}*** Benchmark ends ***\n{PREFIX}{line}\n"
    )
    assert found.codes == sorted([code, *(["no_end"] if code == "no_times" else [])])


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("304.795", 304_795_000),
        ("0", 0),
        ("1e+06", 10**12),
        ("1.60594e+06", 1_605_940_000_000),
        ("0.816845", 816_845),
        ("4.5e-05", 45),
        ("1.5e-06", 2),
        ("2.5E-6", 2),  # half to even
        ("9223372036854.775807", 2**63 - 1),
        ("9007199254.740993", 2**53 + 1),
    ],
)
def test_a_number_is_read_by_its_digits(read: Read, text: str, ns: int) -> None:
    found = read(f"{PREFIX}conv1\tforward: {text} ms.\n")
    assert rows(found, "name", "dur_ns") == [("conv1", ns)]


@pytest.mark.parametrize(
    "text",
    [
        "nan ms.",
        "-nan ms.",
        "inf ms.",
        "-1 ms.",
        "1,5 ms.",
        "0x1p3 ms.",
        "9223372036854.775808 ms.",
        "1e999 ms.",
        "1e9999 ms.",
        "\uff13 ms.",
        ". ms.",
        "3",
        "3 m",
        "3 s.",
        "3 us.",
        "ms.",
    ],
)
def test_a_number_that_cannot_be_read_is_said(read: Read, text: str) -> None:
    found = read(f"{PREFIX}conv1\tforward: {text}\n{PREFIX}conv2\tforward: 1 ms.\n")
    assert rows(found, "name") == [("conv2",)]
    assert found.issues["damaged_row"].skipped_event_count == 1
    assert is_sound(found)


@pytest.mark.parametrize(
    "line",
    [
        "     conv1\tforward: 3 ms.",
        "conv1   forward: 3 ms",
        "conv1\tforward: 3 ms.\r",
        "[x] E20180512 12:34:58.000001 7 caffe.cpp:1] conv1\tforward: 3 ms.",
        "W0512 12:34:58.000001     7 time_net.cc:99] conv1\tforward: 3 ms.  ",
    ],
)
def test_prefixes_vary(read: Read, line: str) -> None:
    assert rows(read(line), "name", "phase_kind", "dur_ns") == [("conv1", "forward", 3_000_000)]


def test_names_may_be_of_any_kind(read: Read) -> None:
    names = ["a b", "backward: x", "\u0441\u043b\u043e\u0439", "data:0", "x.cpp:1", "<b>"]
    found = read("".join(f"{name}\tforward: 1 ms.\n" for name in names))
    assert rows(found, "name", "layer_index") == list(zip(names, range(6), strict=True))


def test_runs_without_their_begin_are_told_apart_by_what_comes_again(read: Read) -> None:
    one = "a\tforward: 1 ms.\na\tbackward: 2 ms.\nb\tforward: 3 ms.\nb\tbackward: 4 ms.\n"
    assert rows(read(one * 3), "net_index", "layer_index") == [
        (net, layer) for net in range(3) for layer in (0, 0, 1, 1)
    ]
    passes = "Average Forward pass: 1 ms.\nAverage Backward pass: 2 ms.\nTotal Time: 30 ms.\n"
    assert rows(read(passes * 2), "net_index") == [(0,)] * 3 + [(1,)] * 3
    iterations = "".join(f"Iteration: {n} forward-backward time: 5 ms.\n" for n in (1, 2))
    found = read((iterations + one) * 2)
    assert rows(found, "net_index") == [(0,)] * 6 + [(1,)] * 6
    assert found.issues["no_end"].occurrence_count == 2


def test_the_second_net_does_not_inherit_the_first_one(read: Read) -> None:
    head = f'{PREFIX}Initializing net from parameters: \nname: "n"\n'
    run = f"{PREFIX}Testing for 9 iterations.\n{PREFIX}a\tforward: 1 ms.\n"
    end = f"{PREFIX}*** Benchmark ends ***\n"
    found = read(head + run + end + f"{PREFIX}a\tforward: 1 ms.\n")
    assert rows(found, "net_index", "net_name", "iteration_count") == [(0, "n", 9), (1, None, None)]


def test_a_layer_that_only_runs_backward_has_no_place(read: Read) -> None:
    found = read("b\tbackward: 1 milliseconds.\na\tbackward: 1 milliseconds.\n")
    assert rows(found, "name", "layer_index") == [("b", None), ("a", None)]
    assert "no_iteration_count" in found.issues


def test_a_net_that_glog_cut_tells_the_types_before_the_cut(read: Read) -> None:
    echo = 'layer {\n  name: "a"\n  type: "ReLU"\n}\nlayer {\n  name: "b"\n  ty'
    times = "".join(f"{PREFIX}{name}\tforward: 1 ms.\n" for name in "ab")
    found = read(f"{PREFIX}Initializing net from parameters: \n{echo}\n{times}")
    assert rows(found, "name", "type_name") == [("a", "ReLU"), ("b", None)]
    assert found.issues["cut_net"].occurrence_count == 1
    assert "other_text" not in found.issues


@pytest.mark.deep
def test_a_hostile_net_cannot_grow_without_end(read: Read) -> None:
    echo = "layer {\n" * 200_000
    lines = "".join(f"l{n}\tforward: 1 ms.\n" for n in range(100_000))
    writers = "".join(
        f"I0512 12:34:58.000001 {n} caffe.cpp:1] l\tforward: 1 ms.\n" for n in range(9000)
    )
    found = read(f"{PREFIX}Initializing net from parameters: \n{echo}{writers}{lines}")
    assert len(found["layer_stat"]) == 109_000
    assert is_sound(found)
    assert max(row["layer_index"] for row in found["layer_stat"]) == (1 << 16) - 1


def test_a_long_line_takes_no_time(read: Read) -> None:
    tracemalloc.start()
    found = read((" " * 50_000 + "\tforward:" * 5000 + "\n") * 20 + "a\tforward: 1 ms.\n")
    assert rows(found, "name") == [("a",)]
    assert tracemalloc.get_traced_memory()[1] < 60 << 20
    tracemalloc.stop()


@pytest.mark.parametrize(
    "text",
    [
        "I1012 20:56:58.000224 15939 caffe.cpp:301] Use CPU.\n",
        "I1012 20:56:58.001889 15939 net.cpp:50] Initializing net from parameters: \n",
    ],
)
def test_a_log_without_times_is_claimed_and_refused(read: Read, text: str) -> None:
    (claim,) = claims(text.encode())
    assert (claim[0].name, claim[1].certainty) == ("caffe-time", 0.5)
    with pytest.raises(FormatError, match="no layer or pass times found"):
        read(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Total Time: 3 ms.\n",
        "forward: 3 ms.\n",
        "conv1 forward 3 ms.\n",
        "caffe.cpp\n",
        "I0512 12:34:58.000001  1234 solver.cpp:1] Iteration 100, loss = 3\n",
    ],
)
def test_what_is_not_claimed(text: str) -> None:
    assert [parser.name for parser, _ in claims(text.encode())] == []


@pytest.mark.parametrize("case", CASES)
def test_the_contract_holds(case: str) -> None:
    check_parser(CaffeTimeParser(), (FIXTURES / case / "caffe.log").read_bytes(), effort=60)


def test_utf16_of_a_shell_is_read(read: Read) -> None:
    text = (FIXTURES / "means" / "caffe.log").read_text("utf-8")
    plain, other = read(text), read(("\ufeff" + text).encode("utf-16-le"))

    def without_places(found: Parsed) -> list[Row]:
        return [{k: v for k, v in row.items() if k != "event_id"} for row in found["layer_stat"]]

    assert without_places(plain) == without_places(other)
