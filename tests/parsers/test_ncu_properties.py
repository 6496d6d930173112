"""Whatever a report holds: its pages give the same rows, and nothing around them changes a row."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.parsers.ncu_pages import (
    Advice,
    Launch,
    Metric,
    content_of,
    details,
    line,
    raw,
    read,
    text,
)
from tracekit.errors import FormatError
from tracekit.reading.text import lines

QUICK = settings(
    max_examples=settings().max_examples * 3 // 10,  # each is slow
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

# -- random reports -------------------------------------------------------------------------------

PERCENT = st.integers(0, 10_000).map(lambda n: f"{n / 100:.2f}")
COUNT = st.integers(0, 2**62).map(lambda n: f"{n:,}")
SMALL = st.integers(0, 200_000).map(lambda n: f"{n:,}")
DECIMALS = st.integers(1, 10**15).map(lambda n: f"{n / 100:,.2f}")

#: Section and label of the details page, the counter's name, units it may come in, its values.
COUNTERS: list[tuple[str, str, str, dict[str, st.SearchStrategy[str]]]] = [
    (
        "GPU Speed Of Light Throughput",
        "Duration",
        "gpu__time_duration.sum",
        {"ns": st.integers(1, 10**12).map(lambda n: f"{n:,}"), "us": DECIMALS, "msecond": DECIMALS},
    ),
    (
        "GPU Speed Of Light Throughput",
        "Memory Throughput",
        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
        {"%": PERCENT},
    ),
    (
        "GPU Speed Of Light Throughput",
        "SM Frequency",
        "gpc__cycles_elapsed.avg.per_second",
        {"Ghz": DECIMALS, "cycle/usecond": DECIMALS, "hz": DECIMALS},
    ),
    (
        "Memory Workload Analysis",
        "Memory Throughput",
        "dram__bytes.sum.per_second",
        {"Gbyte/s": DECIMALS, "byte/second": DECIMALS},
    ),
    (
        "Launch Statistics",
        "Registers Per Thread",
        "launch__registers_per_thread",
        {"register/thread": SMALL},
    ),
    (
        "Launch Statistics",
        "Static Shared Memory Per Block",
        "launch__shared_mem_per_block_static",
        {"Kbyte/block": DECIMALS, "byte/block": SMALL},
    ),
    (
        "Launch Statistics",
        "Dynamic Shared Memory Per Block",
        "launch__shared_mem_per_block_dynamic",
        {"byte/block": SMALL},
    ),
    (
        "Launch Statistics",
        "Function Cache Configuration",
        "launch__func_cache_config",
        {"": st.sampled_from(["CachePreferNone", "0x3"])},
    ),
    (
        "Occupancy",
        "Achieved Occupancy",
        "sm__warps_active.avg.pct_of_peak_sustained_active",
        {"%": PERCENT},
    ),
    ("Instruction Statistics", "Executed Instructions", "smsp__inst_executed.sum", {"inst": COUNT}),
]
NAMED = [
    "dram__bytes.sum",
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "sm__sass_thread_inst_executed_op_hadd_pred_on.sum",
    "lts__t_bytes.sum",
    "sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off.sum",
    "sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_on.sum",
    "some__counter.sum",
]
COUNTERS += [
    ("Command line profiler metrics", "", name, {"byte" if "bytes" in name else "inst": COUNT})
    for name in NAMED
]
#: Every report has it, so that its notation can be told.
PLAIN = (
    "GPU Speed Of Light Throughput",
    "DRAM Throughput",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
)
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1).map(
    lambda name: f"k<{name}>(float *, int)"
)


@st.composite
def reports(draw: st.DrawFn) -> list[Launch]:
    """Launches of one or two processes with the same counters, each in one unit of its."""
    columns = draw(st.lists(st.sampled_from(COUNTERS), unique_by=lambda c: c[2], max_size=8))
    units = [draw(st.sampled_from(sorted(column[3]))) for column in columns]
    count = draw(st.integers(1, 5))
    split = draw(st.integers(0, count))
    return [
        Launch(
            number,
            draw(NAMES),
            100 + (number >= split),
            f"app{number >= split}",
            metrics=[
                Metric(PLAIN[2], "%", draw(PERCENT), PLAIN[1], PLAIN[0]),
                *(_metric(draw, column, unit) for column, unit in zip(columns, units, strict=True)),
            ],
        )
        for number in range(count)
    ]


def _metric(draw: st.DrawFn, column: tuple[Any, ...], unit: str) -> Metric:
    section, label, name, values = column
    if draw(st.integers(0, 9)) == 0:
        return Metric(name, "", "n/a", label, section)
    return Metric(name, unit, draw(values[unit]), label, section)


def with_advice(launches: list[Launch]) -> list[Launch]:
    advice = Advice(
        "SpeedOfLight",
        "GPU Speed Of Light Throughput",
        "SOLBottleneck",
        "OPT",
        "Memory is more heavily utilized than Compute: " + "look at it. " * 5 + "(97.7%)",
        ("local", "12.34"),
    )
    return [Launch(**{**vars(launch), "advice": [advice]}) for launch in launches]


PAGES = {"details": details, "raw": raw, "text": text}
pages = pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)


@given(reports())
@QUICK
def test_the_three_pages_of_a_report_give_the_same_rows(
    tmp_path_factory: pytest.TempPathFactory, report: list[Launch]
) -> None:
    path = tmp_path_factory.mktemp("pages") / "page"
    of_details, of_raw, of_text = (
        content_of(read(path, write(report))) for write in PAGES.values()
    )
    assert of_details == of_raw
    assert of_text == of_details
    assert len(of_raw["kernel"]) == len(report)


# -- what stands around the rows ------------------------------------------------------------------


@pytest.mark.sampled(3)
@pages
@given(report=reports(), data=st.data())
@QUICK
def test_output_of_the_program_between_the_lines_changes_nothing(
    page: Callable[[list[Launch]], str],
    tmp_path_factory: pytest.TempPathFactory,
    report: list[Launch],
    data: st.DataObject,
) -> None:
    path = tmp_path_factory.mktemp("noise") / "page"
    whole = page(with_advice(report) if page is not raw else report)
    before = read(path, whole)
    said = st.text(st.characters(codec="utf-8", exclude_categories=["C"])).map(
        lambda words: f"Epoch {words}"
    )
    mixed = []
    for row in whole.splitlines(True):
        mixed += [f"{words}\n" for words in data.draw(st.lists(said, max_size=2))]
        mixed.append(row)
    after = read(path, "".join(mixed))
    assert content_of(after) == content_of(before)
    assert [r["message"] for r in after["kernel_rule"]] == [
        r["message"] for r in before["kernel_rule"]
    ]
    assert [code for code in after.codes if code != "other_text"] == before.codes


@pytest.mark.parametrize("page", [details, raw], ids=["details", "raw"])
@given(report=reports(), data=st.data())
@QUICK
def test_output_of_the_program_on_the_line_of_a_row_changes_nothing(
    page: Callable[[list[Launch]], str],
    tmp_path_factory: pytest.TempPathFactory,
    report: list[Launch],
    data: st.DataObject,
) -> None:
    path = tmp_path_factory.mktemp("glued") / "page"
    whole = page(report)
    words = st.text(st.characters(codec="ascii", exclude_characters='"', exclude_categories=["C"]))
    mixed = [
        data.draw(words).rstrip(",;") + row.rstrip("\n") + data.draw(words).lstrip(",") + "\n"
        for row in whole.splitlines(True)
    ]
    assert content_of(read(path, "".join(mixed))) == content_of(read(path, whole))


@pytest.mark.sampled(3)
@pages
@given(report=reports())
@QUICK
def test_encoding_and_line_ends_change_nothing(
    page: Callable[[list[Launch]], str],
    tmp_path_factory: pytest.TempPathFactory,
    report: list[Launch],
) -> None:
    path = tmp_path_factory.mktemp("encoded") / "page"
    whole = page(with_advice(report) if page is not raw else report)
    plain = read(path, whole)
    expected = content_of(plain)
    windows = whole.replace("\n", "\r\n")
    for content in (
        codecs.BOM_UTF8 + whole.encode(),
        codecs.BOM_UTF8 + windows.encode(),
        windows.encode(),
        codecs.BOM_UTF16_LE + windows.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + whole.encode("utf-16-be"),
    ):
        found = read(path, content)
        assert content_of(found) == expected
        assert found.codes == plain.codes


@pytest.mark.sampled(3)
@pages
@given(report=reports(), size=st.integers(4, 400))
@QUICK
def test_the_size_of_blocks_changes_nothing(
    page: Callable[[list[Launch]], str],
    tmp_path_factory: pytest.TempPathFactory,
    report: list[Launch],
    size: int,
) -> None:
    path = tmp_path_factory.mktemp("blocks") / "page"
    content = page(with_advice(report) if page is not raw else report)
    whole = read(path, content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK_BYTES", size)
        found = read(path, content)
    assert found.rows.keys() == whole.rows.keys()
    for table, rows in whole.rows.items():  # at once, rows come one metric after the other
        assert sorted(map(str, found.rows[table])) == sorted(map(str, rows))
    assert found.report.issues == whole.report.issues
    assert found.report.event_count == whole.report.event_count


# -- notation -------------------------------------------------------------------------------------

SWAP = str.maketrans(".,", ",.")


def european(report: list[Launch], group: str = ".") -> list[Launch]:
    def metric(m: Metric) -> Metric:
        is_number = m.text[0].isdigit() and not m.text.startswith("0x")
        swapped = m.text.translate(SWAP).replace(".", group) if is_number else m.text
        return Metric(m.name, m.unit, swapped, m.label, m.section)

    return [
        Launch(**{**vars(launch), "metrics": [metric(m) for m in launch.metrics]})
        for launch in report
    ]


@pages
@given(report=reports(), group=st.sampled_from([".", " ", "\u00a0", "\u202f", "'", "\u2019"]))
@QUICK
def test_european_notation_gives_the_same_values(
    page: Callable[[list[Launch]], str],
    tmp_path_factory: pytest.TempPathFactory,
    report: list[Launch],
    group: str,
) -> None:
    path = tmp_path_factory.mktemp("locale") / "page"
    plain, other = read(path, page(report)), read(path, page(european(report, group)))
    values = [(r["metric_name"], r["value"], r["unit"]) for r in plain["kernel_metric"]]
    assert [(r["metric_name"], r["value"], r["unit"]) for r in other["kernel_metric"]] == values
    ours, theirs = content_of(plain), content_of(other)
    assert ours["kernel"] == theirs["kernel"]
    assert ours["kernel_counter"] == theirs["kernel_counter"]


# -- cut files ------------------------------------------------------------------------------------


@given(report=reports(), place=st.floats(0, 1))
@QUICK
def test_a_details_page_cut_anywhere_keeps_what_is_whole(
    tmp_path_factory: pytest.TempPathFactory, report: list[Launch], place: float
) -> None:
    path = tmp_path_factory.mktemp("cut") / "page"
    content = details(report).encode()
    whole = read(path, content)
    start = content.index(b"\n") + 1
    cut = content[: start + round(place * (len(content) - start))]
    *full, rest = cut.split(b"\n")
    is_cut = bool(rest) and rest not in content.split(b"\n")
    count = len(full) - 1 + (bool(rest) and not is_cut)
    try:
        found = read(path, cut)
    except FormatError:
        assert count == 0
        return
    assert found["kernel_metric"] == whole["kernel_metric"][:count]
    assert found.report.skipped_event_count == is_cut
    assert found.report.event_count == len(found["kernel"]) + is_cut
    assert ("damaged_row" in found.codes) == is_cut
    assert sum(issue.lost_bytes for issue in found.issues.values()) == is_cut * len(rest)


@given(report=reports(), place=st.floats(0, 1))
@QUICK
def test_a_raw_page_cut_anywhere_keeps_what_is_whole(
    tmp_path_factory: pytest.TempPathFactory, report: list[Launch], place: float
) -> None:
    path = tmp_path_factory.mktemp("cut") / "page"
    content = raw(report).encode()
    whole = content_of(read(path, content))
    start = content.index(b"\n") + 1
    cut = content[: start + round(place * (len(content) - start))]
    *full, rest = cut.split(b"\n")
    is_cut = bool(rest) and rest not in content.split(b"\n")
    count = max(len(full) - 2, 0) + (bool(rest) and not is_cut and len(full) > 1)
    try:
        found = read(path, cut)
    except FormatError:
        assert count == 0
        return
    assert content_of(found)["kernel_metric"] == whole["kernel_metric"][:count]
    assert found.report.skipped_event_count == is_cut


@given(report=reports(), place=st.floats(0, 1))
@QUICK
def test_a_text_page_cut_anywhere_keeps_what_is_whole_and_makes_nothing_up(
    tmp_path_factory: pytest.TempPathFactory, report: list[Launch], place: float
) -> None:
    path = tmp_path_factory.mktemp("cut") / "page"
    content = text(report)
    whole = read(path, content)
    cut = content[: round(place * len(content))]
    labels = {metric.label or metric.name for launch in report for metric in launch.metrics}
    *full, rest = cut.split("\n")
    count = sum(any(row.startswith(f"    {label} ") for label in labels) for row in full)
    is_whole_row = rest in content.split("\n") and any(
        rest.startswith(f"    {label} ") for label in labels
    )
    try:
        found = read(path, cut)
    except FormatError:
        assert count == 0
        return
    values = [(r["metric_name"], r["value"]) for r in whole["kernel_metric"]]
    kept = [(r["metric_name"], r["value"]) for r in found["kernel_metric"]]
    assert kept == values[: count + is_whole_row]
    begins_a_row = any(f"    {label} ".startswith(rest[: len(label) + 5]) for label in labels)
    is_cut_row = len(rest) > 4 and begins_a_row and not is_whole_row
    assert found.report.skipped_event_count == is_cut_row or rest.startswith(
        "    Metric Name"[: len(rest)]
    )


@given(report=reports(), data=st.data())
@QUICK
def test_a_row_cut_in_the_middle_of_a_file_costs_itself_alone(
    tmp_path_factory: pytest.TempPathFactory, report: list[Launch], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("cut") / "page"
    content = details(report)
    whole = read(path, content)
    header, *rows = content.splitlines(True)
    number = data.draw(st.integers(0, len(rows) - 1))
    start = len(line([str(1), str(100)])) + 3
    keep = data.draw(st.integers(start, len(rows[number]) - 4))
    mixed = [header, *rows[:number], rows[number][:keep] + "\n", *rows[number + 1 :]]
    try:
        found = read(path, "".join(mixed))
    except FormatError as error:
        tells = PLAIN[1] in rows[number] and "its numbers are ambiguous" in str(error)
        assert len(rows) == 1 or tells
        return
    values = [(r["metric_name"], r["value_raw"]) for r in whole["kernel_metric"]]
    kept = [(r["metric_name"], r["value_raw"]) for r in found["kernel_metric"]]
    assert kept == values[:number] + values[number + 1 :]
    assert found.issues["damaged_row"].skipped_event_count == 1
