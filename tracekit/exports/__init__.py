"""Runs as files for other programs: one file per target."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from typing import Any, BinaryIO, Protocol, cast, runtime_checkable

from isal import igzip

from tracekit.errors import UsageError
from tracekit.plugins import by_name, named
from tracekit.render.numbers import counted
from tracekit.session import Session

GROUP = "tracekit.exports"

#: Our own targets load the way third parties' do.
BUILT_IN = (
    EntryPoint("perfetto", "tracekit.exports.perfetto:Perfetto", GROUP),
    EntryPoint("xlsx", "tracekit.exports.xlsx:Xlsx", GROUP),
    EntryPoint("folded", "tracekit.exports.folded:Folded", GROUP),
    EntryPoint("speedscope", "tracekit.exports.speedscope:Speedscope", GROUP),
)


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """A request for an export.

    Attributes:
        runs: IDs of the runs, at least one, the baseline first.
        phase: steps: all, stable or N..M.
        options: options of this target, by name.
    """

    runs: tuple[str, ...]
    phase: str = "all"
    options: Mapping[str, str] = field(default_factory=dict)


@runtime_checkable
class ExportTarget(Protocol):
    """A program or format that a run can be exported to.

    Attributes:
        name: the value of ``--to``.
        title: what it writes, in a few words.
        suffixes: endings of its files, such as ``.json``. The first is used in examples. Endings
            that it can write, but that do not choose it, are in the optional ``more_suffixes``.
        most_runs: how many runs a file can be about: 1, or 2 for a difference.
        options: the names of its own options.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    most_runs: int
    options: tuple[str, ...]

    def write(self, session: Session, asked: ExportRequest, file: BinaryIO) -> tuple[str, ...]:
        """Write the file, piece by piece, and return what it holds: for a message.

        Raises UsageError if there is nothing to write; the message says what is missing.
        """
        ...


def target_names() -> list[str]:
    """The names of all targets: built-in ones, then those of installed packages."""
    return list(by_name(GROUP, BUILT_IN))


def target_named(name: str) -> ExportTarget:
    """The target called `name`; raises UsageError if there is none or it cannot be loaded."""
    return named(name, GROUP, BUILT_IN, "export target", _made)


def target_of(name: str | None, file_name: str) -> ExportTarget:
    """The target called `name`, or for None the only one that writes files with this ending.

    Raises UsageError if the ending is not one of the target's, or if it does not choose one.
    """
    ending = file_name.lower()
    if name is not None:
        target = target_named(name)
        endings = (*target.suffixes, *getattr(target, "more_suffixes", ()))
        if not ending.endswith(endings):
            raise UsageError(
                f"{file_name}: {name} writes {' or '.join(endings)}; rename the file, or "
                "choose another target with --to"
            )
        return target
    fitting = {target: _fit(target, ending) for target in _known()}
    best = max(fitting.values(), default=0)
    found = [target for target, fit in fitting.items() if fit == best > 0]
    if len(found) != 1:
        choices = ", ".join(target.name for target in found or fitting)
        why = "several targets write such files" if found else "no target writes such files"
        raise UsageError(f"{file_name}: {why}; choose one with --to: {choices}")
    return found[0]


def _fit(target: ExportTarget, ending: str) -> int:
    """The length of the target's longest suffix that a file name has; 0 for none."""
    return max((len(suffix) for suffix in target.suffixes if ending.endswith(suffix)), default=0)


def _known() -> list[ExportTarget]:
    known = []
    for name in target_names():
        with contextlib.suppress(UsageError):  # broken: reported if requested by name
            known.append(target_named(name))
    return known


@contextlib.contextmanager
def compressed(file: BinaryIO, file_name: str) -> Iterator[BinaryIO]:
    """Yield a stream that compresses into `file` if its name ends in ``.gz``; else `file`."""
    if not file_name.lower().endswith(".gz"):
        yield file
        return
    make = cast("Callable[..., BinaryIO]", igzip.GzipFile)  # it has no types of its own
    with make(filename="", mode="wb", fileobj=file, mtime=0) as stream:
        yield stream


def check(target: ExportTarget, asked: ExportRequest) -> None:
    """Raise UsageError for options or a number of runs that a target does not have."""
    if len(asked.runs) > target.most_runs:
        raise UsageError(
            f"{target.name} holds at most {counted(target.most_runs, 'run')}, not {len(asked.runs)}"
        )
    for option in asked.options:
        if option not in target.options:
            has = ", ".join(f"--{name}" for name in target.options) or "none"
            raise UsageError(f"{target.name} has no option --{option}; its options: {has}")


def _made(kind: Any) -> ExportTarget:
    made: object = kind()
    if not isinstance(made, ExportTarget):
        raise TypeError("not a target: it lacks name, title, suffixes, most_runs, options or write")
    return made
