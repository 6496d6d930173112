"""Compares two runs: the report `comparison`, with notes on what was compared and a verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow.compute as pc

from tracekit.engine import Database
from tracekit.render.numbers import counted, human
from tracekit.result import Result

#: Values of `by` with the tables that have the times; the first that both runs have is used.
_TABLES = (
    ("kernel", "attribution"),
    ("kernel", "kernel"),
    ("op", "op_stat"),
    ("op", "op_call"),
    ("layer", "layer_stat"),
)
#: What the times measure, by `comparison_runs.basis_kind`; operators' totals have it in the name.
_BASES = {
    "timeline": "device time",
    "kernels": "kernel time",
    "counters": "kernel time (counters)",
    "summary": "kernel time (totals)",
    "layers": "time of layers",
    "host": "time of operators on the host",
}
#: Shown as text above and below the table.
_IN_WORDS = frozenset(
    (
        "is_beyond_noise",
        "a_stddev_ns",
        "b_stddev_ns",
        "a_step_count",
        "b_step_count",
        "match_basis",
        "reason",
        "row_kind",
    )
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether B takes longer than A, per step or, without steps, in total.

    ``delta_ratio`` is (B - A) / A, None if unknown; ``is_beyond_noise`` is None if the noise is
    unknown.
    """

    sentence: str
    delta_ratio: float | None = None
    is_beyond_noise: bool | None = None

    def is_slower_than(self, limit_ratio: float) -> bool:
        """Return whether B takes more than `limit_ratio` longer, unless that is within noise."""
        grew = self.delta_ratio is not None and self.delta_ratio > limit_ratio
        return grew and self.is_beyond_noise is not False


@dataclass(frozen=True, slots=True)
class Comparison:
    """The rows of `comparison`, with the verdict as heading; the notes say what was compared."""

    result: Result
    verdict: Verdict


def compare(
    database: Database, a: str, b: str, by: str | None = None, phase: str | None = None
) -> Comparison:
    """Compare run `a`, the baseline, with run `b`, both given by name or ID.

    `by` is kernel, op, layer, phase or category; by default kernel, or what both runs have. `phase`
    is all, stable or N..M; by default stable if both runs have a stable phase, otherwise all.
    Raises UsageError for an unknown run, QueryError for an invalid `by` or `phase`.
    """
    asked = {"run_id": database.run_id(a), "other_run_id": database.run_id(b)}
    asked["by"] = by or _common(database, list(asked.values()))
    asked["phase"] = phase or "all"
    runs = database.query("comparison_runs", asked).rows()
    if phase is None and all(run["unstable_reason"] is None for run in runs):
        asked["phase"] = "stable"
        runs = database.query("comparison_runs", asked).rows()
    result = database.query("comparison", asked)
    verdict = _verdict(result, runs)
    notes = (
        *_about(runs, asked["phase"], chosen=phase is not None),
        *_caveats(result, runs, asked["by"]),
        *_doubled(database, asked),
    )
    return Comparison(replace(result, heading=verdict.sentence, notes=notes), verdict)


def _common(database: Database, runs: Sequence[str]) -> str:
    having = (by for by, table in _TABLES if all(database.has_rows_in(table, run) for run in runs))
    return next(having, "kernel")


def readable(result: Result) -> Result:
    """Return the columns with a value that no text says; `other_name` goes last."""
    table, described = result.table, {column.name: column for column in result.columns}
    kept = [name for name in described if name not in _IN_WORDS and result.has_values(name)]
    kept.sort(key=lambda name: name == "other_name")
    for name in ("a_launch_count", "b_launch_count"):  # mostly the same in each step
        if (
            name in kept
            and pc.all(pc.equal(table.column(name), pc.round(table.column(name)))).as_py()
        ):
            place = table.column_names.index(name)
            table = table.set_column(place, name, table.column(name).cast("int64"))
    return replace(
        result, table=table.select(kept), columns=tuple(described[name] for name in kept)
    )


# -- the verdict ----------------------------------------------------------------------------------


def _verdict(result: Result, runs: Sequence[Mapping[str, Any]]) -> Verdict:
    rows = {row["row_kind"]: row for row in result.rows() if row["row_kind"] in ("step", "total")}
    row = rows.get("step") or rows.get("total")
    if row is None:
        return Verdict("A and B have nothing in common to compare.")
    what = "" if row["row_kind"] == "step" else f"{_BASES.get(runs[0]['basis_kind'], 'time')} "
    per = " per step" if row["a_step_count"] is not None else ""
    times = f"{human(row['a_ns'], 'ns')} → {human(row['b_ns'], 'ns')}"
    if row["delta_ratio"] is None:
        why = f": {row['reason']}" if row["reason"] else ""
        return Verdict(f"Cannot tell whether B is slower ({what}{times}{per}{why}).")
    sentence = f"{_judged(row, per)} ({what}{times}, {_noise(row)})."
    return Verdict(sentence, row["delta_ratio"], row["is_beyond_noise"])


def _judged(row: Mapping[str, Any], per: str) -> str:
    if row["change_kind"] == "same":
        about = "" if row["delta_ns"] == 0 else "about "
        return f"B takes {about}as long{per} as A"
    return f"B is {human(abs(row['delta_ratio']), 'ratio')} {row['change_kind']}{per}"


