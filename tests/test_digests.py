"""What each real file became, table by table: nothing of it changes unless somebody wants it to.

A digest is of the rows of one file in a table, in any order, without IDs and what else differs from
ingest to ingest. Whether the rows are right, other tests say; `--update-golden` writes the digests
anew.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from tests.conftest import CORPUS, PASSING, ROOT
from tests.ingested import Ingested
from tracekit.engine.written import written
from tracekit.errors import TracekitError
from tracekit.schema import TABLES

EXPECTED = Path(__file__).parent / "digests"
FIXTURES = ROOT / "fixtures"
#: Each group fits into a minute or so. Of fixtures, those of formats.
GROUPS = {
    **{
        f"corpus-{name}": CORPUS / name
        for name in ("extra", "h100", "ncu", "oracles", "paradnn", "perf", "tf", "torch")
    },
    **{
        name: FIXTURES / name
        for name in (
            "caffe_time",
            "google_benchmark",
            "h100",
            "hyperfine",
            "mlperf",
            "nsight_compute",
            "nvprof",
            "perf_stat",
            "pytest_benchmark",
            "results_table",
            "tensorflow_profiler",
            "tensorflow_timeline",
            "tensorflow_tools",
            "tensorflow_trace",
            "torch_profiler",
        )
    },
}
#: What only says which file it is.
IDENTITY = {"run_id", "source_id", "content_sha256", "content_blake3"}
#: Columns that came later: NULL adds nothing to the digest, so files without them keep theirs.
LATER = {"min_ns", "max_ns", "transfer_count"}
Digest = tuple[str, str, str, str]


@pytest.mark.parametrize(
    "group",
    [pytest.param(g, marks=pytest.mark.deep) if g.startswith("corpus-") else g for g in GROUPS],
)
def test_each_file_becomes_what_it_did(
    group: str, ingested: Ingested, updates_goldens: bool
) -> None:
    if not GROUPS[group].is_dir():
        pytest.skip("../shared/corpus is not here")
    found = list(digests(GROUPS[group], ingested))
    file = EXPECTED / f"{group}.csv"
    if updates_goldens:
        write(file, found)
    with file.open(encoding="utf-8", newline="") as stream:
        header, *expected = map(tuple, csv.reader(stream))
    assert header == ("file", "table", "row_count", "digest")
    changed = sorted(set(expected) ^ set(found))
    assert not changed, "\n".join(",".join(row) for row in changed)


def digests(folder: Path, ingested: Ingested) -> Iterator[Digest]:
    """A row for each table of each file; of one that is refused, how the command would end."""
    sources: dict[str, str] = {}
    stores: list[Path] = []
    for file in sorted(filter(Path.is_file, folder.rglob("*"))):
        if file.parent.name == "expected":
            continue
        name = file.relative_to(folder).as_posix()
        try:
            store = ingested.store(file)
        except TracekitError as error:
            yield name, "refused", "", str(error.exit_code)
            continue
        source = source_of(store)
        if source in sources:
            yield name, "already in", "", sources[source]
            continue
        sources[source] = name
        stores.append(store)
    for table in TABLES:
        for source, count, digest in of_table(table, stores):
            yield sources[source], table, str(count), f"{digest:x}"


def source_of(store: Path) -> str:
    """The only source in a store."""
    (committed,) = (store / "source_file").glob("run_id=*/source_id=*")
    return committed.name.removeprefix("source_id=")


def of_table(table: str, stores: list[Path]) -> list[tuple[str, int, int]]:
    """Rows by source, and the sum of a hash of each.

    A row is one text, with control characters between its values and for NULL: for DuckDB, to write
    it as a struct takes twice as long.
    """
    files = [str(file) for store in stores for file in (store / table).rglob("*.parquet")]
    if not files:
        return []
    names = [column.name for column in TABLES[table].columns]
    shown = {name: f'"{name}"' for name in names if name not in {*PASSING, *IDENTITY}}
    if table == "kernel_metric":
        shown["value_raw"] = f"coalesce(value_raw, {written('value', 'raw_format')})"
    values = ", ".join(
        f"CAST({text} AS VARCHAR)"
        if name in LATER
        else f"coalesce(CAST({text} AS VARCHAR), chr(30))"
        for name, text in shown.items()
    )
    found = (
        duckdb.connect()
        .execute(
            f"SELECT source_id, count(*), sum(md5_number_lower(concat_ws(chr(31), {values})))"
            " FROM read_parquet($files, hive_partitioning = true)"
            " GROUP BY source_id ORDER BY source_id",
            {"files": files},
        )
        .fetchall()
    )
    return [(source, count, int(digest)) for source, count, digest in found]


def write(file: Path, rows: list[Digest]) -> None:
    file.parent.mkdir(exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("file", "table", "row_count", "digest"))
        writer.writerows(sorted(rows))
