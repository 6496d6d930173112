"""The page of a report: what it says is what the reports say, and nothing in it acts."""

from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.ingested import Ingested
from tests.pages import PageSeen
from tracekit.intake import Options, ingest
from tracekit.report.timeline import timeline_of

Tracekit = Callable[..., Any]

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures"
#: Elements of a page; any other would be one from a name.
ELEMENTS = frozenset(
    (
        *("html", "head", "meta", "title", "style", "body", "script", "noscript", "a", "b"),
        *("header", "nav", "main", "section", "footer", "div", "span", "p", "h1", "h2", "h3", "h4"),
        *("ul", "ol", "li", "dl", "dt", "dd", "code", "strong", "details", "summary", "figure"),
        *("figcaption", "label", "input", "button", "table", "caption", "thead", "tbody", "tr"),
        *("th", "td", "svg", "g", "path", "rect", "circle", "text"),
    )
)
ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]")


def page_of(tracekit: Tracekit, *words: str | Path) -> PageSeen:
    answer = tracekit("report", *words)
    assert (answer.code, answer.messages) == (0, "")
    return PageSeen(answer.data)


def rows_of(tracekit: Tracekit, *words: str | Path) -> list[dict[str, str]]:
    answer = tracekit(*words, "--format", "csv")
    assert answer.code == 0, answer.messages
    return list(csv.DictReader(io.StringIO(answer.text)))


# -- what it says ---------------------------------------------------------------------------------


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("caption", "report"),
    [
        ("Time by class", "overlap"),
        ("Idle time by cause", "gaps"),
        ("Longest idle times", "largest_gaps"),
        ("Streams", "stream_utilization"),
        ("Steps", "steps"),
        ("Kernels", "kernel_figures"),
        ("Operators", "ops"),
        ("Layers", "layers"),
        ("What is known about kernels", "attribution_coverage"),
        ("Counters joined to the timeline", "joins"),
    ],
)
def test_tables_have_the_figures_of_reports(
    tracekit: Tracekit, lstm: Path, caption: str, report: str
) -> None:
    seen = page_of(tracekit, "lstm", "--store", lstm).table(caption)
    rows = rows_of(tracekit, "query", report, "--run", "lstm", "--store", lstm)
    assert len(seen.rows) == len(rows) > 0
    numbers = 0
    for name in seen.names:
        for shown, row in zip(seen.values(name), rows, strict=True):
            if isinstance(shown, float):
                # four digits; of shares one after the point
                near = pytest.approx(float(row[name]), rel=5.1e-4, abs=0.00051)
                assert shown == near, (name, row)
                numbers += 1
            elif shown is None:
                assert row[name] == "", (name, row)
    assert numbers >= len(rows)


def test_columns_for_programs_and_without_a_value_are_left_out(
    tracekit: Tracekit, lstm: Path
) -> None:
    page = page_of(tracekit, "lstm", "--store", lstm)
    gaps = page.table("Longest idle times").names
    assert not {"next_event_id", "start_ns", "source_id", "rank_index", "reason"} & {*gaps}
    assert {"gap_ns", "next_name", "offset_ns"} <= {*gaps}


def test_each_figure_is_defined(tracekit: Tracekit, lstm: Path) -> None:
    page = page_of(tracekit, "lstm", "--store", lstm)
    assert page.facts["idle_share_ratio"] == "total_ns / idle time of the device"
    names = {name for table in page.tables for name in table.names}
    assert names <= {*page.texts["dt"]}
    assert "tracekit query gaps --run lstm" in page.texts["code"]


def test_findings_and_key_figures_are_those_of_their_commands(
    tracekit: Tracekit, lstm: Path
) -> None:
    page = page_of(tracekit, "lstm", "--store", lstm)
    found = rows_of(tracekit, "advise", "lstm", "--store", lstm)
    titles = [row["title"] for row in found]
    assert len(titles) > 1
    assert page.texts["h4"][: len(titles)] == titles
    summary = rows_of(tracekit, "summary", "lstm", "--store", lstm)
    for row in summary:
        assert page.facts[row["about"]] == row["summary"]


def test_the_timeline_has_all_work_and_all_idle_time(tracekit: Tracekit, lstm: Path) -> None:
    (timeline,) = page_of(tracekit, "lstm", "--store", lstm).timelines()
    (device,) = timeline["groups"]
    streams = rows_of(tracekit, "query", "stream_utilization", "--run", "lstm", "--store", lstm)
    gaps = rows_of(tracekit, "query", "gaps", "--run", "lstm", "--store", lstm)
    steps = rows_of(tracekit, "query", "steps", "--run", "lstm", "--store", lstm)
    assert device["elapsed"] == int(gaps[0]["elapsed_ns"])
    sums = list(map(sums_of, device["tracks"]))
    assert sums[0] == sum(int(row["elapsed_ns"]) for row in steps if row["step_index"])
    assert sums[1] == sum(int(row["total_ns"]) for row in gaps)
    assert sorted(sums[2:]) == sorted(int(row["sum_ns"]) for row in streams)
    # each within the time of the device
    for track in device["tracks"][1:]:
        start = 0
        for offset, dur in zip(track["o"], track["d"], strict=True):
            start += offset
            assert 0 <= start <= start + dur <= device["elapsed"]


