"""Flame graphs of stacks (Gregg 2016), from the outermost frame down to the kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tracekit.charts import ChartStore
from tracekit.charts.chart import ChartAxis, FlameChart, FlameFrame, Key
from tracekit.charts.request import ChartRequest
from tracekit.charts.stacks import WEIGHTS, Stack, compared, stacks_in, total_of
from tracekit.charts.table import INT, REAL, TEXT, table_of
from tracekit.errors import UsageError
from tracekit.roofline.points import RunLabels

KEYS = (
    Key("run", "run", "other"),
    Key("python", "Python frame", "python"),
    Key("module", "module", "module"),
    Key("annotation", "annotation", "annotation"),
    Key("op", "operator", "op"),
    Key("call", "call of the runtime", "call"),
    Key("kernel", "kernel", "kernel"),
    Key("communication", "communication", "communication"),
    Key("memcpy", "copy", "copy"),
    Key("memset", "memory set", "copy"),
    Key("unknown", "not in the file", "other"),
    Key("merged", "several, too thin", "other"),
)
_COLUMNS = (
    ("stack_index", INT, "number of the stack"),
    ("parent_index", INT, "the stack without its last member; NULL for the outermost"),
    ("stack_kind", TEXT, "kind of the last member: python, module, annotation, op, call, kernel …"),
    ("name", TEXT, "last member of the stack"),
    ("total_ns", INT, "time in the stack"),
    ("self_ns", INT, "the part outside of the stacks below it"),
    ("share_ratio", REAL, "total_ns / time of all stacks"),
    ("other_ns", INT, "time in the stack in the first of two runs"),
    ("run_name", TEXT, "run"),
)
#: Frames thinner than this share of the picture are no wider than a pixel.
_THINNEST = 2000
#: Deeper frames are not drawn.
MOST_ROWS = 160
#: If there would be more, thinner ones are merged, too.
_MOST_FRAMES = 20_000


class Flame:
    """Frames as wide as their time; of two runs, colored by the difference."""

    name = "flame"
    title = "Stacks down to the kernels, as wide as their device time; of two runs, the change."
    table = "slice"
    options = ("weight", "phase")

    def build(
        self, store: ChartStore, runs: Mapping[str, str], _labels: RunLabels, asked: ChartRequest
    ) -> FlameChart:
        """The chart of one run or two; UsageError for more, and if there is no time."""
        asked.check_options(self.name, self.options, is_of_runs=False)
        weight, phase = asked.choice("weight", *WEIGHTS), asked.options.get("phase", "all")
        if not runs:
            raise UsageError("no run has calls of the host; ingest a trace with operators")
        if len(runs) > 2:
            raise UsageError(
                f"a flame graph is of one run, or of two to compare; {len(runs)} match: name them"
            )
        found = [stacks_in(store, run, name, weight, phase) for run, name in runs.items()]
        stacks = compared(*found) if len(found) == 2 else found[0]
        return build(stacks, tuple(runs.values()), weight, asked)


def build(
    stacks: Sequence[Stack], runs: Sequence[str], weight: str, asked: ChartRequest
) -> FlameChart:
    """The chart of stacks of one run, or of two as `compared` returns them."""
    total, is_compared = total_of(stacks), len(runs) == 2
    layout = _Layout(stacks, max(total // _THINNEST, 1), is_compared=is_compared)
    inner = list(layout.frames(total))
    while len(inner) > _MOST_FRAMES:
        layout = _Layout(stacks, 2 * layout.least, is_compared=is_compared)
        inner = list(layout.frames(total))
    before = sum(stack.before for stack in stacks if stack.parent < 0)
    root = FlameFrame(0, 0, total, runs[-1], "run", before if is_compared else None)
    frames = (root, *inner)
    rows = (
        {
            "stack_index": place,
            "parent_index": stack.parent if stack.parent >= 0 else None,
            "stack_kind": stack.kind,
            "name": stack.name,
            "total_ns": stack.value,
            "self_ns": stack.self_value,
            "share_ratio": stack.value / total,
            "other_ns": stack.before if is_compared else None,
            "run_name": runs[-1],
        }
        for place, stack in enumerate(stacks)
    )
    notes = tuple(layout.notes(total))
    if is_compared and (gone := sum(s.self_before for s in stacks if not s.value)):
        notes += (f"{gone / before:.1%} of the time of {runs[0]} is in stacks that are not here",)
    return FlameChart(
        Flame.name,
        asked.title,
        ChartAxis(WEIGHTS[weight].capitalize(), "ns", 0.0, float(total)),
        KEYS,
        frames,
        (runs[0], runs[1]) if is_compared else None,
        table_of(Flame.name, _COLUMNS, rows, notes),
    )


@dataclass(slots=True)
class _Layout:
    """Places stacks on the axis, side by side within the one around them, the widest first.

    Those thinner than `least` become one frame together, if that is wide enough.
    """

    stacks: Sequence[Stack]
    least: int
    is_compared: bool
    thin_count: int = 0
    deep_ns: int = 0
    _inside: dict[int, list[int]] = field(default_factory=dict)

    def frames(self, total: int) -> Iterator[FlameFrame]:
        """The frames, outer ones first."""
        sizes = [1 if stack.value else 0 for stack in self.stacks]
        for place in range(len(self.stacks) - 1, -1, -1):
            stack = self.stacks[place]
            self._inside.setdefault(stack.parent, []).append(place)
            if stack.parent >= 0:
                sizes[stack.parent] += sizes[place]
        waiting = [(-1, 1, 0)] if total else []
        while waiting:
            parent, depth, start = waiting.pop()
            within = [place for place in self._inside.get(parent, ()) if self.stacks[place].value]
            within.sort(key=lambda place: (-self.stacks[place].value, self.stacks[place].name))
            if depth > MOST_ROWS:
                self.deep_ns += sum(self.stacks[place].value for place in within)
                continue
            thin = [place for place in within if self.stacks[place].value < self.least]
            for place in within[: len(within) - len(thin)]:
                yield self._frame(place, depth, start)
                waiting.append((place, depth + 1, start))
                start += self.stacks[place].value
            count = sum(sizes[place] for place in thin)
            self.thin_count += count
            width = sum(self.stacks[place].value for place in thin)
            if width >= self.least:
                before = sum(self.stacks[place].before for place in thin)
                known = before if self.is_compared else None
                yield FlameFrame(depth, start, width, f"{count:,} stacks", "merged", known, count)

    def _frame(self, place: int, depth: int, start: int) -> FlameFrame:
        stack = self.stacks[place]
        before = stack.before if self.is_compared else None
        return FlameFrame(depth, start, stack.value, stack.name, stack.kind, before)

    def notes(self, total: int) -> Iterator[str]:
        """What is not drawn by itself."""
        if self.thin_count:
            share = self.least / total
            yield f"{self.thin_count:,} stacks with less than {share:.2%} of the time are merged"
        if self.deep_ns:
            yield f"{self.deep_ns / total:.1%} of the time is in frames below row {MOST_ROWS}"
