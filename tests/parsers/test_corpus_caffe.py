"""Every log of caffe time of the corpus gives what a few patterns here count in it."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest

from tests.parsers.conftest import Parsed, gathered
from tracekit.parser import Report
from tracekit.registry import claims, detect
from tracekit.source import HEAD_BYTES, Source

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
FILES = sorted(path.name for path in (CORPUS / "extra").glob("caffe-*.log"))

LAYER = re.compile(r"\] +(\S+)\t(forward|backward): (\S+) m", re.MULTILINE)
TIME = re.compile(r"([\d.]+) (?:ms|milliseconds)\.$", re.MULTILINE)
NET = re.compile(r'^name: "(.*)"$', re.MULTILINE)
TYPE = re.compile(r'^layers? \{\n(?:  .*\n)*?(?:  name: "(.*)"\n  type: "?(\w+)"?)$', re.MULTILINE)


@pytest.fixture(autouse=True)
def needs_the_corpus(corpus: Path) -> None:
    """Without the corpus these tests are skipped."""


def read(name: str) -> Parsed:
    source, report = Source.at(CORPUS / "extra" / name), Report()
    parser = detect(source).parser
    assert parser.name == "caffe-time"
    return gathered(parser.parse(source, report), report)


def ns(milliseconds: str) -> int:
    return int(Decimal(milliseconds) * 1_000_000)


def test_there_are_seven_files() -> None:
    assert len(FILES) == 7


@pytest.mark.parametrize("name", FILES)
def test_a_file(name: str) -> None:
    text, found = (CORPUS / "extra" / name).read_text(), read(name)
    rows = found["layer_stat"]
    assert [row["dur_ns"] for row in rows] == [ns(time) for time in TIME.findall(text)]
    layers = [row for row in rows if row["name"] is not None]
    assert [(row["name"], row["phase_kind"], row["dur_ns"]) for row in layers] == [
        (layer, phase, ns(time)) for layer, phase, time in LAYER.findall(text)
    ]
    types = dict(TYPE.findall(text))
    assert {row["name"]: row["type_name"] for row in layers} == {
        row["name"]: types.get(row["name"], "Split" if "_split" in row["name"] else None)
        for row in layers
    }
    nets = NET.findall(text)
    assert sorted({(row["net_index"], row["net_name"]) for row in rows}) == (
        list(enumerate(nets)) or [(n, None) for n in range(5)]
    )
    assert found.report.event_count == len(rows)
    assert found.report.skipped_event_count == 0


@pytest.mark.parametrize("name", FILES)
def test_forward_and_backward_of_a_layer_have_one_place(name: str) -> None:
    places: dict[tuple[int, int], list[tuple[str, str]]] = {}
    for row in read(name)["layer_stat"]:
        if row["name"] is not None:
            place = (row["net_index"], row["layer_index"])
            places.setdefault(place, []).append((row["name"], row["phase_kind"]))
    for told in places.values():
        assert [phase for _, phase in told] == ["forward", "backward"]
        assert len({name for name, _ in told}) == 1


@pytest.mark.parametrize("name", [name for name in FILES if "clean" not in name])
def test_a_whole_log(name: str) -> None:
    text, found = (CORPUS / "extra" / name).read_text(), read(name)
    assert found.facts["is_complete"]
    assert set(found.issues) <= {"cut_net"}
    (count,) = {int(n) for n in re.findall(r"Testing for (\d+) iterations", text)}
    kinds = {"single": None, "mean": count, "sum": count}
    for row in found["layer_stat"]:
        assert row["iteration_count"] == kinds[row["statistic_kind"]]
    iterations = [r["iteration_index"] for r in found["layer_stat"] if r["iteration_index"]]
    assert iterations == ([] if "2014" in name else list(range(1, count + 1)))


@pytest.mark.parametrize("name", [name for name in FILES if "clean" not in name])
def test_the_totals_of_a_log_are_the_sums_of_its_rows(name: str) -> None:
    sums: dict[tuple[int, str], int] = {}
    rows = read(name)["layer_stat"]
    for row in rows:
        if row["name"] is not None:
            key = (row["net_index"], row["phase_kind"])
            sums[key] = sums.get(key, 0) + row["dur_ns"]
    passes = {
        (r["net_index"], r["phase_kind"]): r["dur_ns"]
        for r in rows
        if r["name"] is None and r["phase_kind"]
    }
    assert passes.keys() == sums.keys()
    for key, dur_ns in passes.items():
        assert sums[key] == pytest.approx(dur_ns, rel=0.01)
    singles = [row["dur_ns"] for row in rows if row["statistic_kind"] == "single"]
    (total, *_) = [r["dur_ns"] for r in rows if r["statistic_kind"] == "sum" and not r["name"]][-1:]
    assert not singles or sum(singles) == pytest.approx(total, rel=0.01)


def test_a_log_of_layers_alone() -> None:
    found = read("caffe-clean-nogradinput.log")
    assert {code: issue.occurrence_count for code, issue in found.issues.items()} == {
        "no_end": 5,
        "no_iteration_count": 5,
    }
    assert not found.facts["is_complete"]


def test_a_net_longer_than_a_message_of_glog() -> None:
    found = read("caffe-googlenet-native-cpu.log")
    text = (CORPUS / "extra" / "caffe-googlenet-native-cpu.log").read_text()
    begin = text.index("Initializing net from parameters")
    echo = text[begin : text.index("\nI", begin)]
    assert 29_000 < len(echo) < 30_000
    assert found.codes == ["cut_net"]


@pytest.mark.deep
def test_no_other_file_is_claimed() -> None:
    taken = []
    for path in sorted(CORPUS.rglob("*")):
        if path.is_file() and path.name not in FILES:
            with Source.at(path).open() as stream:
                head = stream.read(HEAD_BYTES)
            taken += [path.name for parser, _ in claims(head) if parser.name == "caffe-time"]
    assert taken == []


@pytest.mark.parametrize("name", FILES)
def test_nobody_else_claims_them(name: str) -> None:
    with Source.at(CORPUS / "extra" / name).open() as stream:
        assert [parser.name for parser, _ in claims(stream.read(HEAD_BYTES))] == ["caffe-time"]
