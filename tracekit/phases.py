"""What a phase of a run covers: which steps, in words for notes, and whether with counters."""

from __future__ import annotations

from tracekit.engine import Database
from tracekit.render.numbers import counted


def steps_covered(database: Database, run_id: str, phase: str) -> str:
    """Return how many steps a valid phase of a run covers, and which.

    Of the phase all, nothing for a run without steps.
    """
    run, asked = (text.replace("'", "''") for text in (run_id, phase))
    if phase == "all":
        found = database.sql(
            "SELECT count(DISTINCT step_index) AS step_count FROM attribution "  # noqa: S608
            f"WHERE run_id = '{run}'"
        )
        count = found.rows()[0]["step_count"]
        return f"all {count:,} steps" if count > 1 else "1 step" * count
    found = database.sql(
        "SELECT count(DISTINCT step_index) AS step_count, "  # noqa: S608
        "min(first_step_index) AS first_step_index, max(last_step_index) AS last_step_index "
        f"FROM step_window('{run}', '{asked}') JOIN step_span('{run}') USING (run_id, source_id) "
        "WHERE step_index BETWEEN first_step_index AND last_step_index"
    )
    row = found.rows()[0]
    which = f"{row['first_step_index']}..{row['last_step_index']}"
    stable = ", the stable phase" if phase == "stable" else ""
    return f"{counted(row['step_count'], 'step')}: {which}{stable}"


def has_figures(database: Database, run_id: str, phase: str) -> bool:
    """Return whether the launches of a phase have counters: of some steps, only joined ones."""
    if phase == "all":
        return database.has_counters(run_id)
    return database.has_rows_in("kernel_match", run_id)
