"""The command `tracekit chart`: runs beside each other, as picture, in the terminal, as numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracekit.cli.opening import opened
from tracekit.cli.output import DEFAULT_STORE, ForceOption, StoreOption
from tracekit.cli.picture import Outputs, PictureOption, SizeOption, StyleOption, TitleOption

if TYPE_CHECKING:
    from tracekit.charts.chart import AnyChart
    from tracekit.charts.request import Request


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(chart)


def chart(
    name: Annotated[
        str,
        typer.Argument(help="oi_breakdown, fp_width_mix, layers, throughput, memory or ranks."),
    ],
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN]...", help="Runs by name, id or pattern; else all that have the figures."
        ),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    output: PictureOption = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Write what is drawn: csv, json, md or parquet."),
    ] = None,
    over: Annotated[
        str | None,
        typer.Option("--over", metavar="LABEL", help="Runs stand along the values of a label."),
    ] = None,
    series: Annotated[
        str | None,
        typer.Option("--series", metavar="LABEL,…", help="Labels that tell series apart."),
    ] = None,
    panels: Annotated[
        str | None, typer.Option("--panels", metavar="LABEL", help="Axes for each value of it.")
    ] = None,
    of: Annotated[
        str | None, typer.Option("--of", help="fp_width_mix: shares of inst or flop.")
    ] = None,
    layers: Annotated[
        str | None,
        typer.Option("--layers", metavar="PATTERN", help="layers: only these, * for any letters."),
    ] = None,
    depth: Annotated[
        str | None, typer.Option("--depth", metavar="N", help="layers: parts of a path to keep.")
    ] = None,
    metric: Annotated[
        str | None, typer.Option("--metric", metavar="NAME", help="throughput: which metric.")
    ] = None,
    show: Annotated[
        str | None, typer.Option("--show", help="throughput: metric, speedup or efficiency.")
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", metavar="RUN", help="throughput: what speed-ups are over."),
    ] = None,
    phase: Annotated[
        str | None,
        typer.Option("--phase", metavar="STEPS", help="memory, ranks: all, stable or N..M."),
    ] = None,
    size: SizeOption = "page",
    style: StyleOption = None,
    title: TitleOption = None,
    force: ForceOption = False,
) -> int:
    """Compare runs in a chart.

    Charts: oi_breakdown (operations and memory traffic of each run, and their intensity),
    fp_width_mix (floating-point instructions by precision and vector width), layers (time of a
    step in each, forward and backward), throughput (a metric over a label, beside linear growth),
    memory (memory of devices by kind over time), ranks (compute, communication, copies and idle
    time of each rank).
    """
    from tracekit.charts.request import Request

    own = {"of": of, "layers": layers, "depth": depth, "metric": metric, "show": show,
           "baseline": baseline, "phase": phase}  # fmt: skip
    asked = Request(
        over, series or (), panels, title or "",
        {option: value for option, value in own.items() if value is not None},
    )  # fmt: skip
    outputs = Outputs(output, data, size, style, force)
    chart = _chart(store, name, runs or [], asked)
    from tracekit.render.charts import draw, plot

    outputs.put(chart.data, partial(draw, chart), partial(plot, chart))
    return 0


def _chart(store: Path, name: str, runs: list[str], asked: Request) -> AnyChart:
    from tracekit.intake import keep_pandas_out

    keep_pandas_out()
    from tracekit.session import Session

    chart = opened(Session, store).comparison(name, runs, asked)
    notes = (_summary(chart), *chart.data.notes)
    return replace(chart, data=replace(chart.data, notes=notes))


def _summary(chart: AnyChart) -> str:
    """What is in the picture, and what is not."""
    from tracekit.render.numbers import counted

    noun, known, total = chart.content()
    unknown = f", {total - known:,} not known" if total > known else ""
    return f"{chart.name}, {counted(known, noun)}{unknown}"
