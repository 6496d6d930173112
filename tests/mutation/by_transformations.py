"""Mutants that a change of an input with a known effect notices."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from tests.mutation.by_audit import FIXTURES
from tests.transformations.changes_of_traces import TRACES
from tests.transformations.making import RUN
from tests.transformations.reports import Answers
from tracekit.audit import asks_only_for_a_run
from tracekit.catalog import catalog
from tracekit.engine import Database
from tracekit.errors import ChoiceError
from tracekit.intake import ingest
from tracekit.limits import Limits
from tracekit.store import open_store

FILE = FIXTURES / "torch_profiler" / "gpu-handmade" / "trace.json.gz"
#: Those that change what SQL reads; the others change how a file is written.
NAMES = (
    *("times shifted", "times doubled", "events shuffled", "streams renamed"),
    *("processes as text", "kernels of other types", "device named by the user"),
)
_TIMEOUT_S = 60


class Transformations:
    """A trace as it is, and changed in several ways."""

    def __init__(self, folder: Path) -> None:
        """Ingest the trace and each of its changes into stores in `folder`."""
        ingest(FILE, folder / "as it is", RUN)
        self._before = _opened(folder / "as it is")
        self._after = dict[str, Database]()
        for name in NAMES:
            changed = TRACES[name].make(FILE, folder / "files" / name)
            assert changed is not None
            ingest(changed.files, folder / name, changed.options)
            self._after[name] = _opened(folder / name)
        self._asked = {name for name, query in catalog().items() if asks_only_for_a_run(query)}

    def noticing(self, queries: Collection[str]) -> str | None:
        """Return the first change whose effect is another if these queries are others."""
        affected = [name for name in queries if name in self._asked]
        try:
            before = _answers(self._before, affected)
            for name, database in self._after.items() if before else ():
                if TRACES[name].effect(before, _answers(database, affected)):
                    return name
        except Exception as error:  # noqa: BLE001 - users would see any
            return str(error).partition("\n")[0]
        return None


def _opened(store: Path) -> Database:
    return Database(open_store(store), Limits(timeout_s=_TIMEOUT_S))


def _answers(database: Database, reports: Collection[str]) -> Answers:
    """Return the rows of those of the reports that have an answer."""
    database.refresh()
    run_id = database.run_id(None)
    rows: Answers = {}
    for name in reports:
        if not database.lacking(catalog()[name], run_id):
            try:
                rows[name] = database.query(name, {"run_id": run_id}).rows()
            except ChoiceError:  # several values for a parameter: people choose
                continue
    return rows
