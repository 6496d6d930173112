"""What to fix first in a run: findings with evidence, ranked by the time you could save."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from tracekit.catalog import Finding, Query, catalog, query_named
from tracekit.engine import Database
from tracekit.identities import disagreements
from tracekit.phases import has_figures
from tracekit.render.names import display_names
from tracekit.render.numbers import counted, human
from tracekit.result import Result, ResultColumn, unit_of

#: A finding of less than this share of the time is only counted.
LEAST_RATIO = 0.01
#: The pool of all time, which every other takes from.
_ALL_TIME = "steps"
_NAME_WIDTH = 48
_WITHOUT_RECORDS = "data_without_records"
_POLL_SECONDS = 0.1
_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
_FIELD = re.compile(r"\{(\w+)(?::([\w ]+))?\}")

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """A finding on the device that it concerns most.

    ``win_ns`` is the time to win at most, of ``elapsed_ns``; both are NULL if it is not about
    time. ``row`` has the evidence: sums of counts and times over its rows on the device, and other
    values from the row with the most to win. ``contradiction`` says which reports disagree about
    it: it is shown in place of the values. ``unrecorded_ns`` is idle time of the run that
    can be work without a record. ``symptoms`` has the part of
    ``win_ns`` that other findings name, too, and ``causes`` those that took such a part from it.
    """

    query: Query
    place: str | None
    win_ns: int | None
    elapsed_ns: int | None
    row: Row
    contradiction: str | None = None
    unrecorded_ns: int = 0
    symptoms: Mapping[str, int] = field(default_factory=dict)
    causes: tuple[str, ...] = ()

    @property
    def says(self) -> Finding:
        """What it tells people."""
        assert self.query.finding is not None
        return self.query.finding

    @property
    def device(self) -> tuple[str, int | None]:
        """The source and the device."""
        return self.row["source_id"], self.row["device_id"]

    @property
    def win_ratio(self) -> float | None:
        """The time to win, relative to the time that there is."""
        return self.win_ns / self.elapsed_ns if self.win_ns and self.elapsed_ns else None

    def evidence(self) -> str:
        """The evidence in a sentence, or what contradicts it."""
        if self.contradiction:
            return self.contradiction
        return "; ".join((self._filled(self.says.evidence) + self._range(), *self.causes))

    def _range(self) -> str:
        """Return what idle time may be, if work of devices is not on record."""
        if not self.unrecorded_ns or not self.win_ns or self.says.pool != "idle":
            return ""
        most_ns = min(self.win_ns + self.unrecorded_ns, self.elapsed_ns or self.win_ns)
        span = f"{human(self.win_ns, 'ns')} to {human(most_ns, 'ns')}"
        return f"; {span}, because device work is not on record"

    def action(self) -> str:
        """What to do about it."""
        return self._filled(self.says.action)

    def _filled(self, text: str) -> str:
        known = _OPTIONAL.sub(lambda part: part[1] if self._knows(part[1]) else "", text)
        return _FIELD.sub(lambda field: self._shown(*field.groups()), known)

    def _knows(self, part: str) -> bool:
        return all(self.row[name] is not None for name, _ in _FIELD.findall(part))

    def _shown(self, name: str, noun: str | None) -> str:
        value = self.row[name]
        if noun is not None:
            return counted(value, noun)
        if isinstance(value, str):
            return display_names([value], _NAME_WIDTH)[0] if name.endswith("name") else value
        return human(value, unit_of(name))


def advise(
    database: Database, run: str | None = None, phase: str = "all", least_ratio: float = LEAST_RATIO
) -> Result:
    """Rank what to fix first in a run, given by name or ID, or the newest for None.

    One row per finding, those with the most time to win first. `phase` is all, stable or N..M.
    Findings of less than `least_ratio` of the time are only counted, in the notes, as are those
    that were looked for and not found. The notes also name those of all steps, whatever the phase.
    Raises UsageError for an unknown run, QueryError for a phase that the run does not have.
    """
    run_id = database.run_id(run)
    asked = {name: query for name, query in catalog().items() if query.kind == "finding"}
    lacking = {name for name, query in asked.items() if database.lacking(query, run_id)}
    restricted = {
        name for name, query in asked.items() if _is_restricted(database, query, run_id, phase)
    }
    phases = {n: phase if n in restricted else "all" for n in asked if n not in lacking}
    results = _results_of_findings(database, run_id, phases)
    of_phase = {n: r.table for n, r in results.items() if phase == "all" or n in restricted}
    wrong = {name: one.text for name, one in disagreements(of_phase, phase).items()}
    unrecorded_ns = _unrecorded_ns(results.get(_WITHOUT_RECORDS))
    found = [
        replace(one, contradiction=wrong.get(name), unrecorded_ns=unrecorded_ns)
        for name, result in results.items()
        if (one := _found(database, asked[name], run_id, result)) is not None
    ]
    left = [_what_is_left(one, found) for one in found]
    explained = [one.query.name for one in left if one.win_ns == 0]
    ranked = sorted(
        (one for one in left if one.win_ns != 0),
        key=lambda one: (-(one.win_ns or 0), one.says.pool == "none", one.query.name),
    )
    large = [one for one in ranked if one.win_ratio is None or one.win_ratio >= least_ratio]
    names = {one.query.name for one in found}
    absent = [name for name in asked if name not in names and name not in lacking]
    found_names = [one.query.name for one in large]
    whole = [name for name in found_names if phase != "all" and name not in restricted]
    notes = (
        *_listed("of the whole run, not only of these steps", whole),
        *_listed("not found", absent),
        *_listed("explained by their causes", explained),
        *_listed(
            f"below {human(least_ratio, 'ratio')}", [o.query.name for o in ranked if o not in large]
        ),
        *_listed("not checked, because the data is missing", sorted(lacking)),
    )
    return _result(large, run_id, notes)


def _unrecorded_ns(result: Result | None) -> int:
    """Return the time in which work without a record can have run."""
    return sum(row["possible_ns"] or 0 for row in result.rows()) if result is not None else 0


def _has_phase(query: Query) -> bool:
    return any(parameter.name == "phase" for parameter in query.parameters)


def _is_restricted(database: Database, query: Query, run_id: str, phase: str) -> bool:
    """Return whether a finding is of the steps of the phase: about counters, only joined ones."""
    of_counters = "kernel_counter" in query.needs
    return _has_phase(query) and (not of_counters or has_figures(database, run_id, phase))


def _listed(what: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"{what}: {', '.join(names)}"


def _results_of_findings(
    database: Database, run_id: str, phases: Mapping[str, str]
) -> dict[str, Result]:
    """Return the rows of findings, each of its phase.

    Two threads ask, as planning, which takes as long as the rest, uses one core.
    """

    def result_of(name: str) -> Result:
        return _rows_of(database, query_named(name, "finding"), run_id, phases[name])

    with ThreadPoolExecutor(2, "tracekit-advice") as threads:
        answers = {name: threads.submit(result_of, name) for name in phases}
        try:
            while wait(answers.values(), _POLL_SECONDS).not_done:
                pass  # a longer wait does not notice Ctrl-C on every system
            return {name: answer.result() for name, answer in answers.items()}
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            database.interrupt()
            raise


def _rows_of(database: Database, query: Query, run_id: str, phase: str) -> Result:
    given = {"run_id": run_id, **({"phase": phase} if _has_phase(query) else {})}
    return database.query(query.name, given)


def _found(database: Database, query: Query, run_id: str, result: Result) -> Found | None:
    """What was found on the device with the most to win; None for nothing."""
    devices: dict[tuple[str, int | None], list[Row]] = {}
    for row in result.rows():
        devices.setdefault((row["source_id"], row["device_id"]), []).append(row)
    found = {device: _summed(query, rows) for device, rows in devices.items()}
    if not found:
        return None
    device, worst = max(found.items(), key=lambda entry: entry[1].win_ns or 0)
    if len(found) == 1:
        return worst
    return replace(worst, place=f"{_device_name(database, run_id, *device)}, worst of {len(found)}")


def _device_name(database: Database, run_id: str, source_id: str, device_id: int | None) -> str:
    """The rank, or else the source, and the device."""
    files = database.query("run_summary", {"run_id": run_id}).rows()
    ranks = {row["source_id"]: row["rank_index"] for row in files}
    rank = ranks.get(source_id)
    of = f"rank {rank}" if rank is not None else f"source {source_id}"
    return of if device_id is None else f"{of}, device {device_id}"


def _what_is_left(symptom: Found, found: Sequence[Found]) -> Found:
    """A finding without the time that others on its device explain by its cause."""
    name = symptom.query.name
    win_ns = symptom.win_ns
    if win_ns is None:
        return symptom
    told = []
    for cause in found:
        if cause.device == symptom.device and (explained_ns := cause.symptoms.get(name)):
            win_ns = max(win_ns - explained_ns, 0)
            told.append(f"{human(explained_ns, 'ns')} more is explained by {cause.query.name}")
    return replace(symptom, win_ns=win_ns, causes=tuple(told))


def _summed(query: Query, rows: Sequence[Row]) -> Found:
    first = max(rows, key=lambda row: row["win_ns"] or 0)
    assert query.finding is not None
    summed = {name: _whole(row[name] for row in rows) for name in query.finding.sums}
    elapsed_ns = first["elapsed_ns"]
    win_ns = _whole(row["win_ns"] for row in rows)
    if win_ns is not None and elapsed_ns is not None:
        win_ns = min(win_ns, elapsed_ns)  # work that overlaps is not won twice
    symptoms = {
        name: _whole(row["win_ns"] for row in rows if row["symptom_name"] == name) or 0
        for name in sorted({row["symptom_name"] for row in rows if row.get("symptom_name")})
    }
    return Found(query, None, win_ns, elapsed_ns, {**first, **summed}, symptoms=symptoms)


def _whole(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _overlaps(ranked: Sequence[Found]) -> list[str | None]:
    """The numbers of the findings that take from the same time."""
    pools = [one.says.pool for one in ranked]
    return [
        ", ".join(
            str(place + 1)
            for place, other in enumerate(pools)
            if place != index and _is_shared(pool, other)
        )
        or None
        for index, pool in enumerate(pools)
    ]


def _is_shared(pool: str, other: str) -> bool:
    return "none" not in (pool, other) and (pool == other or _ALL_TIME in (pool, other))


def _result(ranked: Sequence[Found], run_id: str, notes: tuple[str, ...]) -> Result:
    agreed = [replace(one, win_ns=None) if one.contradiction else one for one in ranked]
    table = pa.table(
        {
            "finding_index": pa.array(range(1, len(ranked) + 1), pa.int64()),
            "finding_name": pa.array([one.query.name for one in ranked], pa.string()),
            "title": pa.array([one.says.title for one in ranked], pa.string()),
            "win_ns": pa.array([one.win_ns for one in agreed], pa.int64()),
            "win_ratio": pa.array([one.win_ratio for one in agreed], pa.float64()),
            "evidence": pa.array([one.evidence() for one in ranked], pa.string()),
            "place": pa.array([one.place for one in ranked], pa.string()),
            "action": pa.array([one.action() for one in ranked], pa.string()),
            "command": pa.array([one.says.command for one in ranked], pa.string()),
            "overlaps": pa.array(_overlaps(ranked), pa.string()),
        }
    )
    columns = (
        ResultColumn("finding_index", "", "number, by the time that you could save"),
        ResultColumn("finding_name", "", "name: `tracekit query NAME` lists its evidence"),
        ResultColumn("title", "", "what is wrong"),
        ResultColumn("win_ns", "ns", "time that you could save at most"),
        ResultColumn("win_ratio", "ratio", "win_ns / time of the device"),
        ResultColumn("evidence", "", "what shows it"),
        ResultColumn(
            "place", "", "rank and device, if several have it: the one with the most to win"
        ),
        ResultColumn("action", "", "what to do"),
        ResultColumn("command", "", "what to run next"),
        ResultColumn("overlaps", "", "findings that take from the same time"),
    )
    return Result("advise", table, columns, (f"run: {run_id}", *notes))
