"""Results to stdout or a file, messages to stderr."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, BinaryIO, TextIO, cast

import typer

from tracekit.cli import completing
from tracekit.errors import TracekitError, UsageError
from tracekit.render import BUILT_IN, RenderOptions, of_suffix, renderer, renderer_names
from tracekit.render.text import inert
from tracekit.result import Result
from tracekit.urls import path_of

DEFAULT_STORE = Path("tracekit-store")
# Formats of installed packages are looked up only if one is used: that takes time.
*_OURS, _LAST = (entry.name for entry in BUILT_IN)
STORE_VARIABLE = "TRACEKIT_STORE"
#: For commands and notes.
LINE_WIDTH = 78
_TABLE = "table"
_WIDTH_OF_A_FILE = 160
_LINES_OF_A_FILE = 40
_LEGEND_LINES, _LEAST_PLOT_LINES, _MOST_PLOT_LINES = 16, 18, 40

StoreOption = Annotated[
    Path,
    typer.Option(
        "--store",
        metavar="PATH",
        envvar=STORE_VARIABLE,
        parser=path_of,
        help="Folder of the store, or its URL.",
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        help=f"Output format: {', '.join(_OURS)} or {_LAST}; default: by the extension of -o, "
        "else table.",
        autocompletion=completing.outputs,
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Write to this file instead of stdout: csv, json, md, html, parquet, xlsx, txt.",
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite the output file.")]
FullNamesOption = Annotated[
    bool, typer.Option("--full-names", help="Do not shorten names in tables.")
]
PhaseOption = Annotated[
    str | None,
    typer.Option("--phase", help="Only these steps: all, stable or N..M; see the report steps."),
]
RunOption = Annotated[
    str | None,
    typer.Option(
        "--run",
        "-r",
        help="Run, by name or ID; default: the newest.",
        autocompletion=completing.runs,
    ),
]
RunArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[RUN]",
        help="Run, by name or ID, as with --run; default: the newest.",
        autocompletion=completing.runs,
    ),
]


def one_run(argument: str | None, option: str | None) -> str | None:
    """Return the run that a command line gives: as an argument, as an option, or both alike.

    Raises UsageError if they differ.
    """
    if argument is not None and option is not None and argument != option:
        raise UsageError(
            f"the argument {argument!r} and --run {option!r} differ; use only one of them"
        )
    return option if argument is None else argument


def say(message: str, *, newline: bool = False) -> None:
    """Print a message on stderr, with control characters escaped, as names come from traces.

    Line feeds are escaped, too, so that no name can look like a message of ours, unless `newline`
    is true.
    """
    if sys.stderr is None:  # closed before the start
        return
    try:
        print(inert(message, newline=newline), file=sys.stderr, flush=True)
    except OSError:  # nobody reads it
        _forget(sys.stderr)


def filled(text: str, later: str, first: str = "") -> str:
    """Wrap `text` for a terminal: `first` before the first line, `later` before the others."""
    return textwrap.fill(
        text,
        LINE_WIDTH,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )


def place(store: Path, run: str | None = None) -> str:
    """Return the options that name a store and a run, to append to a command."""
    words = [] if run is None else ["--run", run]
    if store != path_of(os.environ.get(STORE_VARIABLE) or str(DEFAULT_STORE)):
        words += ["--store", str(store)]
    return "".join(f" {shlex.quote(word)}" for word in words)


def output_format(format_name: str | None, output: Path | None) -> str:
    """Return the output format: that of ``--format`` or of the file's extension, else a table.

    Raises UsageError if both are given and differ, or if no format has the extension.
    """
    extension = "" if output is None else output.suffix.removeprefix(".").lower()
    if not extension:
        return format_name or _TABLE
    found = of_suffix(extension)
    is_known = found in renderer_names()
    if format_name is None and not is_known:
        raise UsageError(
            f"{output}: no output format has this extension; use .csv, .json, .md, .html, "
            ".parquet, .xlsx or .txt, or name a format with --format"
        )
    if is_known and format_name not in (None, found):
        raise UsageError(
            f"{output}: the extension is that of {found}, but --format is {format_name}; omit "
            "--format, or rename the file"
        )
    return format_name or found


def emit(
    result: Result,
    format_name: str | None,
    output: Path | None,
    force: bool,
    full_names: bool = False,
) -> None:
    """Render a result to stdout or a file; a file is written completely or not at all."""
    chosen = renderer(output_format(format_name, output))
    if output is None and chosen.is_binary and _is_terminal():
        raise UsageError(f"{chosen.name} is binary: name an output file with -o")
    if output is not None:
        refuse_in_the_way(output, force=force)
    content = chosen.render(result, replace(output_options(output), full_names=full_names))
    if output is None:
        put_out(content)
    else:
        write_file(output, content)


def refuse_in_the_way(output: Path, *, force: bool) -> None:
    """Raise UsageError if a file is in the way and `force` is not set."""
    if str(output) == "-":
        raise UsageError("-: output goes to stdout by default; omit the option")
    with contextlib.suppress(OSError):  # writing it will fail, too
        if output.is_dir():
            raise UsageError(f"{output}: is a folder; name a file with -o")
        if output.is_file() and not force:
            raise UsageError(f"{output}: the file exists; use --force to overwrite it")


def put_out(content: bytes) -> None:
    """Write to stdout."""
    if sys.stdout is None:
        raise TracekitError("standard output is closed; open it, or write to a file with -o FILE")
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has closed it
        _forget(sys.stdout)
        raise typer.Exit from None
    except OSError as error:
        _forget(sys.stdout)
        raise TracekitError(
            f"standard output: cannot be written: {error.strerror or error}; free some space, or "
            "write elsewhere with -o FILE"
        ) from error


def _forget(stream: TextIO) -> None:
    """Redirect a stream to the null device, so that closing it does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def terminal_options() -> RenderOptions:
    """Return the width and colors of stdout."""
    is_terminal = _is_terminal()
    width = shutil.get_terminal_size((_WIDTH_OF_A_FILE, 24)).columns
    color = is_terminal and not os.environ.get("NO_COLOR")
    return RenderOptions(width=width, color=color, is_terminal=is_terminal)