@pytest.mark.deep
def test_a_timeline_of_many_kernels_is_merged_and_loses_nothing(
    tracekit: Tracekit, large_trace: Path, ingested: Ingested
) -> None:
    store = ingested.store(large_trace, run_name="large")
    answer = tracekit("report", "large", "--store", store)
    assert len(answer.data) < 1_000_000
    (timeline,) = PageSeen(answer.data).timelines()
    streams = rows_of(tracekit, "query", "stream_utilization", "--run", "large", "--store", store)
    tracks = timeline["groups"][0]["tracks"][-len(streams) :]
    for track in tracks:  # a merged piece for each of four classes and 1,000 times at most
        assert len(track["k"]) <= 1000 + 4 * 1000
    shown = sorted((sum(c or 1 for c in track["c"]), sums_of(track)) for track in tracks)
    told = sorted(
        (int(row["kernel_count"]) + int(row["transfer_count"]), int(row["sum_ns"]))
        for row in streams
    )
    assert shown == told
    assert max(count for count, _ in told) > 5_000


@pytest.mark.deep
def test_ranks_are_on_one_clock_by_collectives(
    tracekit: Tracekit, corpus: Path, ingested: Ingested
) -> None:
    """The first all-to-all ends on all ranks at a time, whenever a rank came to it."""
    files = sorted((corpus / "torch").glob("param-dlrm-8rank-worker*.json.gz"))
    store = ingested.store(*files, run_name="dlrm")
    (timeline,) = page_of(tracekit, "dlrm", "--store", store).timelines()
    (kind,) = (place for place, (key, _) in enumerate(timeline["kinds"]) if key == "communication")
    begins, ends = [], []
    for group in timeline["groups"]:
        (track,) = (track for track in group["tracks"] if set(track["k"]) == {kind})
        begins.append(track["o"][0])
        ends.append(track["o"][0] + track["d"][0])
    assert len(ends) == 8
    assert max(begins) - min(begins) > 5_000_000
    assert max(ends) - min(ends) < 50_000


def row_of(source: str, offset_ns: int, start_ns: int, elapsed_ns: int = 100) -> dict[str, Any]:
    return {
        "rank_index": None,
        "source_id": source,
        "device_id": 0,
        "stream_id": 7,
        "track_kind": "stream",
        "piece_kind": "compute",
        "offset_ns": offset_ns,
        "start_ns": start_ns,
        "piece_ns": 5,
        "sum_ns": 5,
        "work_count": 1,
        "name": "k",
        "elapsed_ns": elapsed_ns,
    }


#: Windows of two sources from 1,000 and from 5,020 of their clocks, which are 4,000 apart.
APART = [row_of("a", 10, 1010), row_of("b", 30, 5050)]


def clocks(shift_ns: int, basis: str = "collectives") -> list[dict[str, Any]]:
    return [
        {"source_id": "a", "shift_ns": 0, "clock_basis": "collectives"},
        {"source_id": "b", "shift_ns": shift_ns, "clock_basis": basis},
    ]


@pytest.mark.parametrize(
    ("known", "offsets", "elapsed", "note"),
    [
        (clocks(-4000), [(10,), (50,)], [100, 120], "aligned by the ends of collectives"),
        (clocks(-4000, "unix"), [(10,), (50,)], [100, 120], "by the times in their files"),
        (clocks(-4000, "start"), [(10,), (30,)], [100, 100], "clocks are not aligned"),
        (clocks(0), [(10,), (30,)], [100, 100], "clocks are not aligned"),  # they would not overlap
        ([], [(10,), (30,)], [100, 100], "clocks are not aligned"),
    ],
)
def test_tracks_of_two_sources(
    known: list[dict[str, Any]], offsets: list[tuple[int]], elapsed: list[int], note: str
) -> None:
    timeline = timeline_of("x", APART, [], known)
    assert [group.tracks[0].pieces.offsets_ns for group in timeline.groups] == offsets
    assert [group.elapsed_ns for group in timeline.groups] == elapsed
    assert note in timeline.note


def sums_of(track: dict[str, list[int]]) -> int:
    """The time of the work in all pieces of a track; 0 stands for the duration of the piece."""
    return sum(own or dur for own, dur in zip(track["s"], track["d"], strict=True))


