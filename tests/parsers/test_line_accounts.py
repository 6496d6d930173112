"""Each line of a text fixture is told: see `tests.parsers.line_accounts`.

A run takes some lines of each file, always the same. All of them: TRACEKIT_LINES=all.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.parsers.line_accounts import BLANK, Account, Rule, changes
from tests.parsers.nvidia_line_rules import NSIGHT_COMPUTE, NVPROF
from tracekit.parser import Batch, Issue, Match, Report
from tracekit.reading.text.lines import blocks, encoding_of
from tracekit.registry import parser_named
from tracekit.schema import LAYER_STAT, batch_of_rows
from tracekit.source import Source

ALL_LINES = os.environ.get("TRACEKIT_LINES") == "all"


GLOG = r"(?:[IWEF]\d{4} )?[\d:.]+ +\d+ \w+\.cpp:\d+\] "
PARTS = frozenset(("flip", "unfield"))


@dataclass(frozen=True)
class Format:
    """A text format: its parser, how many lines of a file are changed in each way, its rules.

    A rule says what carries nothing; each needs a reason that the docs of the format give.
    """

    parser: str
    line_count: int
    rules: tuple[Rule, ...] = ()


PERF_STAT = (
    Rule(
        "a comma before decimals and between fields: such a file is refused",
        r"^.*(?:,100,00,|^# started on ).*$",
    ),
    Rule(
        "perf prints a share and a spread of what is not supported: 100 % of no time, 0 %",
        r"^.*<not supported>.*$",
        frozenset(("flip", "unfield", "cut")),
    ),
    Rule("and of what is not counted", r"^.*<not counted>.*$", frozenset(("flip",))),
    Rule("the header of intervals is the same in all files", r"^#\s+time\s+counts unit events\r?$"),
    Rule(
        "a header or the name of a group that comes again says the same",
        r'^(?:#\s+time .*|time,.*|\s+[a-z ]+|.*"metricgroup" .*)$',
        frozenset(("double",)),
    ),
    Rule(
        "titles of the table of single repeats",
        r"^\s*# (?:Table of individual measurements|Final result):\s*$",
    ),
    Rule(
        "the times of single repeats are a declared skip",
        r"^\s*[\d.]+ \([+-][\d.]+\) #*\s*$",
        frozenset(("flip",)),
    ),
    Rule(
        "the sum of all intervals is what has no time, with the word and without",
        r"^ *summary,",
        frozenset(("unfield",)),
    ),
    Rule(
        "a metric without a value is not known to be one",
        r",,[^,]+$",
        frozenset(("unfield",)),
        excuses_loss=True,
    ),
    Rule(
        "a metric of a line that has no other is not known to have been there",
        r'^\{"(?:interval|event-runtime)" .*\}$',
        frozenset(("unfield",)),
        excuses_loss=True,
    ),
    Rule("a colour", r"\x1b\[\d+m"),
    Rule("a unit that is blank is none", r'"unit" : "", '),
    Rule("decimals of a ns", r"(?<=\d)\.\d\d(?=, \"pcnt-running\")"),
)

#: The measured block is a benchmark: its begin, its times, its end. Around it caffe tells its net.
CAFFE_TIME = (
    Rule("glog's prefix: when, by whom and where it was written", rf"^.*{GLOG}", PARTS),
    Rule(
        "messages outside of a benchmark",
        rf"^{GLOG}(?:Input|Creating|Performing|conv1 does|Attempt).*$",
    ),
    Rule(
        "a pass in ms is a mean, with the word and without",
        "Average (?=(?:For|Back)ward pass)",
        frozenset(("unfield",)),
    ),
    Rule("a device that another line names", r"(?<=GPU with device ID )\d$", PARTS),
    Rule("digits below a nanosecond", r"(?<=0\.001234)5(?= ms)", PARTS),
    Rule("what another program writes before a message", r"^(?!.*\.cpp:).*$", frozenset(("join",))),
    Rule(
        "a layer that another of its name stands for",
        r'^  (?:name: "relu"|type: "ReLU")$',
        frozenset(("drop",)),
    ),
    Rule("fields of the net that no row has", r"^ *(?!name|type)\w+: .*$"),
    Rule("fillers of a layer have a type too", r'^ {4,}type: "\w+"$'),
    Rule("the braces of the net", r"^ *(?:\w+ \{|\})$"),
    Rule("what is said again", r"^ *(?:name|type): .*$", frozenset(("double",))),
    Rule(
        "a mark that comes again",
        rf"^{GLOG}(?:Init|\*\*\*|Testing|Use|GPU|\w+ time per layer).*$",
        frozenset(("double",)),
    ),
    Rule("a benchmark begins at the number of iterations", rf"^{GLOG}\*\*\* Benchmark begins.*$"),
)

FORMATS = {
    "perf_stat": Format("perf-stat", 1, PERF_STAT),
    "nsight_compute": Format("nsight-compute", 6, NSIGHT_COMPUTE),
    "nvprof": Format("nvprof", 8, NVPROF),
    "caffe_time": Format("caffe-time", 16, CAFFE_TIME),
}
SEPARATORS = {".csv": ",", ".json": ", ", ".txt": r"\s+", ".log": r"\s+"}
FILES = sorted(
    path.relative_to(ROOT / "fixtures").as_posix()
    for name in FORMATS
    for path in (ROOT / "fixtures" / name).rglob("*")
    if path.suffix in SEPARATORS and "expected" not in (path.stem, path.parent.name)
)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", FILES)
def test_every_line_is_told(name: str, tmp_path: Path) -> None:
    path = ROOT / "fixtures" / name
    layout = FORMATS[name.partition("/")[0]]
    content = path.read_bytes()
    encoding = encoding_of(content).removesuffix("-le").removesuffix("-be")
    text = content.decode(encoding, "surrogateescape")
    lines = text.removesuffix("\n").split("\n")
    end = "\n" if text.endswith("\n") else ""
    rules = (BLANK, *layout.rules)
    account = Account(parser_named(layout.parser), lines, rules, tmp_path, encoding, end)
    count = None if ALL_LINES else layout.line_count
    found = list(account.complaints(changes(lines, SEPARATORS[path.suffix], name, count)))
    assert not found, f"{len(found)} changes are not told:\n" + "\n".join(found[:40])


@pytest.mark.parametrize("name", FORMATS)
def test_each_rule_is_about_lines_that_are_there(name: str) -> None:
    texts = [
        (ROOT / "fixtures" / file).read_bytes().decode("utf-8", "replace")
        for file in FILES
        if file.startswith(f"{name}/")
    ]
    lines = [line for text in texts for line in text.split("\n")]
    for rule in FORMATS[name].rules:
        assert any(re.search(rule.where, line) for line in lines), rule.reason


# -- the harness finds what it looks for ----------------------------------------------------------


class _Plain:
    """Lines such as ``name 12``; others are an issue, or nothing at all if it is `careless`."""

    name = "plain"
    title = "plain"

    def __init__(self, *, is_careless: bool) -> None:
        self._is_careless = is_careless

    def sniff(self, head: bytes) -> Match | None:
        return None

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        rows: list[dict[str, Any]] = []
        for line in (line for block in blocks(source, report) for line in block.lines):
            if found := re.fullmatch(r"(\w+) (\d+);", line.decode()):
                rows.append({"event_id": len(rows), "name": found[1], "dur_ns": int(found[2])})
            elif line.strip() and not self._is_careless:
                report.issue(Issue("other", "error", "recording", "another line"))
        yield LAYER_STAT.name, batch_of_rows(LAYER_STAT, rows)


@pytest.mark.parametrize("is_careless", [False, True])
def test_a_careless_parser_is_found(is_careless: bool, tmp_path: Path) -> None:
    lines = ["one 1;", "", "two 22;", "three 333;"]
    account = Account(_Plain(is_careless=is_careless), lines, (BLANK,), tmp_path)
    found = list(account.complaints(changes(lines, r"\s+", "plain", None)))
    kinds = {re.split("[,:]", complaint)[1].strip() for complaint in found}
    assert kinds == (
        {"join", "insert", "garbage", "indent", "cut", "unfield"} if is_careless else set()
    )
