"""Single lines of a log of caffe: prefixes of glog, times, and the net that is echoed.

Wordings: tools/caffe.cpp, `time`, and src/caffe/net.cpp of BVLC/caffe; of the layout before
October 2014 also tools/net_speed_benchmark.cpp.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal

_PREFIX = re.compile(
    r"(?:([IWEF])(?:\d{4}){1,2} \d\d:\d\d:\d\d\.\d{6} +(\d{1,18}) )?"
    r"\b[\w-]{1,60}\.(?:cpp|cc|cu|hpp|h):\d{1,6}\] "
)
_VALUE = r": +(\S+) (ms|milli ?seconds)\.?"
_LAYER = re.compile(rf"([^\t]*\S)\s+(forward|backward){_VALUE}")
_PASS = re.compile(rf"(?:Average )?(Forward|Backward) pass{_VALUE}")
_BOTH = re.compile(rf"(Average Forward-Backward|Total Time){_VALUE}")
_ITERATION = re.compile(rf"Iteration: (\d{{1,18}}) forward-backward time{_VALUE}")
_LIKE_A_TIME = re.compile(
    r"\s(?:forward|backward): |\b(?:forward|backward)(?: pass| time): |\bforward-backward: "
    r"|\btotal time: ",
    re.IGNORECASE,
)
_ANY_TIME = re.compile(rf".*{_VALUE}")
_NUMBER = re.compile(r"\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_MOST_NS = (1 << 63) - 1

_BLOCK = re.compile(r"\s*(\w+) \{\s*")
_FIELD = re.compile(r'\s*(\w+): (?:"(.*)"|(\S+))\s*')
#: A layer that caffe puts in where several layers read one blob (util/insert_splits.cpp).
_SPLIT = re.compile(r".*_\d+_split")
#: More layers than any net has: what follows is taken for another net.
MOST_LAYERS = 1 << 16


@dataclass(frozen=True, slots=True)
class Message:
    """A line without its prefix: severity and writer (thread) are None where it has none."""

    text: str
    severity: str | None = None
    writer: str | None = None
    has_prefix: bool = False


def message_of(line: str) -> Message:
    """Take the prefix from a line, wherever another program's own prefix put it."""
    prefix = _PREFIX.search(line)
    if prefix is None:
        return Message(line)
    return Message(line[prefix.end() :], prefix[1], prefix[2], has_prefix=True)


@dataclass(frozen=True, slots=True)
class Time:
    """A time as caffe prints it: of a layer or of all of them, and of an iteration or of all."""

    dur_ns: int
    statistic_kind: str
    phase_kind: str | None = None
    layer_name: str | None = None
    iteration_index: int | None = None


def time_of(text: str) -> Time | None:
    """The time that a message tells; None where it tells none, or one that cannot be read."""
    if not is_like_a_time(text) or _PREFIX.search(text):  # or two messages in one line
        return None
    text = text.strip()
    if layer := _LAYER.fullmatch(text):
        name, phase, number, unit = layer.groups()
        return _time(number, unit, phase_kind=phase, layer_name=name)
    if one := _PASS.fullmatch(text):
        phase, number, unit = one.groups()
        return _time(number, unit, phase_kind=phase.lower())
    if both := _BOTH.fullmatch(text):
        words, number, unit = both.groups()
        return _time(number, unit if words.startswith("Average") else "")
    if iteration := _ITERATION.fullmatch(text):
        index, number, _ = iteration.groups()
        return _time(number, "", iteration_index=int(index))
    return None


def _time(
    number: str,
    unit: str,
    phase_kind: str | None = None,
    layer_name: str | None = None,
    iteration_index: int | None = None,
) -> Time | None:
    """A time; since caffe writes `ms` it is a mean, before it was a sum; the total always is."""
    if (dur_ns := nanoseconds(number)) is None:
        return None
    kind = "single" if iteration_index is not None else "mean" if unit == "ms" else "sum"
    return Time(dur_ns, kind, phase_kind, layer_name, iteration_index)


def nanoseconds(text: str) -> int | None:
    """Milliseconds in decimal digits as whole nanoseconds, rounded once; None if it is no time."""
    if not _NUMBER.fullmatch(text):
        return None
    ns = int(Decimal(text).scaleb(6).to_integral_value(ROUND_HALF_EVEN))
    return ns if ns <= _MOST_NS else None


def is_like_a_time(text: str) -> bool:
    """Whether a message has the words of a time."""
    return _LIKE_A_TIME.search(text) is not None


def is_of_other_words(text: str) -> bool:
    """Whether a message is whole and tells a time, but none that is read here."""
    other = _ANY_TIME.fullmatch(text.strip())
    return other is not None and nanoseconds(other[1]) is not None and not _PREFIX.search(text)


@dataclass(slots=True)
class Echo:
    """The net as caffe prints it at the start (a prototxt), read line by line."""

    net_name: str | None = None
    _types: dict[str, str] = field(default_factory=dict)
    _blocks: list[str] = field(default_factory=list)
    _layer: dict[str, str] = field(default_factory=dict)

    def feed(self, line: str) -> bool:
        """Read a line; False where it is none of a prototxt."""
        if block := _BLOCK.fullmatch(line):
            self._blocks.append(block[1])
            if len(self._blocks) == 1:
                self._layer = {}
            return len(self._blocks) < MOST_LAYERS
        if line.strip() == "}":
            return bool(self._blocks) and bool(self._blocks.pop())
        found = _FIELD.fullmatch(line)
        if found is not None:
            self._field(found[1], found[2] if found[2] is not None else found[3])
        return found is not None or not line.strip()

    @property
    def is_open(self) -> bool:
        """Whether more has to follow."""
        return bool(self._blocks)

    def _field(self, name: str, value: str) -> None:
        if not self._blocks and name == "name":
            self.net_name = value
        elif self._blocks in (["layer"], ["layers"]) and name in ("name", "type"):
            self._layer[name] = value
            if len(self._layer) > 1 and len(self._types) < MOST_LAYERS:
                self._types[self._layer["name"]] = self._layer["type"]

    def type_of(self, layer: str) -> str | None:
        """The type of a layer, as the net has it; None where the net was not echoed."""
        if self._types and layer not in self._types and _SPLIT.fullmatch(layer):
            return "Split"
        return self._types.get(layer)
