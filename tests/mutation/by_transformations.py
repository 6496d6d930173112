"""Mutants that a change of an input with a known effect notices."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutation.by_audit import FIXTURES
from tests.mutation.catalogs import original
from tests.transformations.changes_of_counters import NSIGHT_COMPUTE, PERF
from tests.transformations.changes_of_traces import TRACES
from tests.transformations.effects import Effect, unchanged
from tests.transformations.exported_rows import unlike_rows
from tests.transformations.making import RUN, Transformation, write_export
from tests.transformations.reports import Answers
from tracekit.audit import asks_only_for_a_run
from tracekit.catalog import catalog
from tracekit.engine import Database
from tracekit.errors import ChoiceError, QueryError, TracekitError
from tracekit.intake import Options, ingest
from tracekit.limits import Limits
from tracekit.store import open_store

#: Of each file, the changes that add up, scale or move what SQL reads.
CHANGES: dict[str, tuple[Mapping[str, Transformation], tuple[str, ...]]] = {
    "torch_profiler/gpu-handmade/trace.json.gz": (
        TRACES,
        (
            *("times doubled", "two ranks", "a second measurement", "times shifted"),
            *("streams renamed", "device named by the user"),
        ),
    ),
    "torch_profiler/cpu-memory/trace.json.gz": (TRACES, ("times doubled", "two ranks")),
    "nsight_compute/raw-v100-handmade/report.csv": (
        NSIGHT_COMPUTE,
        ("counted twice", "launches in two files"),
    ),
    "perf_stat/default/stat.txt": (PERF, ("events of perf reversed",)),
}
#: Another run of the store, which changes nothing.
OTHER = "torch_profiler/cuda-training/trace.json.gz", Options(run_name="another")
#: All steps, which are the whole run where all work is in steps.
_ALL_STEPS = "0..1000"
_TIMEOUT_S = 60
#: Of a query that hundreds stand upon, the nearest reports are asked.
_MAX_REPORTS = 4
EXPORTED = (
    "torch_profiler/gpu-handmade/trace.json.gz",
    "torch_profiler/cuda-training/trace.json.gz",
    "torch_profiler/cpu-memory/trace.json.gz",
)


@dataclass(frozen=True, slots=True)
class _After:
    """What a change made of a run; ``excepted`` are reports in which its effect does not show."""

    name: str
    effect: Effect
    database: Database
    phase: str
    excepted: frozenset[str]


class _Base:
    """A file as it is, and changed in several ways."""

    def __init__(self, file: Path, folder: Path) -> None:
        changes, names = CHANGES[str(file.relative_to(FIXTURES))]
        ingest(file, folder / "as it is", RUN)
        self._database = _opened(folder / "as it is")
        asked = [name for name, query in catalog().items() if asks_only_for_a_run(query)]
        before = _answers(self._database, asked)
        self._reports = {name for name, rows in before.items() if rows}
        self._after = list[_After]()
        for name in names:
            changed = changes[name].make(file, folder / "files" / name)
            assert changed is not None
            ingest(changed.files, folder / name, changed.options)
            self._add(name, changes[name].effect, folder / name, before)
        ingest(file, folder / "two runs", RUN)
        ingest(FIXTURES / OTHER[0], folder / "two runs", OTHER[1])
        self._add("another run", unchanged(), folder / "two runs", before)
        self._add("all steps", unchanged(), folder / "as it is", before, _ALL_STEPS)

    def _add(
        self, name: str, effect: Effect, store: Path, before: Answers, phase: str = "all"
    ) -> None:
        database = _opened(store)
        found = effect(before, _answers(database, before, phase))
        excepted = frozenset(text.partition(":")[0] for text in found)
        self._after.append(_After(name, effect, database, phase, excepted))

    def first_contradiction(self, queries: Collection[str]) -> str | None:
        """Return the first change whose effect is another if these queries are others."""
        affected = [name for name in queries if name in self._reports][:_MAX_REPORTS]
        if not affected:
            return None
        try:
            before = _answers(self._database, affected)
            for after in self._after:
                names = [name for name in affected if name not in after.excepted]
                given = {name: before[name] for name in names if name in before}
                if after.effect(given, _answers(after.database, names, after.phase)):
                    return after.name
        except Exception as error:  # noqa: BLE001 - users would see any
            return str(error).partition("\n")[0]
        return None


class _Export:
    """A trace that is exported and read again."""

    def __init__(self, file: Path, folder: Path) -> None:
        self._folder = folder
        ingest(file, folder / "as it is", RUN)
        self._database = _opened(folder / "as it is")

    def first_contradiction(self, queries: Collection[str]) -> str | None:
        """Return what the export lacks or tells otherwise if these queries are others."""
        if not any(catalog()[name].kind == "export" for name in queries):
            return None
        self._database.refresh()
        with TemporaryDirectory(dir=self._folder) as folder:
            file = Path(folder) / "trace.json"
            try:
                write_export(self._database, file)
                ingest(file, Path(folder) / "store", RUN)
            except TracekitError as error:  # users would see it
                return str(error).partition("\n")[0]
            with original():
                return next(unlike_rows(self._database, _opened(Path(folder) / "store")), None)


class Transformations:
    """Files of several formats, each as it is and changed."""

    def __init__(self, folder: Path) -> None:
        """Ingest the files and their changes into stores in `folder`."""
        self._bases: list[_Base | _Export] = [
            *(_Base(FIXTURES / file, folder / str(number)) for number, file in enumerate(CHANGES)),
            *(_Export(FIXTURES / file, folder / Path(file).parent.name) for file in EXPORTED),
        ]

    def first_contradiction(self, queries: Collection[str]) -> str | None:
        """Return the first change whose effect is another if these queries are others."""
        return next(filter(None, (base.first_contradiction(queries) for base in self._bases)), None)


def _opened(store: Path) -> Database:
    return Database(open_store(store), Limits(timeout_s=_TIMEOUT_S))


def _answers(database: Database, reports: Collection[str], phase: str = "all") -> Answers:
    """Return the rows of those of the reports that have an answer."""
    database.refresh()
    run_id = database.run_id("run")
    rows: Answers = {}
    for name in reports:
        query = catalog()[name]
        has_phase = any(parameter.name == "phase" for parameter in query.parameters)
        if not database.lacking(query, run_id) and (phase == "all" or has_phase):
            try:
                given = {"run_id": run_id} | ({"phase": phase} if has_phase else {})
                rows[name] = database.query(name, given).rows()
            except ChoiceError:  # several values for a parameter: people choose
                continue
            except QueryError:
                if phase == "all":
                    raise
    return rows
