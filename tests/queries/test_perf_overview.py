"""What perf itself prints behind # is worked out by another program from the same counts: every
figure of `perf_overview` is held against it, on real files and on fixtures of each layout."""

from __future__ import annotations

import json
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.store import open_store

#: What perf calls a figure, the column, and how many of perf's unit one of the column is.
FIGURES = {
    r"CPUs utilized": ("used_cpu_count", 1),
    r"insns? per cycle": ("ipc", 1),
    r"GHz": ("clock_hz", 1e-9),
    r"G/sec": ("clock_hz", 1e-9),
    r"M/sec": ("clock_hz", 1e-6),
    r"of all branches": ("branch_miss_ratio", 100),
    r"of all cache refs": ("cache_miss_ratio", 100),
    r"of all L1-dcache (?:hits|accesses)": ("l1d_miss_ratio", 100),
    r"of all LL-cache (?:hits|accesses)": ("llc_miss_ratio", 100),
    r"of all dTLB cache (?:hits|accesses)": ("dtlb_miss_ratio", 100),
    r"Retiring": ("retiring_ratio", 100),
    r"Bad Speculation": ("bad_speculation_ratio", 100),
    r"Frontend Bound": ("frontend_bound_ratio", 100),
    r"Backend Bound": ("backend_bound_ratio", 100),
}
LABELS = {re.compile(label, re.IGNORECASE): column for label, column in FIGURES.items()}
EVENTS = {"page-faults": "page_fault_count", "context-switches": "context_switch_count"}
#: Locales with a decimal comma have fixtures of their own; here a comma is between thousands.
FOREIGN = re.compile(r"french|german|swiss")
NUMBER = r"-?\d[\d.,]*"

Key = tuple[str, int, str]  # file, measurement, scope
Said = tuple[str, float, float]  # column, value in its unit, half of the last digit


def said_by(label: str, number: str, event: str) -> Iterator[Said]:
    for pattern, (column, factor) in LABELS.items():
        is_of_cycles = re.search(r"(?:^|/)(?:cpu-)?cycles", event)
        if pattern.fullmatch(label.strip()) and (column != "clock_hz" or is_of_cycles):
            text = number.replace(",", "." if re.search(r"^\d+,\d\d?$", number) else "")
            yield column, float(text) / factor, 10.0 ** -len(text.partition(".")[2]) / factor


def of_text(path: Path) -> Iterator[tuple[Key, Said]]:
    block, doubt = -1, 0.0
    for line in path.read_text().splitlines():
        if "Performance counter stats for" in line:
            # of repeats (-r) perf works metrics out from the counts of one run, not from the means
            block, doubt = block + 1, 0.02 if " runs):" in line else 0
        if found := re.match(rf"\s*({NUMBER})(?: \+- \S+)?\s+seconds time elapsed", line):
            seconds = float(found[1].replace(",", "."))
            yield (path.name, block, ""), ("dur_ns", seconds * 1e9, 1)
        row = re.match(rf"(\S+-?\S*\d +\d+)? +({NUMBER}|<\S+ \w+>) +(?:msec +)?([\w./:-]+)", line)
        if row is None:
            continue
        core = re.match(r"(cpu_core|cpu_atom)/", row[3])
        key = (path.name, block, (row[1] or "").split(" ")[0] or (core[1] if core else ""))
        if row[3] in EVENTS:
            yield key, (EVENTS[row[3]], float(row[2].replace(",", "")), 0.5)
        for number, label in re.findall(rf"# +({NUMBER}) *%? +([^#(]*[^#( ])", line):
            for column, value, digit in said_by(label, number, row[3]):
                yield key, (column, value, max(digit, doubt * max(value, 0.5)))


def of_csv(path: Path) -> Iterator[tuple[Key, Said]]:
    for line in path.read_text().splitlines():
        fields = line.split(",")
        if len(fields) >= 7 and re.fullmatch(NUMBER, fields[0]):
            for said in said_by(fields[-1], fields[-2], fields[2]):
                yield (path.name, 0, ""), said


