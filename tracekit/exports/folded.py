"""Folded stacks, one a line: the input of flamegraph.pl, of two runs that of difffolded.pl."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

from tracekit.charts.stacks import Stack, compared, path_of
from tracekit.exports import ExportRequest
from tracekit.exports.stacks import asked_stacks, told
from tracekit.render.text import inert
from tracekit.session import Session

#: Between the members of a stack; in a name, it is written as a colon.
_BETWEEN = ";"


class Folded:
    """Lines such as ``main;forward;aten::mm;gemm 1200``: a stack and its own time in ns."""

    name = "folded"
    title = "stacks, one a line, for flamegraph.pl; of two runs, with the times of both"
    suffixes = (".folded", ".folded.gz", ".txt", ".txt.gz")
    most_runs = 2
    options = ("weight",)

    def write(self, session: Session, asked: ExportRequest, file: BinaryIO) -> tuple[str, ...]:
        """Write the stacks with time of their own; raises UsageError if there is none."""
        found = asked_stacks(session, asked)
        stacks = compared(*found) if len(found) == 2 else found[0]
        for line in lines_of(stacks, is_compared=len(found) == 2):
            file.write(line.encode())
        return told(session, asked, found)


def lines_of(stacks: Sequence[Stack], *, is_compared: bool = False) -> Iterator[str]:
    """The lines, with the time of the first run before that of the second if there are two."""
    texts: dict[str, str] = {}
    for stack in stacks:
        if stack.self_value or stack.self_before:
            names = (member.name for member in path_of(stacks, stack))
            path = _BETWEEN.join(texts.get(n) or texts.setdefault(n, _text(n)) for n in names)
            times = f"{stack.self_before} " if is_compared else ""
            yield f"{path} {times}{stack.self_value}\n"


def _text(name: str) -> str:
    return inert(name).replace(_BETWEEN, ":").strip() or "-"