def output_options(output: Path | None) -> RenderOptions:
    """Return the width and colors of a file; of stdout for None."""
    if output is None:
        return terminal_options()
    return RenderOptions(width=_WIDTH_OF_A_FILE, color=False)


def plot_height() -> int:
    """Return the number of lines for a plot, so that its legend fits below it."""
    lines = shutil.get_terminal_size((_WIDTH_OF_A_FILE, _LINES_OF_A_FILE)).lines
    return min(max(lines - _LEGEND_LINES, _LEAST_PLOT_LINES), _MOST_PLOT_LINES)


def write_file(path: Path, content: bytes) -> None:
    """Write a file completely or not at all; raise TracekitError if that fails."""
    with written(path) as file:
        file.write(content)


@contextlib.contextmanager
def written(path: Path) -> Iterator[BinaryIO]:
    """Yield a file to write to, which replaces `path` at the end; after an error, nothing is left.

    Raises TracekitError if it cannot be written.
    """
    try:
        target = path.resolve()  # a link stays one
        is_special = target.exists() and not target.is_file()  # a device or a pipe
        with target.open("wb") if is_special else _draft(target) as file:
            yield file
    except OSError as error:
        raise TracekitError(
            f"{path}: cannot be written: {error.strerror or error}; name another file with -o"
        ) from error


@contextlib.contextmanager
def _draft(path: Path) -> Iterator[BinaryIO]:
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        draft = Path(file.name)
        try:
            yield cast(BinaryIO, file)
            file.close()  # Windows cannot move an open file
            draft.chmod(0o666 & ~_umask())
            draft.replace(path)
        except BaseException:
            file.close()
            draft.unlink(missing_ok=True)
            raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
