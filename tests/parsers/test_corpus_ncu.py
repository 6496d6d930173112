"""Every Nsight Compute export of the corpus gives, cell by cell, what a few lines here read."""

from __future__ import annotations

import csv
import re
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.parsers.conftest import Parsed, gathered
from tracekit.errors import FormatError
from tracekit.parser import Report
from tracekit.registry import detect, parser_named
from tracekit.source import Source

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "ncu"
WITHOUT_KERNELS = {"gardenia-profile-error-only.csv", "lbnl-gpp-nokernels.csv"}
CSV = sorted(path.name for path in FOLDER.glob("*.csv") if path.name not in WITHOUT_KERNELS)
TEXT = sorted(path.name for path in FOLDER.glob("*.txt") if "nvprof" not in path.name)


@pytest.fixture(autouse=True)
def needs_the_corpus(corpus: Path) -> None:
    """Without the corpus these tests are skipped."""


def test_there_are_sixteen_files_with_kernels() -> None:
    assert (len(CSV), len(TEXT)) == (13, 3)


def read(name: str) -> Parsed:
    report = Report()
    return gathered(parser_named("nsight-compute").parse(Source.at(FOLDER / name), report), report)


# -- read by hand ---------------------------------------------------------------------------------

#: What each unit of these files is in base units.
UNITS = {
    "": (None, "1"),
    "%": ("ratio", "0.01"),
    "ns": ("ns", "1"),
    "us": ("ns", "1e3"),
    "usecond": ("ns", "1e3"),
    "ms": ("ns", "1e6"),
    "msecond": ("ns", "1e6"),
    "hz": ("hz", "1"),
    "Mhz": ("hz", "1e6"),
    "Ghz": ("hz", "1e9"),
    "cycle/second": ("hz", "1"),
    "cycle/usecond": ("hz", "1e6"),
    "cycle/nsecond": ("hz", "1e9"),
    "byte/s": ("byte/s", "1"),
    "Mbyte/s": ("byte/s", "1e6"),
    "Gbyte/s": ("byte/s", "1e9"),
    "byte": ("byte", "1"),
    "Kbyte": ("byte", "1e3"),
    "Mbyte": ("byte", "1e6"),
    "byte/block": ("byte/block", "1"),
    "Kbyte/block": ("byte/block", "1e3"),
} | {
    unit: (unit, "1")
    for unit in (
        "SM",
        "block",
        "cluster",
        "cycle",
        "inst",
        "inst/cycle",
        "register/thread",
        "sample",
        "sector",
        "thread",
        "warp",
    )
}

Cell = tuple[Any, ...]


def cell(section: str, label: str, unit: str, value: str) -> Cell:
    """A metric as the page has it, with its value by Decimal."""
    base, factor = UNITS[unit]
    plain = value.replace(",", "")
    number = float(Decimal(plain) * Decimal(factor)) if re.fullmatch(r"[\d.]+", plain) else None
    return section, label, unit, value, base, number


def cells_of(found: Parsed) -> list[Cell]:
    return [
        (
            row["section_name"] or "Command line profiler metrics",
            row["label_name"] or row["metric_name"],
            row["unit_raw"] or "",
            row["value_raw"],
            row["unit"],
            row["value"],
        )
        for row in found["kernel_metric"]
    ]


def rows_of(name: str) -> list[dict[str, str]]:
    """The rows of a CSV page by column."""
    text = (FOLDER / name).read_text("utf-8-sig")
    start = text.index('"ID","Process ID"')
    names, *rows = csv.reader(text[start:].splitlines())
    return [dict(zip(names, row, strict=False)) for row in rows]


@pytest.mark.parametrize("name", CSV)
def test_a_csv_page(name: str) -> None:
    rows, found = rows_of(name), read(name)
    metrics = [row for row in rows if row["Metric Name"]]
    rules = [row for row in rows if row.get("Rule Name")]
    assert len(metrics) + len(rules) == len(rows)
    launches = list(
        dict.fromkeys((row["ID"], row["Process ID"], row["Kernel Name"]) for row in rows)
    )
    assert [
        (str(k["launch_index"]), str(k["process_id"]), k["name"]) for k in found["kernel"]
    ] == launches
    assert cells_of(found) == [
        cell(r["Section Name"], r["Metric Name"], r["Metric Unit"], r["Metric Value"])
        for r in metrics
    ]
    assert [
        (r["rule_name"], r["rule_kind"], r["message"], r["speedup_kind"], r["speedup_ratio"])
        for r in found["kernel_rule"]
    ] == [
        (
            r["Rule Name"],
            r["Rule Type"],
            r["Rule Description"],
            r["Estimated Speedup Type"] or None,
            float(Decimal(r["Estimated Speedup"]) / 100) if r["Estimated Speedup"] else None,
        )
        for r in rules
    ]
    assert found.report.event_count == len(launches) + len(rules)
    assert found.report.skipped_event_count == 0
    for kernel, launch in zip(found["kernel"], launches, strict=True):
        row = next(r for r in rows if (r["ID"], r["Process ID"], r["Kernel Name"]) == launch)
        failed = row["Grid Size"] == "(0, 0, 0)"
        sizes = tuple(kernel[f"{what}_{axis}"] for what in ("grid", "block") for axis in "xyz")
        assert failed == (sizes == (None,) * 6)
        if not failed:
            assert f"{sizes[:3]}{sizes[3:]}" == row["Grid Size"] + row["Block Size"]
        assert str(kernel["stream_id"]) == row["Stream"]
    (device,) = found["device"]
    assert device["compute_capability"] == rows[0]["CC"]


