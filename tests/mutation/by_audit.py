"""Mutants that the audit of recorded runs notices."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pyarrow as pa

from tests.mutation.counting import CountingDatabase
from tracekit import audit
from tracekit.catalog import known
from tracekit.formulas import unlike_formulas
from tracekit.intake import Options, ingest
from tracekit.joins import join
from tracekit.limits import Limits
from tracekit.store import open_store

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures"
CORPUS = ROOT.parent / "shared" / "corpus"
#: The run whose last file is another run that is joined to it, as users do it.
_JOINED = "joined"
#: The files of each run: a timeline with counters, ranks, and what other programs write.
RUNS = {
    "training": ["h100/lstm/trace.json.gz", "h100/lstm/raw.csv.gz"],
    _JOINED: ["h100/conv2d-tf32-b32/trace.json.gz", "h100/conv2d-tf32-b32/raw.csv.gz"],
    "host": ["torch_profiler/cpu-memory/trace.json.gz"],
    "processor": ["perf_stat/intel_trio/stat.txt"],
    "compiled": ["tensorflow_profiler/jax-cpu/host.xplane.pb"],
    "operators": ["tensorflow_tools/tensorflow-stats/*"],
    "tables": ["tensorflow_tools/[i-p]*/*"],
    "counters": ["h100/micro/raw.csv.gz"],
    "other counters": [
        "nsight_compute/raw-v100-handmade/report.csv",
        "nsight_compute/full-h100-handmade/report.csv",
        "nvprof/metrics-csv/metrics.csv",
    ],
    "command": ["perf_stat/times/stat.txt"],
    "sweep": ["google_benchmark/aggregates/out.json"],
    "table": ["results_table/hand-made/sweep.csv"],
    "layers": ["caffe_time/means/caffe.log"],
    "ranks": [
        "torch/hta-vit-a100-sampled-rank0of128.json.gz",
        "torch/hta-vit-a100-sampled-rank1of128.json.gz",
    ],
}
_TIMEOUT_S = 60
#: Of a query that hundreds stand upon, the nearest reports are asked.
_MAX_REPORTS = 8
Contradiction = tuple[str, str, str]


class Recordings:
    """Recorded runs, with what their reports say without a mutation."""

    def __init__(self, folder: Path) -> None:
        """Ingest the runs whose files are here into stores in `folder`."""
        self._runs = [
            _Recording(folder / name, files)
            for name, patterns in RUNS.items()
            if (files := [file for pattern in patterns for file in files_of(pattern)])
        ]

    def first_contradiction(self, queries: Collection[str]) -> str | None:
        """Return the first rule that contradicts a run if these queries are others."""
        return next(filter(None, (run.first_contradiction(queries) for run in self._runs)), None)


def files_of(pattern: str) -> list[Path]:
    """Return the files of fixtures or the corpus that a pattern names."""
    found = [*FIXTURES.glob(pattern), *CORPUS.glob(pattern)]
    return sorted(file for file in found if file.name != "expected.json")


class _Recording:
    def __init__(self, store: Path, files: list[Path]) -> None:
        is_joined = store.name == _JOINED
        for file in files:
            is_joined_file = is_joined and file is files[-1]
            ingest(file, store, Options(run_name="counters" if is_joined_file else "run"))
        self._database = CountingDatabase(open_store(store), Limits(timeout_s=_TIMEOUT_S))
        if is_joined:
            join(self._database, "run", "counters")
        self._run_id = self._database.run_id("run")
        self._tables: dict[str, pa.Table] = {
            name: table
            for name in audit._reports("all")
            if (table := self._table(name)) is not None
        }
        self._recounts = audit.applicable_recounts(self._database, self._run_id, self._tables)
        self._known = self._contradictions(self._tables, self._tables) | self._unlike(self._tables)

    def first_contradiction(self, queries: Collection[str]) -> str | None:
        """Return the first rule that contradicts the run if these queries are others."""
        # a finding that is new is in the advice
        affected = [name for name in queries if self._has_rows(name)][:_MAX_REPORTS]
        if "advise" in self._tables and any(_is_finding(name) for name in queries):
            affected.append("advise")
        if not affected:
            return None
        self._database.refresh()
        given = dict[str, pa.Table | None]()
        try:
            for name in affected:
                table = self._table(name)
                if table is None or not table.equals(self._tables[name]):
                    given[name] = table
                    # what recounts tell needs no other report
                    if fresh := self._unlike({name: table}) - self._known:
                        return min(fresh)[0]
        except Exception as error:  # noqa: BLE001 - users would see any
            return str(error).partition("\n")[0]
        if not given:
            return None
        tables = {k: v for k, v in (self._tables | given).items() if v is not None}
        fresh = self._contradictions(tables, given) - self._known
        return min(fresh)[0] if fresh else None

    def _has_rows(self, report: str) -> bool:
        return report in self._tables and self._tables[report].num_rows > 0

    def _unlike(self, given: dict[str, pa.Table | None]) -> set[Contradiction]:
        """Return which recounts of these reports tell another value, or that there is no report."""
        found = {
            (one.name, "", f"no {one.report}")
            for one in self._recounts
            if one.report in given and given[one.report] is None
        }
        tables = {name: table for name, table in given.items() if table is not None}
        found |= {(row[0], row[2], row[3]) for row in unlike_formulas(tables)}
        chosen = [one for one in self._recounts if one.report in tables]
        for row in audit.unlike_recounts(self._database, self._run_id, tables, chosen):
            found.add((row[0], row[2], row[3]))
        return found

    def _table(self, name: str) -> pa.Table | None:
        return audit.table_of(self._database, name, self._run_id, "all")

    def _contradictions(
        self, tables: dict[str, pa.Table], changed: Collection[str]
    ) -> set[Contradiction]:
        """Return what the rules say that read one of the changed reports."""
        rules = [r for r in audit.identities() if not r.reports or {*r.reports} & {*changed}]
        done = audit.contradictions(rules, tables)
        rows = done.result.table.to_pylist()
        return {(row["identity_name"], row["subject"], row["first_figure"]) for row in rows}


def _is_finding(name: str) -> bool:
    query = known(name)
    return query is not None and query.kind == "finding"
