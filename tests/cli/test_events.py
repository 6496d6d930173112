"""What `tracekit formats perf-stat --events CPU` prints, as a user sees and pastes it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import Any

import pytest

from tracekit.events import knowledge
from tracekit.spelling import spelling_of

Tracekit = Callable[..., Any]
FAMILIES = sorted(knowledge().families)


def events_of(text: str) -> list[str]:
    """The events of a command, as perf splits them: at commas outside of slashes."""
    words = shlex.split(text.replace("\\\n", " "))
    lists = [words[at + 1] for at, word in enumerate(words) if word == "-e"]
    return [event for each in lists for event in re.findall(r"[^,/]+(?:/[^/]*/)?", each)]


def test_the_command_for_a_server(tracekit: Tracekit) -> None:
    done = tracekit("formats", "perf-stat", "--events", "skx")
    assert done.code == 0
    assert done.text == (
        "perf stat -a -x\\; -o perf.csv \\\n"
        "  -e duration_time,task-clock,msr/mperf/,msr/tsc/ \\\n"
        "  -e fp_arith_inst_retired.scalar_single \\\n"
        "  -e fp_arith_inst_retired.128b_packed_single \\\n"
        "  -e fp_arith_inst_retired.256b_packed_single \\\n"
        "  -e fp_arith_inst_retired.512b_packed_single \\\n"
        "  -e fp_arith_inst_retired.scalar_double \\\n"
        "  -e fp_arith_inst_retired.128b_packed_double \\\n"
        "  -e fp_arith_inst_retired.256b_packed_double \\\n"
        "  -e fp_arith_inst_retired.512b_packed_double \\\n"
        "  -e uncore_imc/cas_count_read/,uncore_imc/cas_count_write/ \\\n"
        "  -- ./program\n"
    )
    told = " ".join(done.messages.split())
    assert "for skylake-server (Intel, also called skx," in told
    assert "FP32 operations: fp_arith_inst_retired.scalar_single … (4 events)" in told
    assert "a core counts 4 of these 8 events at a time" in told
    assert "-a counts the whole machine" in told
    assert done.messages.endswith(
        'next: tracekit ingest perf.csv --device "NAME" (for the names: tracekit devices)\n'
    )


@pytest.mark.parametrize("name", FAMILIES)
def test_every_command_can_be_pasted_and_fits(tracekit: Tracekit, name: str) -> None:
    done = tracekit("formats", "perf-stat", "--events", name)
    assert done.code == 0
    assert max(len(line) for line in (done.text + done.messages).splitlines()) <= 80
    words = shlex.split(done.text.replace("\\\n", " "))
    assert words[:2] == ["perf", "stat"]
    assert words[-2:] == ["--", "./program"]
    assert "-x;" in words
    assert ("-a" in words) == ("bytes of DRAM:" in done.messages)
    events = events_of(done.text)
    assert events[:2] == ["duration_time", "task-clock"]
    assert len(set(events)) == len(events)
    known = {key for event in knowledge().events.values() for key in event.keys}
    assert {spelling_of(event).key for event in events[2:]} <= known


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("zen3", "this processor does not tell them apart, so FP32 and FP64 cannot be had"),
        ("grace", "memory: no event of the core counts bytes of DRAM"),
        ("gracemont", "floating point: no event of this processor counts operations"),
        ("adl", "bind the program to P-cores (taskset -c)"),
        ("spr", "use of the matrix units, whose operations no event counts: exe.amx_busy"),
        ("skylake", "for skylake-server, use --events skylake-server"),
        ("milan", "8 events on the 4 counters of the data fabric"),
    ],
)
def test_what_cannot_be_had_is_said(tracekit: Tracekit, name: str, told: str) -> None:
    done = tracekit("formats", "perf-stat", "--events", name)
    assert told in " ".join(done.messages.split())


def test_few_events_need_no_turns(tracekit: Tracekit) -> None:
    assert "at a time" not in tracekit("formats", "perf-stat", "--events", "tigerlake").messages
    assert "at a time" not in tracekit("formats", "perf-stat", "--events", "srf").messages


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (
            ("perf-stat", "--events", "skylakx"),
            (
                "--events 'skylakx': unknown processor; did you mean one of: "
                "skylake-server, skylake? `lscpu` shows the processor of this machine"
            ),
        ),
        (
            ("--events", "skylake"),
            (
                "--events does not work without a format; use tracekit formats perf-stat "
                "--events skylake"
            ),
        ),
        (
            ("nvprof", "--events", "skylake"),
            "--events does not work with 'nvprof'; use tracekit formats perf-stat --events skylake",
        ),
        (
            ("perf-stat",),
            (
                "'perf-stat' needs an option: add --record to see how to record it "
                "(nsight-compute also "
                "has --metrics, perf-stat --events); for all formats, run `tracekit formats`"
            ),
        ),
        (
            ("perf-stat", "--events", "skylake", "--format", "csv"),
            "--events prints a command; omit --output and --format",
        ),
        (
            ("perf-stat", "--events", "skylake", "--output", "x"),
            "--events prints a command; omit --output and --format",
        ),
        (
            ("perf-stat", "--explain", "x"),
            "--explain takes one file; omit the format and other options",
        ),
    ],
)
def test_what_is_not_meant(tracekit: Tracekit, arguments: tuple[str, ...], error: str) -> None:
    done = tracekit("formats", *arguments)
    assert (done.code, done.data, done.error) == (2, b"", error)


def test_an_unknown_name_lists_what_is_known(tracekit: Tracekit) -> None:
    done = tracekit("formats", "perf-stat", "--events", "\x1b[31mPentium\n")
    assert done.code == 2
    assert "\x1b" not in done.messages
    assert "known: haswell, haswell-server," in done.error


def test_the_list_and_the_explanation_are_as_before(tracekit: Tracekit, tmp_path: Any) -> None:
    done = tracekit("formats", "--format", "csv")
    assert (done.code, done.messages) == (0, "")
    assert done.text.startswith("format_name,reads\n")
    done = tracekit("formats", "--explain", tmp_path / "gone")
    assert done.code != 0
    assert "gone" in done.error
