"""Where a chart goes: a picture file, a data file, or the terminal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracekit.cli import completing
from tracekit.cli.opening import opened
from tracekit.cli.output import (
    emit,
    plot_height,
    put_out,
    refuse_in_the_way,
    say,
    terminal_options,
    write_file,
)
from tracekit.errors import UsageError, require_choice

if TYPE_CHECKING:
    from tracekit.charts.chart import AnyChart
    from tracekit.roofline.chart import Chart
    from tracekit.session import Session

#: Those of tracekit.render.figure, which is slow to import.
SIZES = ("column", "page", "slide")

PictureOption = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Picture file: svg, pdf, png … Default: draw in the terminal."
    ),
]
SizeOption = Annotated[
    str,
    typer.Option(
        "--size",
        help="Picture size: column, page or slide.",
        autocompletion=completing.one_of(*SIZES),
    ),
]
StyleOption = Annotated[
    str | None, typer.Option("--style", help="Matplotlib style, by name or file.")
]
TitleOption = Annotated[str | None, typer.Option("--title", help="Title of the picture.")]


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where to write a chart; raises UsageError before any work if that is impossible."""

    picture: Path | None
    data: Path | None
    size: str
    style: str | None
    force: bool

    def __post_init__(self) -> None:
        """Check names of files, sizes and styles."""
        for path in filter(None, (self.picture, self.data)):
            refuse_in_the_way(path, force=self.force)
        if self.style is not None and self.picture is None:
            raise UsageError("--style needs a picture: name its file with -o")
        require_choice("size", self.size, SIZES)
        if self.picture is not None:
            from tracekit.render.figure import check_suffix

            check_suffix(self.picture.suffix)
        if self.data is not None:
            from tracekit.render import renderer

            renderer(_kind_of(self.data))

    def put(self, chart: AnyChart | Chart, summary: str) -> None:
        """Write the chart, with `summary` as its first note; draw it in the terminal by default."""
        from tracekit.render.charts import plot

        data = replace(chart.data, notes=(summary, *chart.data.notes))
        chart = replace(chart, data=data)
        image = None if self.picture is None else self._image(self.picture, chart)
        if self.data is not None:
            emit(data, _kind_of(self.data), self.data, self.force)
        if self.picture is not None and image is not None:
            write_file(self.picture, image)
            say(f"{self.picture}: {'; '.join(data.notes)}")
        elif self.data is None:
            put_out(plot(chart, terminal_options(), plot_height()))

    def _image(self, picture: Path, chart: AnyChart | Chart) -> bytes:
        from tracekit.render.charts import draw
        from tracekit.render.figure import check_suffix, encoded, size_named

        drawn = draw(chart, size=self.size, style=self.style)
        return encoded(drawn.figure, check_suffix(picture.suffix), size_named(self.size))


def session_of(store: Path) -> Session:
    """Open the store for charts."""
    from tracekit.session import Session

    return Session(opened(store))


def _kind_of(data: Path) -> str:
    """Return the output format of a data file, from its suffix."""
    from tracekit.render import of_suffix

    return of_suffix(data.suffix.removeprefix(".").lower() or "csv")