@pytest.mark.parametrize("name", CSV)
def test_counters_of_a_csv_page(name: str) -> None:
    """Each counter asked for by its name has its column, to the last digit."""
    columns = {
        "dram__bytes.sum": "dram_bytes",
        "lts__t_bytes.sum": "l2_t_bytes",
        "l1tex__t_bytes.sum": "l1_t_bytes",
        "dram__bytes_op_read.sum": "dram_read_bytes",
        "dram__bytes_op_write.sum": "dram_write_bytes",
        "dram__sectors_read.sum": "dram_read_sector_count",
        "dram__sectors_write.sum": "dram_write_sector_count",
    }
    for unit in ("sm", "smsp"):
        columns[f"{unit}__inst_executed_pipe_tensor.sum"] = "tensor_inst"
        columns[f"{unit}__cycles_elapsed.avg"] = "elapsed_cycles"
        columns[f"{unit}__cycles_elapsed.avg.per_second"] = "sm_clock_hz"
        for op in (f"{t}{what}" for t in "dfh" for what in ("add", "mul", "fma")):
            columns[f"{unit}__sass_thread_inst_executed_op_{op}_pred_on.sum"] = f"{op}_inst"
    found = read(name)
    counters = {
        row["launch_index"]: counter
        for row, counter in zip(found["kernel"], found["kernel_counter"], strict=True)
    }
    looked_at = 0
    for row in rows_of(name):
        column = columns.get(row["Metric Name"])
        if column:
            expected = cell("", "", row["Metric Unit"], row["Metric Value"])[-1]
            assert counters[int(row["ID"])][column] == expected, row["Metric Name"]
            looked_at += 1
    assert looked_at or name.startswith(("nsightful", "superbench"))


LAUNCH = re.compile(
    r"^  (\S.*) \((\d+), (\d+), (\d+)\)x\((\d+), (\d+), (\d+)\), Context (\d+), Stream (\d+), "
    r"Device (\d+), CC ([\d.]+)$",
    re.MULTILINE,
)


@pytest.mark.parametrize("name", TEXT)
def test_a_text_page(name: str) -> None:
    text, found = (FOLDER / name).read_text("utf-8"), read(name)
    launches = LAUNCH.findall(text)
    has_first_lines = not name.startswith("nsightful")
    assert len(found["kernel"]) == len(launches) + (not has_first_lines)
    if has_first_lines:
        assert [
            (
                k["name"],
                *(str(k[f"{w}_{a}"]) for w in ("grid", "block") for a in "xyz"),
                str(k["context_id"]),
                str(k["stream_id"]),
                str(k["device_id"]),
            )
            for k in found["kernel"]
        ] == [launch[:10] for launch in launches]
    cells, rules = told(text)
    assert cells_of(found) == cells
    assert [(r["section_name"], r["rule_kind"], r["message"]) for r in found["kernel_rule"]] == [
        (section, kind, words) for section, kind, _, words in rules
    ]
    assert [r["speedup_ratio"] for r in found["kernel_rule"]] == [
        float(Decimal(speedup) / 100) if speedup else None for *_, speedup, _ in rules
    ]
    assert found.report.event_count == len(found["kernel"]) + len(rules)
    # one program writes between the messages
    others = ["other_text"] if name.startswith("kmer") else []
    assert found.codes == others + ([] if has_first_lines else ["no_launch_line"])


