"""Ingest of a long details page of Nsight Compute, beside pandas that reads it: CPU time.

The page is the recorded one of fixtures, repeated with other IDs.

    python tests/benchmarks/details.py [--bytes 300000000]
"""

from __future__ import annotations

import argparse
import gzip
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.benchmarks.measure import machine, measure  # noqa: E402 - needs the path
from tests.benchmarks.run import WORK  # noqa: E402

RECORDED = ROOT / "fixtures/nsight_compute/small-program-h100/details.csv.gz"
_ROW = re.compile(r'"(\d+)",(.*)', re.DOTALL)
PANDAS = """
import sys, time, pandas
start = time.process_time()
pandas.read_csv(sys.argv[1], thousands=",", low_memory=False)
print(time.process_time() - start)
"""
OURS = """
import sys, time
from pathlib import Path
from tracekit.intake import Options, ingest
start = time.process_time()
ingest(Path(sys.argv[1]), Path(sys.argv[2]), Options(run_name="r", workers=1))
print(time.process_time() - start)
"""


def made(size_bytes: int) -> Path:
    """Write a page of that size."""
    header, *rows = gzip.decompress(RECORDED.read_bytes()).decode().splitlines(keepends=True)
    parts = [match.groups() for row in rows if (match := _ROW.fullmatch(row))]
    count = 1 + max(int(number) for number, _ in parts)
    path = WORK / "ncu-details.csv"
    with path.open("w", encoding="utf-8") as out:
        out.write(header)
        first = 0
        while out.tell() < size_bytes:
            out.writelines(f'"{int(number) + first}",{rest}' for number, rest in parts)
            first += count
    return path


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--bytes", type=int, default=300_000_000)
    WORK.mkdir(parents=True, exist_ok=True)
    page, store = made(parser.parse_args().bytes), WORK / "store-details"
    shutil.rmtree(store, ignore_errors=True)
    ours = measure((sys.executable, "-c", OURS, page, store), cwd=ROOT)
    peer = measure((sys.executable, "-c", PANDAS, page))
    ratio = float(ours.output) / float(peer.output)
    print(machine())
    for name, run in (("tracekit ingest", ours), ("pandas.read_csv", peer)):
        print(f"{name}: {float(run.output):.2f} s of CPU, {run.peak_bytes / 1e6:.0f} MB")
    print(f"tracekit takes {ratio:.1f} times as long")


if __name__ == "__main__":
    main()
