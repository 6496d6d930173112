"""The command `tracekit roofline`: a picture, a plot in the terminal, or data."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracekit.cli import completing
from tracekit.cli.output import DEFAULT_STORE, ForceOption, PhaseOption, StoreOption
from tracekit.cli.picture import (
    Outputs,
    PictureOption,
    SizeOption,
    StyleOption,
    TitleOption,
    session_of,
)

if TYPE_CHECKING:
    from tracekit.roofline.chart import Chart


def roofline(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN]...",
            help="Runs by name, ID or pattern; default: the newest.",
            autocompletion=completing.runs,
        ),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    output: PictureOption = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Write points and ceilings: csv, json, md or parquet."),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            help="Model: classic, hierarchical, complexity, time or 4d.",
            autocompletion=completing.models,
        ),
    ] = "classic",
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            help="One point per name, launch, class, phase, run, op, layer or configuration.",
            autocompletion=completing.points,
        ),
    ] = None,
    level: Annotated[
        str,
        typer.Option(
            "--level",
            help="Memory level: dram, l2 or l1.",
            autocompletion=completing.one_of("dram", "l2", "l1"),
        ),
    ] = "dram",
    ceiling: Annotated[
        str | None,
        typer.Option("--ceiling", help="Compute peak for all points: fp32, tensor_fp16 …"),
    ] = None,
    trajectory: Annotated[
        str | None,
        typer.Option("--trajectory", metavar="LABEL", help="Connect runs along this label."),
    ] = None,
    series: Annotated[
        str | None,
        typer.Option(
            "--series",
            metavar="LABEL,…",
            help="Labels that separate trajectories or configurations.",
        ),
    ] = None,
    panels: Annotated[
        str | None,
        typer.Option("--panels", metavar="LABEL", help="Draw one panel per value of this label."),
    ] = None,
    top: Annotated[
        int | None, typer.Option("--top", min=0, help="Number of labeled points; default: 8.")
    ] = None,
    launch_overhead_ns: Annotated[
        float | None, typer.Option("--launch-overhead-ns", help="Time of one kernel launch.")
    ] = None,
    fp16_convention: Annotated[
        str,
        typer.Option(
            "--fp16-convention",
            help="How FP16 operations are counted: arithmetic, packed (the vendor's) or scalar.",
        ),
    ] = "arithmetic",
    rate: Annotated[
        str | None, typer.Option("--rate", metavar="METRIC", help="Rate metric of configurations.")
    ] = None,
    intensity: Annotated[
        str | None,
        typer.Option(
            "--intensity", metavar="METRIC", help="Intensity or traffic metric of configurations."
        ),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(
            "--weight", metavar="METRIC", help="Time metric of configurations, used as weight."
        ),
    ] = None,
    phase: PhaseOption = "all",
    size: SizeOption = "page",
    style: StyleOption = None,
    title: TitleOption = None,
    force: ForceOption = False,
) -> int:
    """Draw a roofline: what bounds each kernel and how close it is to the device's peak.

    Models: classic (performance over intensity), hierarchical (all memory levels), complexity
    (operations over bytes), time (compute over bandwidth time), 4d (complexity and time in one).
    """
    from tracekit.roofline.request import RooflineRequest

    asked = RooflineRequest(
        model=model,  # type: ignore[arg-type]
        by=by,
        level=level,
        ceiling=ceiling,
        launch_ns=launch_overhead_ns,
        fp16_convention=fp16_convention,
        trajectory=trajectory,
        series=series or (),
        panels=panels,
        top=top,
        title=title or "",
        phase=phase or "all",
        rate=rate,
        intensity=intensity,
        weight=weight,
    )
    outputs = Outputs(output, data, size, style, force)
    chart = session_of(store).roofline_data(runs or [], asked)
    outputs.put(chart, _summary(chart))
    return 0


def _summary(chart: Chart) -> str:
    """Return how many groups are drawn and omitted, each counted once for all memory levels."""
    drawn = len({group for p in chart.panels for series in p.series for group in series.group})
    left_out: Counter[str] = Counter()
    for margin in (margin for panel in chart.panels for margin in panel.margins):
        left_out[margin.kind] += margin.group_count
    words = {
        "zero_ai": "without operations",
        "no_bytes": "without bytes",
        "unknown": "unknown",
        "no_label": "without the label",
    }
    parts = [f"{drawn:,} point{'s' * (drawn != 1)}"]
    parts += [f"{left_out[kind]:,} {what}" for kind, what in words.items() if left_out[kind]]
    above = Counter(chart.data.table["is_above_roof"].to_pylist())[True]
    if above:
        parts.append(f"{above:,} above the roof: check the peaks, or use another --ceiling")
    return f"{chart.model} roofline, {', '.join(parts)}"
