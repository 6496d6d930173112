"""Time and memory of an ingest, from 100,000 events up, and what the machine itself takes.

Writes the part of docs/performance.md between its `growth` marks. The traces are one of the corpus,
repeated with times and ids of their own. The largest takes 30 GB of disk and a quarter of an hour
to make.

    python tests/benchmarks/growth.py [--largest 10000000]
"""

from __future__ import annotations

import argparse
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.benchmarks.measure import Measured, machine, measure  # noqa: E402 - needs the path
from tests.benchmarks.run import READ_SCRIPT, WORK, grown, installed  # noqa: E402

COPIES = (1, 8, 76, 757)  # of a trace of 132,000 events
COUNT = "SELECT sum(event_count) AS events FROM source_file"
RANKS = 64
#: Builds simdjson's tape of a file, without one Python object for its content.
TAPE_SCRIPT = """
import sys, simdjson
with open(sys.argv[1], "rb") as file:
    simdjson.Parser().parse(file.read())
"""


@dataclass(frozen=True, slots=True)
class Row:
    """An ingest: how many events of how many bytes, and what it took."""

    events: int
    size_bytes: int
    ingest: Measured


def main() -> None:
    """Measure, and write the part of docs/performance.md."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--largest", type=int, default=10_000_000, help="events, at most")
    largest = parser.parse_args().largest
    WORK.mkdir(parents=True, exist_ok=True)
    ours, tape = installed("ours", str(ROOT)), installed("tape", "pysimdjson==7.0.2")
    copies = [count for count in COPIES if count * 132_000 <= largest * 1.1]
    rows = [ingested(ours, grown(count)) for count in copies]
    base = grown(COPIES[1])
    limits = {
        "read the file": measure((sys.executable, "-c", READ_SCRIPT, base)),
        "`wc -l`": measure(("wc", "-l", base)),
        "pysimdjson: its tape, in memory": measure((tape, "-c", TAPE_SCRIPT, base)),
    }
    folder = ranks(grown(1))
    many = [ingested(ours, folder, "--workers", str(count)) for count in (1, 2)]
    write(rows, limits, many)


def ingested(python: Path, path: Path, *words: str) -> Row:
    """One ingest of a file or a folder into a new store."""
    store = WORK / "store-growth"
    shutil.rmtree(store, ignore_errors=True)
    done = measure((python, "-m", "tracekit", "ingest", path, "--store", store, *words))
    counted = measure((python, "-m", "tracekit", "sql", "-f", "csv", COUNT, "--store", store))
    files = [path] if path.is_file() else [*path.iterdir()]
    size = sum(file.stat().st_size for file in files)
    return Row(int(counted.output.split()[1]), size, done)


def ranks(trace: Path) -> Path:
    """A folder of as many files as a job of 64 ranks has, none equal to another."""
    folder = WORK / "ranks"
    if not folder.exists():
        folder.mkdir()
        for rank in range(RANKS):
            (folder / f"rank{rank}.json").write_bytes(trace.read_bytes() + b"\n" * rank)
    return folder


def _took(row: Row) -> str:
    return f"{row.ingest.wall_s:.1f} s and {row.ingest.peak_bytes / 1e6:,.0f} MB"


def write(rows: list[Row], limits: dict[str, Measured], many: list[Row]) -> None:
    """The part of docs/performance.md."""
    page = ROOT / "docs/performance.md"
    lines = [
        f"- machine: {machine()}",
        "- straight line: the time of the ingest before, times the ratio of their events",
        "",
        "| events | JSON [MB] | ingest [s] | straight line [s] | per event [µs] | peak [MB] |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for place, row in enumerate(rows):
        took = row.ingest.wall_s
        line = ""
        if place:
            before = rows[place - 1]
            line = f"{before.ingest.wall_s * row.events / before.events:.1f}"
        lines.append(
            f"| {row.events:,} | {row.size_bytes / 1e6:,.0f} | {took:.1f} | {line} "
            f"| {took / row.events * 1e6:.2f} | {row.ingest.peak_bytes / 1e6:,.0f} |"
        )
    one, two = many
    lines += [
        "",
        f"- {RANKS} files of {one.size_bytes / RANKS / 1e6:.0f} MB, {one.events:,} events:",
        f"  {_took(one)} by one worker, {_took(two)} by two",
        f"- what else takes how long on the trace of {rows[1].events:,} events:",
        "",
        "| | wall [s] | ingest = 1 |",
        "|---|---:|---:|",
        *(
            f"| {what} | {done.wall_s:.2f} | {done.wall_s / rows[1].ingest.wall_s:.2f} |"
            for what, done in limits.items()
        ),
        "",
    ]
    text = page.read_text("utf-8")
    head, start, rest = text.partition("<!-- growth -->\n")
    _, end, after = rest.partition("<!-- end of growth -->")
    page.write_text(head + start + "\n".join(lines) + end + after, "utf-8")


if __name__ == "__main__":
    main()
