"""The command `tracekit compare`: what got slower between two runs, for people and for CI."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from tracekit.cli import completing
from tracekit.cli.opening import opened
from tracekit.cli.output import (
    DEFAULT_STORE,
    ForceOption,
    FormatOption,
    FullNamesOption,
    OutputOption,
    StoreOption,
    emit,
    output_format,
    say,
)
from tracekit.errors import RegressionError, UsageError
from tracekit.render import is_for_people

if TYPE_CHECKING:
    from tracekit.comparison import Verdict
    from tracekit.result import Result

_TOP = 20
_PERCENT = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?%")


def compare(
    a: Annotated[
        str,
        typer.Argument(
            metavar="A", help="The baseline run, by name or ID.", autocompletion=completing.runs
        ),
    ],
    b: Annotated[
        str,
        typer.Argument(
            metavar="B", help="The run to check, by name or ID.", autocompletion=completing.runs
        ),
    ],
    store: StoreOption = DEFAULT_STORE,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            help="One row per kernel, op, layer, phase or category.",
            autocompletion=completing.one_of("kernel", "op", "layer", "phase", "category"),
        ),
    ] = None,
    phase: Annotated[
        str | None,
        typer.Option(
            "--phase",
            help="Steps: all, stable or N..M; default: stable if both runs have a stable phase.",
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top", min=0, help="Maximum number of rows; default: 20 in tables, all in files."
        ),
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(
            "--fail-on",
            metavar="PERCENT",
            help="Exit with status 8 if B is slower by more than this, e.g. 5%.",
        ),
    ] = None,
    format_name: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
    full_names: FullNamesOption = False,
) -> int:
    """Show what got slower from run A to run B, by kernel, operator or layer, and what is noise.

    Times are per step if both runs have steps, otherwise for the whole recording. With
    --fail-on, the command exits with status 8 if the step (or all work) takes longer by more than
    this percentage and by more than the noise; if the noise is unknown, only the percentage counts.
    """
    from tracekit.comparison import compare, readable

    limit = None if fail_on is None else _ratio(fail_on)
    compared = compare(opened(store), a, b, by, phase)
    for_people = is_for_people(output_format(format_name, output))
    shown = _cut(compared.result, top if top is not None else _TOP if for_people else None)
    emit(readable(shown) if for_people else shown, format_name, output, force, full_names)
    if limit is not None:
        _judge(compared.verdict, limit)
    return 0


def _ratio(text: str) -> float:
    found = _PERCENT.fullmatch(text)
    if found is None:
        raise UsageError(f"--fail-on {text!r}: write a percentage, e.g. 5%")
    return float(found[1]) / 100


def _judge(verdict: Verdict, limit: float) -> None:
    """Raise RegressionError if B is slower than allowed, UsageError if that is unknown."""
    if verdict.delta_ratio is None:
        raise UsageError(f"--fail-on: {verdict.sentence} Compare runs with the same kind of times")
    if verdict.is_beyond_noise is None:
        say(
            "--fail-on: noise unknown, so only the ratio decides; record more steps to measure "
            "the noise"
        )
    if verdict.is_slower_than(limit):
        raise RegressionError(f"{verdict.sentence} --fail-on allows {100 * limit:.4g} %")


def _cut(result: Result, top: int | None) -> Result:
    """Keep the rows of the whole run and the `top` parts with the largest differences."""
    kinds = result.table.column("row_kind").to_pylist()
    first = next((i for i, kind in enumerate(kinds) if kind == "part"), len(kinds))
    parts = len(kinds) - first
    if top is None or parts <= top:
        return result
    left_out = result.table.slice(first + top).column("delta_ns").to_pylist()
    from tracekit.render.numbers import human

    rest = sum(delta for delta in left_out if delta is not None)
    note = (
        f"{top} of {parts} rows; the other rows total {human(rest, 'ns')}; --top {parts} shows all"
    )
    shown = result.table.slice(0, first + top)
    return replace(result, table=shown, notes=(*result.notes, note))
