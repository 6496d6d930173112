"""The errors tracekit raises. Only the command line prints them and exits."""


class TracekitError(Exception):
    """Anything tracekit refuses or cannot do; its text says what, where, why and what to do.

    ``exit_code`` is what the command line ends with (docs/cli.md lists them).
    """

    exit_code = 1


class UsageError(TracekitError):
    """The request cannot be meant: an unknown name, a contradiction, an output in the way."""

    exit_code = 2


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


class RegressionError(TracekitError):
    """``compare --fail-on`` found the second run to be slower than allowed."""

    exit_code = 8


class DamageError(TracekitError):
    """``tracekit check`` found files that are not what was written, or that belong to nothing."""

    exit_code = 9


class MatchError(TracekitError):
    """``tracekit join --min-match`` found counters for less of the timeline than asked for."""

    exit_code = 10
