"""The errors that tracekit raises. Only the command line prints them and exits."""

from collections.abc import Mapping, Sequence
from pathlib import Path

_MOST_NAMES = 20


class TracekitError(Exception):
    """Anything that tracekit refuses or cannot do; the message says what, where, why and a remedy.

    ``exit_code`` is the exit status of the command line; docs/cli.md lists all.
    """

    exit_code = 1


class WorkerError(TracekitError):
    """``ingest --executor`` excluded files whose workers died twice; the others are in the store.

    ``left_out`` are the reasons by file.
    """

    def __init__(self, left_out: Mapping[Path, str], file_count: int) -> None:
        """Create an error that lists the files."""
        self.left_out = left_out
        named = "; ".join(f"{file} ({reason})" for file, reason in left_out.items())
        super().__init__(
            f"{len(left_out):,} of {file_count:,} files did not come in, because their workers "
            f"died twice: {named}; the other {file_count - len(left_out):,} are in the store. "
            "Give the workers more memory and ingest again: what is in the store is skipped"
        )


class UsageError(TracekitError):
    """An invalid request: an unknown name, conflicting options, an existing output file."""

    exit_code = 2


def require_choice(option: str, value: str, choices: Sequence[str]) -> None:
    """Raise UsageError unless a command-line option has one of its values."""
    if value not in choices:
        raise UsageError(f"--{option}: invalid value {value!r}; use one of: {', '.join(choices)}")


class FormatError(TracekitError):
    """A file has an unknown format or is damaged beyond use."""

    exit_code = 3


class StrictError(FormatError):
    """A file is damaged and ``--strict`` is given."""


class StoreError(TracekitError):
    """The store is missing, too new, locked, full or read-only."""

    exit_code = 4


class QueryError(TracekitError):
    """A query is unknown, not allowed, or rejected by DuckDB."""

    exit_code = 5


class RefusalError(QueryError):
    """A report has no answer about what it is asked, such as a phase that a run does not have."""


class ChoiceError(QueryError):
    """A parameter is missing that can have several values here.

    ``choices`` are the values by parameter.
    """

    def __init__(self, choices: Mapping[str, Sequence[str]]) -> None:
        """Create an error that lists the values."""
        self.choices = choices
        told = [f"{name} (one of {_few(values)})" for name, values in choices.items()]
        super().__init__(f"specify {' and '.join(told)}")

    def examples(self) -> dict[str, str]:
        """Return a value for each parameter, all different if possible."""
        found: dict[str, str] = {}
        for name, values in self.choices.items():
            new = (value for value in values if value not in found.values())
            found[name] = next(new, values[0])
        return found


def _few(values: Sequence[str]) -> str:
    """Return the first values in one line; values from files can contain line feeds."""
    rest = len(values) - _MOST_NAMES
    named = ", ".join(values[:_MOST_NAMES]).replace("\n", "\\n")
    return named + (f" and {rest:,} more" if rest > 0 else "")


class RegressionError(TracekitError):
    """``compare --fail-on`` found that the second run is slower than allowed."""

    exit_code = 8


class DamageError(TracekitError):
    """``tracekit check`` found damaged files, or files that belong to no ingest."""

    exit_code = 9


class MatchError(TracekitError):
    """``tracekit join --min-match`` found counters for less of the timeline than required."""

    exit_code = 10