def _noise(row: Mapping[str, Any]) -> str:
    if row["noise_ns"] is None:
        return f"noise unknown: {row['reason'].partition(':')[0]}"
    where = "beyond" if row["is_beyond_noise"] else "within"
    return f"{where} noise of ±{human(row['noise_ns'], 'ns')}"


# -- what was compared ----------------------------------------------------------------------------


def _about(runs: Sequence[Mapping[str, Any]], phase: str, *, chosen: bool) -> list[str]:
    notes = [_of_run(run) for run in runs]
    if len({run["device_names"] for run in runs}) > 1:
        notes.append("the devices differ")
    if len({run["step_kind"] for run in runs if run["step_count"]}) > 1:
        notes.append("the steps are of different kinds, so their times may differ")
    if all(run["step_count"] for run in runs):
        notes.append(_steps_of(runs, phase, chosen=chosen))
        notes += _beside_stable(runs) if phase == "stable" else []
    elif any(run["step_count"] for run in runs):
        notes.append("only one run has steps: compared whole recordings")
    else:
        notes.append("no steps: compared whole recordings")
    return notes


def _of_run(run: Mapping[str, Any]) -> str:
    parts = [f"{run['side_kind']}: {run['run_name'] or run['run_id']}"]
    parts += filter(None, [run["device_names"]])
    parts.append(counted(run["source_count"], "source"))
    if run["step_count"]:
        first, last = run["first_step_index"], run["last_step_index"]
        numbers = f"{first}" if first == last else f"{first}..{last}"
        parts.append(f"{counted(run['step_count'], 'step')} ({run['step_kind']}: {numbers})")
    return ", ".join(parts)


def _steps_of(runs: Sequence[Mapping[str, Any]], phase: str, *, chosen: bool) -> str:
    what = "steps of the stable phase" if phase == "stable" else f"steps: {phase}"
    unstable = [run for run in runs if run["unstable_reason"] is not None]
    if chosen or phase == "stable" or not unstable:
        return what
    side, why = unstable[0]["side_kind"], unstable[0]["unstable_reason"]
    return f"{what}, as {side} has no stable phase: {why}"


def _beside_stable(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what the stable phase omits: the mean of all steps, and its warnings."""
    notes = []
    if any(run["all_step_count"] > run["step_count"] for run in runs):
        means = ", ".join(
            f"{run['side_kind']} {counted(run['all_step_count'], 'step')} of "
            f"{human(run['all_mean_ns'], 'ns')} on average"
            for run in runs
        )
        notes.append(f"all steps: {means}; to compare these, use --phase all")
    return notes + [
        f"warning: {run['side_kind']}: {run['stable_warning']}"
        for run in runs
        if run["stable_warning"]
    ]


def _caveats(result: Result, runs: Sequence[Mapping[str, Any]], by: str) -> list[str]:
    """Return what the rows do not show."""
    notes = [_outside(run) for run in runs if run["outside_ns"]]
    bases = [_basis(run, by) for run in runs]
    if any(run["basis_kind"] is None for run in runs) or len(set(bases)) > 1:
        notes.append(f"no rows by {by}: A has {bases[0]}, B has {bases[-1]}")
    if any(run["source_count"] > 1 for run in runs):
        notes.append("times are means over sources (ranks); devices of a source are summed")
    parts = [row for row in result.rows() if row["row_kind"] == "part"]
    return [*notes, *_unlike(parts), *sorted({row["reason"] for row in parts if row["reason"]})]


def _doubled(database: Database, asked: Mapping[str, str]) -> Iterator[str]:
    """Yield the ranks that several files of a run have: the means count each file."""
    for side, name in (("A", "run_id"), ("B", "other_run_id")):
        faults = database.query("data_ranks", {"run_id": asked[name]}).rows()
        doubled = [row["message"] for row in faults if row["fault_kind"] == "doubled"]
        if doubled:
            more = f" … and {counted(len(doubled) - 1, 'other rank')}" if doubled[1:] else ""
            yield f"{side}: {doubled[0]}{more}; the means count each file"


def _unlike(parts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return how many parts have another name in B or are only in one run."""
    counts = {
        "with another name in B": sum(row["other_name"] is not None for row in parts),
        "only in A": sum(row["change_kind"] == "only A" for row in parts),
        "only in B": sum(row["change_kind"] == "only B" for row in parts),
    }
    found = [f"{count:,} {what}" for what, count in counts.items() if count]
    return [f"of {counted(len(parts), 'row')}: {', '.join(found)}"] if found else []


def _outside(run: Mapping[str, Any]) -> str:
    outside, all_of_it = human(run["outside_ns"], "ns"), human(run["work_ns"], "ns")
    whose = f"{run['side_kind']}'s {all_of_it} of device time"
    return f"{outside} of {whose} are outside these steps and excluded"


def _basis(run: Mapping[str, Any], by: str) -> str:
    kind = run["basis_kind"]
    if kind is None:
        return f"no times of {by}s"
    return _BASES.get(kind, f"totals of operators: {kind}")
