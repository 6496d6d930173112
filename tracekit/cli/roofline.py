"""The command `tracekit roofline`: a picture, a plot in the terminal, or the numbers behind it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracekit.cli.output import (
    DEFAULT_STORE,
    ForceOption,
    StoreOption,
    emit,
    plot_height,
    put_out,
    refuse_in_the_way,
    say,
    terminal_options,
    write_file,
)
from tracekit.errors import UsageError

if TYPE_CHECKING:
    from tracekit.roofline.chart import Chart
    from tracekit.roofline.request import Request

_MARKDOWN = {"md": "markdown"}
_SIZES = ("column", "page", "slide")  # of tracekit.render.figure, which takes long to load


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(roofline)


def roofline(
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUN]...", help="Runs by name, id or pattern; else the newest."),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Picture: svg, pdf, png … Without one, in the terminal."
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Write points and ceilings: csv, json, md or parquet."),
    ] = None,
    model: Annotated[
        str, typer.Option("--model", help="classic, hierarchical, complexity, time or 4d.")
    ] = "classic",
    by: Annotated[
        str | None,
        typer.Option("--by", help="A point is a name, launch, class, phase or run."),
    ] = None,
    level: Annotated[str, typer.Option("--level", help="Memory: dram, l2 or l1.")] = "dram",
    ceiling: Annotated[
        str | None, typer.Option("--ceiling", help="Peak for all points: fp32, tensor_fp16 …")
    ] = None,
    trajectory: Annotated[
        str | None, typer.Option("--trajectory", metavar="LABEL", help="Join runs along a label.")
    ] = None,
    series: Annotated[
        str | None,
        typer.Option("--series", metavar="LABEL,…", help="Labels that part trajectories."),
    ] = None,
    panels: Annotated[
        str | None, typer.Option("--panels", metavar="LABEL", help="Axes for each value of it.")
    ] = None,
    top: Annotated[
        int | None, typer.Option("--top", min=0, help="How many points have a name, if not 8.")
    ] = None,
    launch_overhead_ns: Annotated[
        float | None, typer.Option("--launch-overhead-ns", help="Time of one launch.")
    ] = None,
    fp16_convention: Annotated[
        str, typer.Option("--fp16-convention", help="packed (the vendor's) or scalar.")
    ] = "packed",
    size: Annotated[str, typer.Option("--size", help="column, page or slide.")] = "page",
    style: Annotated[
        str | None, typer.Option("--style", help="A style of matplotlib's, by name or file.")
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="Above the picture.")] = None,
    force: ForceOption = False,
) -> int:
    """Draw a roofline: what bounds each kernel, and how far it is from what the device can do.

    Models: classic (performance over intensity), hierarchical (all levels of memory), complexity
    (operations over bytes), time (compute over bandwidth time), 4d (complexity and time in one).
    """
    from tracekit.roofline.request import Request

    asked = Request(
        model=model, by=by, level=level, ceiling=ceiling, launch_ns=launch_overhead_ns,  # type: ignore[arg-type]
        fp16_convention=fp16_convention, trajectory=trajectory,
        series=series or (), panels=panels, top=top,
        title=title or "",
    )  # fmt: skip
    for path in filter(None, (output, data)):
        refuse_in_the_way(path, force=force)
    if style is not None and output is None:
        raise UsageError("--style is of a picture: name its file with -o")
    kind = _picture_kind(output, size)
    chart = _chart(store, runs or [], asked)
    image = None if kind is None else _image(chart, kind, size, style)
    if data is not None:
        suffix = data.suffix.removeprefix(".").lower() or "csv"
        emit(chart.data, format_name=_MARKDOWN.get(suffix, suffix), output=data, force=force)
    if output is not None and image is not None:
        write_file(output, image)
        say(f"{output}: {'; '.join(chart.data.notes)}")
    elif data is None:
        from tracekit.render.terminal_plot import plot

        put_out(plot(chart, terminal_options(), plot_height()))
    return 0


def _picture_kind(output: Path | None, size: str) -> str | None:
    """What the picture's file is called after; raises UsageError before any work is done."""
    if output is None:
        if size not in _SIZES:
            raise UsageError(f"--size cannot be {size!r}; it is one of: {', '.join(_SIZES)}")
        return None
    from tracekit.render.figure import check_suffix, size_named

    size_named(size)
    return check_suffix(output.suffix)


def _image(chart: Chart, kind: str, size: str, style: str | None) -> bytes:
    from tracekit.render.figure import encoded, size_named
    from tracekit.render.roofline import draw

    return encoded(draw(chart, size=size, style=style).figure, kind, size_named(size))


def _chart(store: Path, runs: list[str], asked: Request) -> Chart:
    from tracekit.intake import keep_pandas_out

    keep_pandas_out()
    from tracekit.session import Session
    from tracekit.store import open_store

    chart = Session(open_store(store)).chart(runs, asked)
    notes = (_summary(chart), *chart.data.notes)
    return replace(chart, data=replace(chart.data, notes=notes))


def _summary(chart: Chart) -> str:
    """What is in the picture, and what is not: groups, each once for all levels of memory."""
    drawn = len({group for p in chart.panels for series in p.series for group in series.group})
    left_out: Counter[str] = Counter()
    for margin in (margin for panel in chart.panels for margin in panel.margins):
        left_out[margin.kind] += margin.group_count
    words = {
        "zero_ai": "without operations", "no_bytes": "without bytes", "unknown": "not known",
        "no_label": "without the label",
    }  # fmt: skip
    parts = [f"{drawn:,} point{'s' * (drawn != 1)}"]
    parts += [f"{left_out[kind]:,} {what}" for kind, what in words.items() if left_out[kind]]
    above = Counter(chart.data.table["is_above_roof"].to_pylist())[True]
    if above:
        parts.append(f"{above:,} above the roof: check the peaks, or take another --ceiling")
    return f"{chart.model} roofline, {', '.join(parts)}"
