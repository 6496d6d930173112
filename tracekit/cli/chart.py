"""The command `tracekit chart`: compares runs in a picture, in the terminal, or as data."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracekit.cli import completing
from tracekit.cli.output import DEFAULT_STORE, ForceOption, StoreOption
from tracekit.cli.picture import (
    Outputs,
    PictureOption,
    SizeOption,
    StyleOption,
    TitleOption,
    session_of,
)
from tracekit.errors import ChoiceError, QueryError

if TYPE_CHECKING:
    from tracekit.charts.chart import AnyChart

_CHARTS = (
    "oi_breakdown, fp_width_mix, layers, throughput, memory, ranks, flame; for sweeps: heatmap, "
    "box, sensitivity, speedup"
)


def chart(
    name: Annotated[str, typer.Argument(help=f"{_CHARTS}.", autocompletion=completing.charts)],
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN]...",
            help="Runs by name, ID or pattern; default: all that have the data.",
            autocompletion=completing.runs,
        ),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    output: PictureOption = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Write the chart's data: csv, json, md, parquet or xlsx."),
    ] = None,
    over: Annotated[
        str | None,
        typer.Option(
            "--over",
            metavar="LABEL",
            help="Label for the x axis; speedup: label of the platforms.",
        ),
    ] = None,
    series: Annotated[
        str | None,
        typer.Option("--series", metavar="LABEL,…", help="Labels that separate series."),
    ] = None,
    panels: Annotated[
        str | None,
        typer.Option("--panels", metavar="LABEL", help="Draw one panel per value of this label."),
    ] = None,
    of: Annotated[
        str | None,
        typer.Option(
            "--of", help="fp_width_mix: shares of instructions (inst) or operations (flop)."
        ),
    ] = None,
    layers: Annotated[
        str | None,
        typer.Option(
            "--layers",
            metavar="PATTERN",
            help="layers: only those that match; * matches any characters.",
        ),
    ] = None,
    depth: Annotated[
        str | None,
        typer.Option("--depth", metavar="N", help="layers: number of path parts to keep."),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric", "--value", metavar="NAME", help="throughput, sweeps: the metric to show."
        ),
    ] = None,
    show: Annotated[
        str | None, typer.Option("--show", help="throughput: metric, speedup or efficiency.")
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="RUN",
            help="Baseline of the speedup: a run (throughput) or a value of --over (sweeps).",
        ),
    ] = None,
    phase: Annotated[
        str | None,
        typer.Option(
            "--phase", metavar="STEPS", help="memory, ranks, flame: steps: all, stable or N..M."
        ),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option("--weight", help="flame: width of the frames: device or host (time)."),
    ] = None,
    x: Annotated[
        str | None,
        typer.Option(
            "--x", metavar="NAME", help="x axis. heatmap: label; speedup: label or metric."
        ),
    ] = None,
    y: Annotated[
        str | None, typer.Option("--y", metavar="LABEL", help="heatmap: label for the y axis.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="LABEL", help="box: draw one box per value of this label."),
    ] = None,
    color: Annotated[
        str | None,
        typer.Option(
            "--color", "--colour", metavar="NAME", help="speedup: label or metric shown as color."
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            "--where",
            metavar="LABEL=VALUE,…",
            help="sweeps: only configurations with these label values.",
        ),
    ] = None,
    rule: Annotated[
        str | None,
        typer.Option(
            "--rule", help="sweeps: how to combine configurations: mean, median, min or max."
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option("--order", help="sensitivity: 1, or 2 to include products of labels."),
    ] = None,
    log: Annotated[
        bool, typer.Option("--log", help="sensitivity: use logarithms of the numbers.")
    ] = False,
    less_is_better: Annotated[
        bool,
        typer.Option(
            "--less-is-better", help="speedup, sensitivity: a lower metric is better, e.g. a time."
        ),
    ] = False,
    size: SizeOption = "page",
    style: StyleOption = None,
    title: TitleOption = None,
    force: ForceOption = False,
) -> int:
    """Compare runs in a chart.

    Charts of runs: oi_breakdown (operations, memory traffic and intensity of each run),
    fp_width_mix (floating-point instructions by precision and vector width), layers (time of a
    step in each, forward and backward), throughput (a metric over a label, against linear scaling),
    memory (device memory by kind over time), ranks (compute, communication, copies and idle
    time of each rank), flame (stacks of frames, modules and operators down to the kernels, as
    wide as their device time; of two runs: the second, colored by its change).

    Charts of sweeps: heatmap (a metric over two labels), box (spread of a metric per value of a
    label), sensitivity (how strongly a metric depends on each label), speedup (how much faster
    each configuration is than on a baseline, against a label or metric).
    """
    from tracekit.charts.request import ChartRequest

    own = {
        "of": of,
        "layers": layers,
        "depth": depth,
        "metric": metric,
        "show": show,
        "baseline": baseline,
        "phase": phase,
        "weight": weight,
        "x": x,
        "y": y,
        "by": by,
        "color": color,
        "where": where,
        "rule": rule,
        "order": order,
        "log": "true" if log else None,
        "less_is_better": "true" if less_is_better else None,
    }
    asked = ChartRequest(
        over,
        series or (),
        panels,
        title or "",
        {option: value for option, value in own.items() if value is not None},
    )
    outputs = Outputs(output, data, size, style, force)
    try:
        chart = session_of(store).chart_data(name, runs or [], asked)
    except ChoiceError as error:
        added = (f"--{name} {shlex.quote(value)}" for name, value in error.examples().items())
        raise QueryError(f"{error}; e.g. add {' '.join(added)}") from error
    outputs.put(chart, _summary(chart))
    return 0


def _summary(chart: AnyChart) -> str:
    """Return what the picture shows, and how much is unknown."""
    from tracekit.render.numbers import counted

    noun, known, total = chart.content()
    unknown = f", {total - known:,} unknown" if total > known else ""
    return f"{chart.name}, {counted(known, noun)}{unknown}"
