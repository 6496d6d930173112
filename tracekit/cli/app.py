"""The list of commands, and how errors are reported."""

from __future__ import annotations

import os
import traceback
from collections.abc import Sequence
from copy import copy
from functools import cache
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException
from typer.models import CommandInfo

from tracekit._version import __version__
from tracekit.cli import (
    INTERRUPTED,
    advise,
    ask,
    chart,
    check,
    compact,
    compare,
    critical_path,
    export,
    files,
    joins,
    queries,
    report,
    roofline,
    summary,
)
from tracekit.cli.hints import hint
from tracekit.cli.opening import tell_damages
from tracekit.cli.output import put_out, say
from tracekit.cli.plain import PlainCommand, PlainGroup
from tracekit.compiled import library
from tracekit.errors import QueryError, TracekitError

app = typer.Typer(
    name="tracekit",
    cls=PlainGroup,
    help="Store profiler traces as Parquet and query them with SQL.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        put_out(f"tracekit {__version__} ({_with_or_without_library()})\n".encode())
        raise typer.Exit


def _with_or_without_library() -> str:
    if library() is not None:
        return "with its C library"
    return (
        "without its C library, so torch traces are read several times more slowly; to get it, "
        "install a C compiler and reinstall tracekit"
    )


@app.callback()
def _all(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the version, and whether the C library is used.",
            is_eager=True,
            callback=_show_version,
        ),
    ] = False,
) -> None:
    """Store profiler traces as Parquet and query them with SQL."""


for _add in (
    *(files.ingest, files.remove, compact.compact, files.formats, files.devices),
    *(ask.runs, ask.issues, ask.kernels, queries.queries, ask.query, ask.sql),
    *(compare.compare, roofline.roofline, chart.chart, summary.summary, check.check),
    *(advise.advise, critical_path.critical_path, report.report, export.export),
    *(joins.join, joins.joins),
):
    app.command(cls=PlainCommand)(_add)

_USAGE = 2
_BUG = 70


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        return _run(arguments)
    finally:
        tell_damages()


def _run(arguments: Sequence[str]) -> int:
    try:
        command = _command(next(iter(arguments), ""))
        code = command(list(arguments), prog_name="tracekit", standalone_mode=False)
    except TracekitError as error:
        say(f"tracekit: {error}", newline=isinstance(error, QueryError))  # DuckDB's have lines
        return _with_place(error.exit_code) if error.exit_code == _BUG else error.exit_code
    except TyperException as error:  # an invalid command line
        _explain_usage(error, arguments)
        return _USAGE
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except MemoryError:
        say("tracekit: out of memory; free some, use a larger machine, or ingest with --workers 1")
        return 1
    except Exception as error:  # noqa: BLE001 - the outermost edge
        if not isinstance(error.__cause__, KeyboardInterrupt):  # as when it makes a class
            say(f"tracekit: this is a bug in tracekit, please report it: {error!r}")
            return _with_place(_BUG)
        code = INTERRUPTED
    if code == INTERRUPTED:  # Typer turns Ctrl-C into a code
        say("tracekit: interrupted; no partial results were kept")
    return int(code or 0)


@cache
def _command(name: str) -> Any:
    """Build the command `name` alone, since building all of them takes 0.05 s.

    For any other word, such as ``--help``, build all.
    """
    alone = copy(app)
    alone.registered_callback = None
    alone.registered_commands = [c for c in app.registered_commands if _name_of(c) == name]
    return typer.main.get_group(alone) if alone.registered_commands else _all_commands()


@cache
def _all_commands() -> Any:
    return typer.main.get_command(app)


def _name_of(command: CommandInfo) -> str:
    return command.name or str(getattr(command.callback, "__name__", "")).replace("_", "-")


def _explain_usage(error: TyperException, arguments: Sequence[str]) -> None:
    message = error.format_message()
    if not message:  # no command: Typer has printed the help
        return
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "tracekit"
    say(f"tracekit: {message.strip()}")
    is_known = any(_name_of(c) in arguments[:1] for c in app.registered_commands)
    asked = None if is_known else hint(arguments)
    say(asked or f"run `{command} --help` for the options")


def _with_place(code: int) -> int:
    """Print the traceback of the current error, or how to get it."""
    if os.environ.get("TRACEKIT_TRACEBACK"):
        say(traceback.format_exc(), newline=True)
    else:
        say("tracekit: set TRACEKIT_TRACEBACK=1 to see where")
    return code