def told(text: str) -> tuple[list[Cell], list[tuple[str, str, str, str]]]:
    """The rows of tables and the advice, by their indents alone."""
    cells: list[Cell] = []
    rules: list[list[str]] = []
    section = ""
    for row in text.splitlines():
        if match := re.match(r"    Section: (.*\S)", row):
            section = match[1]
        elif match := re.match(r"    (INF|OPT|WRN)   (.*\S)", row):
            rules.append([section, match[1], match[2]])
        elif match := re.match(r" {10}(\S.*\S)", row):
            rules[-1].append(match[1])
        elif re.match(r"    \S", row) and not re.match(r"    (-|Metric Name)", row):
            label, *rest = re.split(r" {2,}", row.strip(), maxsplit=1)
            *unit, value = " ".join(rest).split()
            cells.append(cell(section, label, unit[0] if unit else "", value))
    return cells, [_advice(*rule) for rule in rules]


def _advice(section: str, kind: str, first: str, *more: str) -> tuple[str, str, str, str]:
    speedup = re.fullmatch(r"Est(?:\.|imated)(?: Local)? Speedup: ([\d.]+)%", first)
    words = " ".join(more if speedup else (first, *more))
    return section, kind, speedup[1] if speedup else "", words


# -- what the files say of themselves, looked at by hand ------------------------------------------


@pytest.mark.parametrize("name", [*CSV, *TEXT, *sorted(WITHOUT_KERNELS)])
def test_every_export_is_recognised(name: str) -> None:
    assert detect(Source.at(FOLDER / name)).parser.name == "nsight-compute"


@pytest.mark.parametrize(
    ("name", "launches", "metrics", "rules"),
    [
        ("gardenia-gemm-a100-roofline.csv", 3, 45, 0),
        ("lbnl-gpp-run0.csv", 1, 15, 0),
        ("nsightful-copyblocked-t4-details.csv", 1, 72, 11),
        ("nsightful-copyblocked-t4-details.txt", 1, 72, 11),
        ("superbench-cublaslt-fp8-b200-details.csv", 1, 50, 8),
        ("olajide-saxpy-rtx5070-win.csv", 1, 12, 0),
        ("kmer-k4-ncu-text.txt", 5, 375, 55),
        ("gpumode-square-ncu-text.txt", 17, 476, 51),
    ],
)
def test_how_much_there_is(name: str, launches: int, metrics: int, rules: int) -> None:
    found = read(name)
    tables = ("kernel", "kernel_counter", "kernel_metric", "kernel_rule")
    assert [len(found[table]) for table in tables] == [launches, launches, metrics, rules]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gardenia-profile-error-only.csv", "no permission to read the counters"),
        (
            "lbnl-gpp-nokernels.csv",
            'no profiled kernels found; ncu says: "No kernels were profiled',
        ),
    ],
)
def test_runs_without_a_kernel_are_refused_with_the_reason(name: str, reason: str) -> None:
    with pytest.raises(FormatError) as error:
        read(name)
    assert reason in str(error.value)


def test_a_run_that_failed() -> None:
    """LaunchFailed: one launch, (0, 0, 0), 15 times nan."""
    found = read("lbnl-gpp-run8.csv")
    kernel = found.one("kernel")
    assert (kernel["name"], kernel["grid_x"], kernel["dur_ns"]) == ("sigma_gpp_gpu_39", None, None)
    assert Counter(row["status_kind"] for row in found["kernel_metric"]) == {"nan": 15}
    assert found.codes == ["failed_launch", "launch_failed", "other_text", "profiler_error"]
    assert not found.facts["is_complete"]


def test_errors_before_a_valid_table() -> None:
    found = read("gardenia-sharedtile-a100-errors.csv")
    assert len(found["kernel"]) == 3
    assert found.codes == ["profiler_error", "profiler_warning", "profiling_failed"]
    assert not found.facts["is_complete"]


def test_the_text_and_the_csv_page_of_one_program_agree() -> None:
    """Two runs, so the values differ; counters, sections, units and advice do not."""
    of_csv = read("nsightful-copyblocked-t4-details.csv")
    of_text = read("nsightful-copyblocked-t4-details.txt")
    for keys in (("metric_name", "section_name", "unit", "status_kind", "label_name"),):
        told_by = [
            [tuple(row[key] for key in keys) for row in page["kernel_metric"]]
            for page in (of_csv, of_text)
        ]
        assert told_by[0] == told_by[1]
    rules = [
        [
            (row["section_name"], row["rule_kind"], row["speedup_kind"])
            for row in page["kernel_rule"]
        ]
        for page in (of_csv, of_text)
    ]
    assert rules[0] == rules[1]
    durations = [page.one("kernel")["dur_ns"] for page in (of_csv, of_text)]
    assert durations == [21_058_944, 20_850_000]


def test_a_windows_file_with_a_mark() -> None:
    kernel = read("olajide-saxpy-rtx5070-win.csv").one("kernel")
    assert kernel["name"] == "unnamed>::saxpy_kernel(float, const float *, float *, int)"
    assert kernel["dur_ns"] == 292_928
