"""What the targets for stacks share."""

from __future__ import annotations

from collections.abc import Sequence

from tracekit.charts.stacks import WEIGHTS, Stack, stacks_in, total_of
from tracekit.errors import require_choice
from tracekit.exports import ExportRequest
from tracekit.render.numbers import counted, human
from tracekit.render.text import inert
from tracekit.session import Session


def weight_of(asked: ExportRequest) -> str:
    """The weight that is asked for; raises UsageError for an unknown one."""
    weight = asked.options.get("weight", next(iter(WEIGHTS)))
    require_choice("weight", weight, tuple(WEIGHTS))
    return weight


def asked_stacks(session: Session, asked: ExportRequest) -> list[list[Stack]]:
    """The stacks of each run that is asked for; raises UsageError for one without time."""
    names, weight = session.run_names(), weight_of(asked)
    database = session.database
    return [stacks_in(database, run, names[run], weight, asked.phase) for run in asked.runs]


def told(
    session: Session, asked: ExportRequest, found: Sequence[Sequence[Stack]]
) -> tuple[str, ...]:
    """What a file with these stacks holds."""
    names, what = session.run_names(), WEIGHTS[weight_of(asked)]
    return tuple(
        f"{inert(names[run])}: {counted(sum(s.self_value > 0 for s in stacks), 'stack')}, "
        f"{human(total_of(stacks), 'ns')} {what}"
        for run, stacks in zip(asked.runs, found, strict=True)
    )
