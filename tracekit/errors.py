"""The errors tracekit raises. Only the command line prints them and exits."""

from collections.abc import Mapping, Sequence

_MOST_NAMES = 20


class TracekitError(Exception):
    """Anything tracekit refuses or cannot do; its text says what, where, why and what to do.

    ``exit_code`` is what the command line ends with (docs/cli.md lists them).
    """

    exit_code = 1


class UsageError(TracekitError):
    """Invalid request: an unknown name, a contradiction, an output in the way."""

    exit_code = 2


def require_choice(option: str, value: str, choices: Sequence[str]) -> None:
    """Raise UsageError unless an option of the command line has one of its values."""
    if value not in choices:
        raise UsageError(f"--{option}: invalid value {value!r}; use one of: {', '.join(choices)}")


class FormatError(TracekitError):
    """A file is none of the known formats, or broken beyond use."""

    exit_code = 3


class StrictError(FormatError):
    """A file was damaged and ``--strict`` was asked for."""


class StoreError(TracekitError):
    """The store is missing, too new, locked, full or not writable."""

    exit_code = 4


class QueryError(TracekitError):
    """A query is unknown, not allowed, or refused by the engine."""

    exit_code = 5


class ChoiceError(QueryError):
    """A parameter was left out that can have several values here.

    ``choices`` are the values by parameter.
    """

    def __init__(self, choices: Mapping[str, Sequence[str]]) -> None:
        """Say what there is to choose from."""
        self.choices = choices
        told = [f"{name} (one of {_few(values)})" for name, values in choices.items()]
        super().__init__(f"specify {' and '.join(told)}")

    def examples(self) -> dict[str, str]:
        """A value for each, and another for the next where there is one."""
        found: dict[str, str] = {}
        for name, values in self.choices.items():
            new = (value for value in values if value not in found.values())
            found[name] = next(new, values[0])
        return found


def _few(values: Sequence[str]) -> str:
    """In one line: what comes from files can have several."""
    rest = len(values) - _MOST_NAMES
    named = ", ".join(values[:_MOST_NAMES]).replace("\n", "\\n")
    return named + (f" and {rest:,} more" if rest > 0 else "")


class RegressionError(TracekitError):
    """``compare --fail-on`` found the second run to be slower than allowed."""

    exit_code = 8


class DamageError(TracekitError):
    """``tracekit check`` found files that are not what was written, or that belong to nothing."""

    exit_code = 9


class MatchError(TracekitError):
    """``tracekit join --min-match`` found counters for less of the timeline than asked for."""

    exit_code = 10
