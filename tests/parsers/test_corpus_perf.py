"""Every perf file of the corpus gives what a few patterns here count in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.parsers.conftest import Parsed, gathered
from tracekit.errors import FormatError
from tracekit.parser import Report
from tracekit.registry import claims, detect
from tracekit.source import HEAD_BYTES, Source

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
OTHERS = {"amd-cg-mi300a-likwid-error.txt", "amd-cg-mi300a-uprofpcm-fp.csv"}
FILES = sorted(p.name for p in (CORPUS / "perf").glob("*") if p.name not in OTHERS)


@pytest.fixture(autouse=True)
def needs_the_corpus(corpus: Path) -> None:
    """Without the corpus these tests are skipped."""


def read(name: str) -> Parsed:
    source, report = Source.at(CORPUS / "perf" / name), Report()
    parser = detect(source).parser
    assert parser.name == "perf-stat"
    return gathered(parser.parse(source, report), report)


def number(text: str) -> float:
    """A number, in the notation that its own shape shows."""
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", text):
        return float(text.replace(",", ""))
    return float(text.replace(",", "."))


COUNT = re.compile(
    r"^ +(<not \w+>|[\d.,]+) (?: *(msec) )? *([A-Za-z][\w./:-]*)[ \t]*(?:#|\(|$)", re.MULTILINE
)
METRIC = re.compile(r"# +([-\d.,]+) *(%)? *([A-Za-z/][^#(\n]*?)[ \t]*(?=$|#|\()", re.MULTILINE)
TIME = re.compile(r"^ +([\d.,]+)(?: \+- [\d.]+)? seconds (time elapsed|user|sys)", re.MULTILINE)
POWERS = {"K/sec": 1e3, "M/sec": 1e6, "G/sec": 1e9, "GHz": 1e9}


def test_there_are_fourteen_files() -> None:
    assert len(FILES) == 14


@pytest.mark.parametrize("name", FILES)
def test_a_file(name: str) -> None:
    text, found = (CORPUS / "perf" / name).read_text(), read(name)
    counts, metrics, times = COUNT.findall(text), METRIC.findall(text), TIME.findall(text)
    rows = {
        kind: [row for row in found["counter"] if row["record_kind"] == kind]
        for kind in ("event", "metric", "time")
    }
    assert [(r["event_name"], r["value_raw"], r["unit_raw"]) for r in rows["event"]] == [
        (event, value, unit or None) for value, unit, event in counts
    ]
    assert [r["value"] for r in rows["event"]] == [
        None if value[0] == "<" else pytest.approx(number(value) * (1e6 if unit else 1), rel=1e-15)
        for value, unit, _ in counts
    ]
    assert [r["value"] for r in rows["metric"]] == [
        pytest.approx(number(value) * (0.01 if sign else POWERS.get(label, 1)), rel=1e-12)
        for value, sign, label in metrics
    ]
    assert [(r["event_name"], r["value"]) for r in rows["time"]] == [
        (
            {"time elapsed": "duration_time", "user": "user_time", "sys": "system_time"}[kind],
            pytest.approx(number(value) * 1e9, rel=1e-15),
        )
        for value, kind in times
    ]
    assert len(found["measurement"]) == text.count("Performance counter stats for")
    assert [m["dur_ns"] for m in found["measurement"]] == [
        round(number(value) * 1e9) for value, kind in times if kind == "time elapsed"
    ]
    assert found.report.event_count == len(counts) + len(metrics) + len(times)
    assert found.report.skipped_event_count == 0


@pytest.mark.parametrize("name", FILES)
def test_every_line_is_accounted_for(name: str) -> None:
    text, found = (CORPUS / "perf" / name).read_text(), read(name)
    others = [
        line
        for line in text.splitlines()
        if line.strip()
        and not COUNT.match(line)
        and not TIME.match(line)
        and not re.match(r" Performance counter stats for|# started on ", line)
    ]
    told = found.issues.get("other_text")
    assert (told.occurrence_count if told else 0) == len(others)
    assert (told.lost_bytes if told else 0) == sum(len(line.encode()) for line in others)


def test_shares_and_errors_of_repeats_on_a_hybrid_processor() -> None:
    found = read("dispatch-runtime-expensive-hybrid-r5.txt")
    (atom,) = [r for r in found["counter"] if r["event_name"] == "cpu_atom/cycles/"]
    assert (atom["value"], atom["running_ratio"], atom["status_kind"]) == (
        25_968_322_064,
        0.0018,
        "scaled",
    )
    assert atom["stddev"] == pytest.approx(25_968_322_064 * 0.2450)
    assert (atom["event_key"], atom["pmu_name"]) == ("cycles", "cpu_atom")
    assert found.one("measurement")["repeat_count"] == 5


def test_a_remark_of_an_author_is_no_metric() -> None:
    found = read("dendibakh-rawcodes-skylake.txt")
    first = found["counter"][0]
    assert (first["event_name"], first["event_key"], first["args_json"]) == (
        "r5301b1",
        "cpu/event=0xb1,umask=0x1/",
        '{"comment": "UOPS_EXECUTED.CORE"}',
    )
    assert [r["event_name"] for r in found["counter"] if r["record_kind"] == "metric"] == [
        "insn per cycle"
    ]


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_what_is_not_of_perf_is_refused(name: str) -> None:
    with pytest.raises(FormatError):
        detect(Source.at(CORPUS / "perf" / name))


@pytest.mark.deep
def test_no_other_file_is_claimed() -> None:
    taken = []
    for path in sorted(CORPUS.rglob("*")):
        if not path.is_file() or path.parent.name == "perf":
            continue
        with Source.at(path).open() as stream:
            head = stream.read(HEAD_BYTES)
        taken += [path.name for parser, _ in claims(head) if parser.name == "perf-stat"]
    assert taken == []