def test_a_point_of_a_roofline_says_what_it_is(tracekit: Tracekit, lstm: Path) -> None:
    page = page_of(tracekit, "lstm", "--store", lstm)
    (kernel,) = [
        row
        for row in rows_of(tracekit, "query", "kernel_figures", "--run", "lstm", "--store", lstm)
        if row["name"].startswith("lstm_cell_forward") or "lstm_cell_forward" in row["name"]
    ]
    (tip,) = [t for t in page.attributes("aria-label") if t.startswith("lstm_cell_forward")]
    _, share, work, bound = tip.split("\n")
    assert f"{float(kernel['share_ratio']):.1%}".replace("%", " %") in share
    assert "32 launches" in share
    assert "latency-bound" in bound
    assert kernel["bound_kind"] == "latency"
    assert "FLOP" in work


@pytest.mark.deep
def test_without_counters_the_points_are_operators(tracekit: Tracekit, filled: Path) -> None:
    page = page_of(tracekit, "gpu", "--store", filled)
    assert any(text.startswith("Each point is an operator") for text in page.texts["p"])
    tips = [tip for tip in page.attributes("aria-label") if tip.startswith("aten::")]
    assert tips
    assert all("FLOP/byte" in tip for tip in tips)


# -- of which runs --------------------------------------------------------------------------------


def sections(page: PageSeen) -> list[str]:
    return page.texts["h2"]


def test_only_sections_with_an_answer(tracekit: Tracekit, lstm: Path) -> None:
    counted = page_of(tracekit, "counted", "--store", lstm)
    assert sections(counted) == ["Findings", "Key figures", "Kernels", "Roofline", "Data quality"]
    timed = sections(page_of(tracekit, "lstm", "--store", lstm))
    assert "Timeline" in timed
    assert "Processor" not in timed
    assert "Ranks" not in timed


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("file", "wanted"),
    [
        ("perf_stat/core_json", {"Processor"}),
        ("tensorflow_profiler", {"Operators"}),
        ("nvprof/metrics-csv", {"Kernels"}),
        ("caffe_time/means", {"Layers"}),
    ],
)
def test_of_other_formats(
    tracekit: Tracekit, ingested: Ingested, file: str, wanted: set[str]
) -> None:
    store = ingested.store(FIXTURES / file, run_name="it")
    page = page_of(tracekit, "it", "--store", store)
    assert wanted | {"Key figures", "Data quality"} <= {*sections(page)}
    assert page.tables


@pytest.mark.deep
def test_of_two_runs(tracekit: Tracekit, filled: Path) -> None:
    page = page_of(tracekit, "gpu", "small", "--store", filled)
    assert sections(page)[0] == "Comparison"
    rows = rows_of(tracekit, "compare", "gpu", "small", "--store", filled)
    seen = page.table("What changed")
    assert [row[seen.names.index("change_kind")] for row in seen.rows] == [
        row["change_kind"] for row in rows
    ]
    assert seen.values("a_ns") == pytest.approx([float(row["a_ns"]) for row in rows], rel=5.1e-4)
    captions = [table.caption for table in page.tables]
    assert captions.index("Kernels: A (gpu)") + 1 == captions.index("Kernels: B (small)")
    assert any(
        "slower" in text or "faster" in text or "as long" in text for text in page.texts["p"]
    )


def test_of_a_run_without_anything(tracekit: Tracekit, tmp_path: Path) -> None:
    file = tmp_path / "empty.json"
    file.write_text('{"schemaVersion": 1, "traceEvents": []}', "utf-8")
    ingest(file, tmp_path / "S", Options(run_name="empty"))
    page = page_of(tracekit, "--store", tmp_path / "S")
    assert sections(page) == ["Findings", "Key figures", "Data quality"]
    assert "No problems found." in page.texts["p"]


@pytest.mark.deep
def test_of_some_steps(tracekit: Tracekit, filled: Path) -> None:
    page = page_of(tracekit, "gpu", "--phase", "stable", "--store", filled)
    gaps = page.table("Idle time by cause")
    words = ("query", "gaps", "--run", "gpu", "--phase", "stable", "--store", filled)
    rows = rows_of(tracekit, *words)
    expected = [float(row["total_ns"]) for row in rows]
    assert gaps.values("total_ns") == pytest.approx(expected, rel=5.1e-4)
    assert "Times cover the steps stable." in page.texts["p"]


def test_of_a_run_without_kernels(tracekit: Tracekit, filled: Path) -> None:
    page = page_of(tracekit, "cpu", "--store", filled)
    assert "Timeline" not in sections(page)
    assert "Operators" in sections(page)


# -- bad requests ---------------------------------------------------------------------------------


