"""Trees of stacks with one weight each, of one run or of two to be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tracekit.charts import ChartStore
from tracekit.errors import UsageError

#: Weights of stacks with what they mean: device time launched in a stack, or time of the host.
WEIGHTS = {"device": "device time", "host": "host time"}


@dataclass(frozen=True, slots=True)
class Stack:
    """A stack: the place of the stack without its last member (-1: none), and that member.

    ``value`` is the time in the stack, in ns, ``self_value`` the part outside of those below it;
    ``before`` and ``self_before`` are the same of the first of two runs.
    """

    parent: int
    kind: str
    name: str
    value: int
    self_value: int
    before: int = 0
    self_before: int = 0


def stacks_in(store: ChartStore, run: str, name: str, weight: str, phase: str) -> list[Stack]:
    """The stacks with time of a run called `name`; raises UsageError if there is none."""
    rows = store.query("stacks", {"run_id": run, "phase": phase}).rows()
    found = weighed(rows, weight)
    if not found:
        other = next(other for other in WEIGHTS if other != weight)
        has = any(row[f"{other}_ns"] for row in rows)
        advice = f"use --weight {other}" if has else "ingest a trace with calls of the host"
        raise UsageError(f"no stack of {name} has {WEIGHTS[weight]}; {advice}")
    return found


def weighed(rows: Sequence[Mapping[str, Any]], weight: str) -> list[Stack]:
    """The stacks with time in rows of the report `stacks`; parents are before their children."""
    places: dict[int, int] = {}
    found: list[Stack] = []
    for row in rows:
        value = row[f"{weight}_ns"]
        if value:
            places[row["stack_index"]] = len(found)
            parent = -1 if row["parent_index"] is None else places[row["parent_index"]]
            own = row[f"self_{weight}_ns"]
            found.append(Stack(parent, row["stack_kind"], row["name"], value, own))
    return found


def compared(first: Sequence[Stack], second: Sequence[Stack]) -> list[Stack]:
    """The stacks of either of two runs, with the times of both."""
    found: list[Stack] = []
    known: dict[tuple[int, str, str], int] = {}

    def placed(stacks: Sequence[Stack]) -> list[int]:
        places: list[int] = []
        for stack in stacks:
            parent = places[stack.parent] if stack.parent >= 0 else -1
            place = known.setdefault((parent, stack.kind, stack.name), len(found))
            if place == len(found):
                found.append(Stack(parent, stack.kind, stack.name, 0, 0))
            places.append(place)
        return places

    for place, stack in zip(placed(second), second, strict=True):
        found[place] = replace(found[place], value=stack.value, self_value=stack.self_value)
    for place, stack in zip(placed(first), first, strict=True):
        found[place] = replace(found[place], before=stack.value, self_before=stack.self_value)
    return found


def path_of(stacks: Sequence[Stack], stack: Stack) -> list[Stack]:
    """The stacks around one of several, from the outermost in, and itself."""
    path = [stack]
    while path[-1].parent >= 0:
        path.append(stacks[path[-1].parent])
    return path[::-1]


def total_of(stacks: Sequence[Stack]) -> int:
    """The time of all stacks."""
    return sum(stack.value for stack in stacks if stack.parent < 0)
