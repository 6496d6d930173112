"""Single lines of a Caffe log: glog prefixes, times, and the echoed net.

Messages: tools/caffe.cpp, `time`, and src/caffe/net.cpp of BVLC/caffe; before October 2014 also
tools/net_speed_benchmark.cpp.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tracekit.parsers.caffe_time.sniffing import VALUE
from tracekit.reading.decimals import whole

_PREFIX = re.compile(
    r"(?:([IWEF])(?:\d{4}){1,2} \d\d:\d\d:\d\d\.\d{6} +(\d{1,18}) )?"
    r"\b([\w-]{1,60})\.(?:cpp|cc|cu|hpp|h):\d{1,6}\] "
)
#: Statistic of a value over several iterations, by the word before it.
_STATISTICS = {
    "average": "mean",
    "mean": "mean",
    "min": "min",
    "minimum": "min",
    "max": "max",
    "maximum": "max",
    "median": "median",
    "total": "sum",
}
_WORD = r"(?:(Average|Mean|Min|Minimum|Max|Maximum|Median) )"
_LAYER = re.compile(rf"([^\t]*\S)\s+(forward|backward){VALUE}")
_PASS = re.compile(rf"{_WORD}?(Forward|Backward) pass{VALUE}")
_BOTH = re.compile(rf"{_WORD}Forward-Backward{VALUE}")
_TOTAL = re.compile(rf"(Total) Time{VALUE}")
_ITERATION = re.compile(rf"Iteration: (\d{{1,18}}) (forward|backward|forward-backward) time{VALUE}")
_HEADING = re.compile(r"(\w{1,40}) time per layer:\s*")
_LIKE_A_TIME = re.compile(
    r"\s(?:forward|backward): |\b(?:forward|backward)(?: pass| time): |\bforward-backward: "
    r"|\btotal time: |\t.*\bms\.?$",
    re.IGNORECASE,
)
_ANY_TIME = re.compile(rf".*{VALUE}")
_NUMBER = re.compile(r"\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?", re.ASCII)

_BLOCK = re.compile(r"\s*(\w+) \{\s*")
_FIELD = re.compile(r'\s*(\w+): (?:"((?:[^"\\]|\\.)*)"|([^\s"]\S*))\s*')
#: Source files with messages of a benchmark, and those of them without times.
_PROGRAMS = ("caffe", "net_speed_benchmark")
_SILENT = re.compile(r"Performing (?:Forward|Backward)|Initial loss: .*")
#: A layer that Caffe inserts if several layers read one blob (util/insert_splits.cpp).
_SPLIT = re.compile(r".*_\d+_split")
#: More layers than any net has: further layers are treated as another net.
MOST_LAYERS = 1 << 16


@dataclass(frozen=True, slots=True)
class Message:
    """A line without its prefix: severity and writer (thread) are None if it has none.

    ``file_name`` is the file of caffe's source, without its suffix; None without a prefix.
    """

    text: str
    severity: str | None = None
    writer: str | None = None
    file_name: str | None = None

    @property
    def has_prefix(self) -> bool:
        """Whether it is a message of Caffe."""
        return self.file_name is not None

    @property
    def is_of_a_benchmark(self) -> bool:
        """Whether it is an informational message of the program that runs benchmarks."""
        return self.file_name in _PROGRAMS and not _SILENT.fullmatch(self.text.strip())


def message_of(line: str) -> Message:
    """Remove the prefix of a line, also after a prefix of another program."""
    prefix = _PREFIX.search(line)
    if prefix is None:
        return Message(line)
    return Message(line[prefix.end() :], prefix[1], prefix[2], prefix[3])


@dataclass(frozen=True, slots=True)
class Time:
    """A time as Caffe prints it: of one layer or all, and of one iteration or all."""

    dur_ns: int
    statistic_kind: str
    phase_kind: str | None = None
    layer_name: str | None = None
    iteration_index: int | None = None


def time_of(text: str) -> Time | None:
    """Return the time in a message; None if there is none, or it cannot be read."""
    if not is_like_a_time(text) or is_joined(text):  # or two messages in one line
        return None
    text = text.strip()
    if layer := _LAYER.fullmatch(text):
        name, phase, number, unit = layer.groups()
        return None if _ANY_TIME.match(name) else _time(number, _statistic(unit), phase, name)
    if one := _PASS.fullmatch(text):
        word, phase, number, unit = one.groups()
        return _time(number, _statistic(unit, word), phase.lower())
    if both := _BOTH.fullmatch(text) or _TOTAL.fullmatch(text):
        word, number, unit = both.groups()
        return _time(number, _statistic(unit, word))
    if iteration := _ITERATION.fullmatch(text):
        index, phases, number, _ = iteration.groups()
        phase = None if "-" in phases else phases
        return _time(number, "single", phase, iteration_index=int(index))
    return None


def heading_of(text: str) -> str | None:
    """Return the statistic of the layer times after this message; "" if unknown, None if none.

    Caffe logs means; a build that logs the minimum says so only here.
    """
    heading = _HEADING.fullmatch(text)
    return None if heading is None else _STATISTICS.get(heading[1].lower(), "")


def _statistic(unit: str, word: str | None = None) -> str:
    """Return the statistic for a word; without one, `ms` is a mean, and older units are a sum."""
    return _STATISTICS[word.lower()] if word else "mean" if unit == "ms" else "sum"


def _time(
    number: str,
    statistic_kind: str,
    phase_kind: str | None = None,
    layer_name: str | None = None,
    iteration_index: int | None = None,
) -> Time | None:
    if (dur_ns := nanoseconds(number)) is None:
        return None
    return Time(dur_ns, statistic_kind, phase_kind, layer_name, iteration_index)


def nanoseconds(text: str) -> int | None:
    """Convert decimal milliseconds to whole nanoseconds, rounded once; None if not a time."""
    if not _NUMBER.fullmatch(text):
        return None
    return whole(text, 6)


def is_like_a_time(text: str) -> bool:
    """Whether a message has the words of a time."""
    return _LIKE_A_TIME.search(text) is not None


def is_joined(text: str) -> bool:
    """Whether another message begins inside this one: two processes wrote at once."""
    return _PREFIX.search(text) is not None


def is_of_other_words(text: str) -> bool:
    """Whether a message has a complete time in words that are not supported."""
    other = _ANY_TIME.fullmatch(text.strip())
    return other is not None and nanoseconds(other[1]) is not None and not is_joined(text)


@dataclass(slots=True)
class Echo:
    """The net as Caffe prints it at the start (a prototxt), read line by line."""

    net_name: str | None = None
    _types: dict[str, str] = field(default_factory=dict)
    _blocks: list[str] = field(default_factory=list)
    _layer: dict[str, str] = field(default_factory=dict)

    def feed(self, line: str) -> bool:
        """Read a line; return False if it is not part of a prototxt."""
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
        """Whether the net is still incomplete."""
        return bool(self._blocks)

    def _field(self, name: str, value: str) -> None:
        if not self._blocks and name == "name":
            self.net_name = value
        elif self._blocks in (["layer"], ["layers"]) and name in ("name", "type"):
            self._layer[name] = value
            if len(self._layer) > 1 and len(self._types) < MOST_LAYERS:
                self._types[self._layer["name"]] = self._layer["type"]

    def lacks(self, layer: str) -> bool:
        """Whether the net is complete and does not have this layer."""
        return bool(self._types) and not self.is_open and self.type_of(layer) is None

    def type_of(self, layer: str) -> str | None:
        """Return the type of a layer in the net; None if the net was not echoed."""
        if self._types and layer not in self._types and _SPLIT.fullmatch(layer):
            return "Split"
        return self._types.get(layer)