def test_an_output_that_exists_stays(tracekit: Tracekit, filled: Path, here: Path) -> None:
    words = ("report", "gpu", "--store", filled, "-o", "x.html")
    done = tracekit(*words)
    assert (done.code, done.data) == (0, b"")
    assert done.messages.startswith("x.html: findings, key figures, timeline, ")
    before = (here / "x.html").read_bytes()
    again = tracekit(*words)
    assert again.code == 2
    assert again.error == "x.html: the file exists; use --force to overwrite it"
    assert (here / "x.html").read_bytes() == before
    assert tracekit(*words, "--force").code == 0


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["nothing"], 2, "there is no run called 'nothing'"),
        (["gpu", "small", "cpu"], 2, "a report covers one run or compares two, not 3"),
        (["gpu", "gpu"], 2, "a run cannot be compared with itself; name two runs"),
        (["gpu", "--phase", "90..91"], 5, "the run has no steps 90..91"),
    ],
)
def test_what_cannot_be_reported(
    tracekit: Tracekit, filled: Path, here: Path, words: list[str], code: int, says: str
) -> None:
    answer = tracekit("report", *words, "--store", filled, "-o", "x.html")
    assert answer.code == code
    assert says in answer.error
    assert not (here / "x.html").exists()


# -- nothing acts ---------------------------------------------------------------------------------


def require_inert(content: bytes) -> PageSeen:
    page = PageSeen(content)
    assert {tag for tag, _ in page.tags} <= ELEMENTS
    names = {name for _, known in page.tags for name in known}
    assert not {name for name in names if name.startswith("on")} | names & {"src", "style"}
    assert all(target.startswith("#") for target in page.attributes("href"))
    assert ACTIVE.findall(content.decode()) == []
    assert [tag for tag, _ in page.tags].count("style") == 1
    return page


def test_the_policy_allows_only_its_own_script_and_style(tracekit: Tracekit, filled: Path) -> None:
    page = require_inert(tracekit("report", "gpu", "--store", filled).data)
    (policy,) = [c for c in page.attributes("content") if "default-src" in c]
    assert policy.split("; ")[0] == "default-src 'none'"
    script = page.texts["script"][-1]
    for kind, text in (("style", page.texts["style"][0]), ("script", script)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    # all others are data
    kinds = [known.get("type") for tag, known in page.tags if tag == "script"]
    assert kinds == ["application/json"] * (len(kinds) - 1) + [None]


def test_no_address_of_elsewhere_is_in_it(tracekit: Tracekit, lstm: Path) -> None:
    text = tracekit("report", "lstm", "--store", lstm).text
    # the name of a namespace, which is not loaded
    addresses = {*re.findall(r"\w+://[^\s\"'<]+", text)} - {"http://www.w3.org/2000/svg"}
    assert addresses == set()
    assert "@import" not in text
    assert "url(" not in text


def test_names_that_mean_harm(tracekit: Tracekit, hostile: Path) -> None:
    page = require_inert(tracekit("report", "--store", hostile).data)
    kernels = page.table("Kernels")
    names = [row[kernels.names.index("name")] for row in kernels.rows]
    assert any("<script>" in name for name in names)
    assert r"\x1b]0;owned\x07run" in page.texts["h1"][0]


HARMFUL = (
    "</script><script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    "\"' onmouseover='alert(1)' x=\"",
    "<!-- <script> ]]>",
    "{{ 7 * 7 }}{% raw %}",
    "\u202egnp.exe\u2066\u200f",
    "\x00\x1b[31m\x07\u2028\ud800",
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "names", [HARMFUL, ("a" * (1 << 20),), ("<b>" * 40_000,)], ids=["harmful", "long", "many"]
)
def test_a_name_is_only_text(
    tracekit: Tracekit, tmp_path: Path, small_trace: Path, names: tuple[str, ...]
) -> None:
    """Of whatever has a name: all events of a small trace again for each, one after the other."""
    trace = json.loads(small_trace.read_text("utf-8"))
    events, trace["traceEvents"] = trace["traceEvents"], []
    for place, name in enumerate(names):
        for event in events:
            later = event | {"ts": event["ts"] + 1000 * place}
            if event.get("cat") in ("kernel", "cpu_op", "gpu_memcpy", "user_annotation"):
                later["name"] = f"{name}{event['name']}"
            trace["traceEvents"].append(later)
    title = "".join(names)
    trace["deviceProperties"] = [{"id": 0, "name": title[:2000]}]
    file = tmp_path / "trace.json.gz"
    file.write_bytes(gzip.compress(json.dumps(trace).encode()))
    store = tmp_path / "S"
    ingest(file, store, Options(run_name=title[:200].replace("\ud800", "")))
    answer = tracekit("report", "--store", store)
    assert answer.code == 0, answer.messages
    page = require_inert(answer.data)
    assert len({*page.table("Kernels").values("name")}) == 3 * len(names)
    assert len(answer.data) < 500_000
