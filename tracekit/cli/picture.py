"""Where a chart goes: a picture, its numbers, or the terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tracekit.cli.output import (
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
    from tracekit.render import RenderOptions
    from tracekit.result import Result

#: Of tracekit.render.figure, which takes long to load.
SIZES = ("column", "page", "slide")

PictureOption = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Picture file: svg, pdf, png … Default: draw in the terminal."
    ),
]
SizeOption = Annotated[str, typer.Option("--size", help="Picture size: column, page or slide.")]
StyleOption = Annotated[
    str | None, typer.Option("--style", help="Matplotlib style, by name or file.")
]
TitleOption = Annotated[str | None, typer.Option("--title", help="Title of the picture.")]


@dataclass(frozen=True, slots=True)
class Outputs:
    """What is asked for; raises UsageError before any work is done where it cannot be had."""

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
        if self.size not in SIZES:
            raise UsageError(f"--size: invalid value {self.size!r}; use one of: {', '.join(SIZES)}")
        if self.picture is not None:
            from tracekit.render.figure import check_suffix

            check_suffix(self.picture.suffix)
        if self.data is not None:
            from tracekit.render import renderer

            renderer(_kind_of(self.data))

    def put(
        self, numbers: Result, draw: Callable[..., Any], plot: Callable[[RenderOptions, int], bytes]
    ) -> None:
        """Write what is asked for; on the terminal what `plot` gives if it is nothing else."""
        image = None if self.picture is None else self._image(self.picture, draw)
        if self.data is not None:
            emit(numbers, format_name=_kind_of(self.data), output=self.data, force=self.force)
        if self.picture is not None and image is not None:
            write_file(self.picture, image)
            say(f"{self.picture}: {'; '.join(numbers.notes)}")
        elif self.data is None:
            put_out(plot(terminal_options(), plot_height()))

    def _image(self, picture: Path, draw: Callable[..., Any]) -> bytes:
        from tracekit.render.figure import check_suffix, encoded, size_named

        drawn = draw(size=self.size, style=self.style)
        return encoded(drawn.figure, check_suffix(picture.suffix), size_named(self.size))


def _kind_of(data: Path) -> str:
    """The output that a file of numbers is called after."""
    from tracekit.render import of_suffix

    return of_suffix(data.suffix.removeprefix(".").lower() or "csv")