def of_json(path: Path) -> Iterator[tuple[Key, Said]]:
    for line in path.read_text().splitlines():
        row = json.loads(line) if line.startswith("{") else {}
        if "interval" not in row and row.get("event") and row.get("metric-unit"):
            for said in said_by(row["metric-unit"], str(row["metric-value"]), row["event"]):
                yield (path.name, 0, row.get("thread", "")), said


READERS = {".txt": of_text, ".csv": of_csv, ".json": of_json}


def held_against(paths: list[Path], folder: Path) -> tuple[int, dict[str, int]]:
    """How many figures perf says too, and of each column; fails where one is another."""
    ingest(paths, folder / "S", Options(run_name="r"))
    rows: dict[Key, dict[str, Any]] = {}
    database = Database(open_store(folder / "S"))
    for by in ("measurement", "scope"):
        for row in database.query("perf_overview", {"run_id": "r", "by": by}).rows():
            key = (row["file_name"], row["measurement_index"], row["part_name"] or "")
            rows.setdefault(key, row)
    counts: dict[str, int] = defaultdict(int)
    for path in paths:
        for (name, block, part), (column, value, digit) in READERS[path.suffix](path):
            row = rows.get((name, block, part)) or rows[name, block, ""]
            if part.startswith("cpu_") and column in ("page_fault_count", "context_switch_count"):
                row = rows[name, block, ""]
            what = f"{name}, {block}, {part}: {column} {value:g} by perf, {row[column]}"
            if row[column] is None:
                assert excused(column, value, row), f"{what}: {row['reason']}"
                continue
            # perf takes the CPUs used over another clock than that of duration_time
            near = 2e-3 if column == "used_cpu_count" else 1e-4
            assert abs(row[column] - value) <= digit * 1.001 + abs(value) * near, what
            by_perf = re.findall(r"\w+", row["perf_figures"] or "")
            counts[column] += not any(column.startswith(figure) for figure in by_perf)
    return sum(counts.values()), counts


def excused(column: str, value: float, row: dict[str, Any]) -> bool:
    """perf calls CPUs used that may sleep, and has shares of misses above all accesses."""
    if column == "used_cpu_count":
        return "of all CPUs the clocks run on" in row["reason"]
    return column.endswith("_miss_ratio") and (value > 1 and "more misses than" in row["reason"])


def test_fixtures_say_what_perf_says(tmp_path: Path) -> None:
    paths = []
    for path in sorted((ROOT / "fixtures" / "perf_stat").glob("*/stat.*")):
        name = path.parent.name
        if not (
            FOREIGN.search(name)
            or "intervals" in name
            or name in ("idle", "broken_json", "cgroups")
        ):
            paths.append(tmp_path / f"{name}{path.suffix}")
            shutil.copy(path, paths[-1])
    count, columns = held_against(paths, tmp_path)
    assert count > 60
    assert {"dur_ns", "used_cpu_count", "clock_hz", "ipc", "branch_miss_ratio"} <= set(columns)


@pytest.mark.deep
def test_real_files_say_what_perf_says(corpus: Path, tmp_path: Path) -> None:
    """Fourteen files of Intel, AMD and Arm, of perf 4 to 6."""
    paths = [path for path in sorted((corpus / "perf").glob("*.txt")) if "likwid" not in path.name]
    count, columns = held_against(paths, tmp_path)
    assert count > 110
    assert set(columns) == {
        "dur_ns",
        "used_cpu_count",
        "clock_hz",
        "ipc",
        "branch_miss_ratio",
        "cache_miss_ratio",
        "l1d_miss_ratio",
        "page_fault_count",
        "context_switch_count",
        "retiring_ratio",
        "bad_speculation_ratio",
        "frontend_bound_ratio",
        "backend_bound_ratio",
    }
