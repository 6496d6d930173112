"""What pictures of stacks say about a frame."""

from __future__ import annotations

import re

from tracekit.charts.chart import FlameChart, FlameFrame
from tracekit.render.names import short_name
from tracekit.render.numbers import human

#: The folder of a file before a Python frame.
_FOLDER = re.compile(r"^(?:[^()]*/)?(?=[^/()]+\(\d+\): )")
_LONGEST = 400


def label_of(frame: FlameFrame) -> str:
    """The name in a frame: without folders and parameter types."""
    if frame.kind == "python":
        return _FOLDER.sub("", frame.name)
    if frame.kind == "module":
        return frame.name.removeprefix("nn.Module: ")
    return short_name(frame.name, _LONGEST)


def text_of(chart: FlameChart, frame: FlameFrame) -> str:
    """The name in a frame, with the time of the whole."""
    if frame.kind != "run":
        return label_of(frame)
    return f"{frame.name}: {human(frame.width, 'ns')} {chart.x.title.lower()}"


def change_of(frame: FlameFrame) -> float | None:
    """The change against the first run, from -1 (gone) to 1 (new); None for one run."""
    if frame.before is None:
        return None
    most = max(frame.width, frame.before)
    return (frame.width - frame.before) / most if most else 0.0


def title_of(chart: FlameChart, frame: FlameFrame) -> str:
    """What a frame is: full name, kind, time, share; the time before."""
    kinds = {key.name: key.title for key in chart.keys}
    share = human(frame.width / chart.x.high, "ratio")
    lines = [frame.name, f"{kinds[frame.kind]}: {human(frame.width, 'ns')}, {share}"]
    if chart.compared is not None and frame.before is not None:
        change = human(frame.width - frame.before, "ns")
        sign = "+" if frame.width > frame.before else ""
        lines.append(f"in {chart.compared[0]}: {human(frame.before, 'ns')} ({sign}{change})")
    return "\n".join(lines)
