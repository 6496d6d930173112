"""Where the fields of a line of ``perf stat -x`` are, in the columns of every version.

The columns have no header: which there are, and their order, depend on options and version
(tools/perf/util/stat-display.c; tools/perf/builtin-stat.c before Linux 4.18; man perf-stat,
CSV FORMAT)::

    [time] [scope [cpus]] value [unit] event [cgroup] [error%] [run share] [metric name]…

In a line with more metrics of an event, all fields before them are blank. Fields are not quoted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tracekit.parsers.perf_stat.names import is_known, named
from tracekit.parsers.perf_stat.scopes import THREAD, UNIT
from tracekit.parsers.perf_stat.units import KNOWN_UNITS
from tracekit.spelling import spelling_of

TIME = re.compile(r" *\d{1,9}\.\d{9}")
SCOPE_NAME = re.compile(UNIT)
THREAD_NAME = re.compile(THREAD)
_NUMBER = r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?"
COUNTED = re.compile(rf"{_NUMBER}|<not counted>|<not supported>")
COUNT = re.compile(r"\d+")
_ERROR = re.compile(rf"(?:{_NUMBER}|-?nan|inf)%")
NUMERAL = re.compile(_NUMBER)
SHARE = re.compile(r"\d{1,3}[.,]\d\d")
METRIC_VALUE = re.compile(rf"{_NUMBER}%?|-?nan|-?inf|\(null\)|")
_EVENT = re.compile(r"[A-Za-z_][^\x00-\x1f\"<]*")
_FIRST = re.compile(
    r" *(?:summary|<not \w+>|[\w.\-]+)( ?[^\w.<>%\"'\s/+-]+ ?(?=[^ ])|[^\w.<>%\"'\s/+-]+|[ \t])"
)
#: Separators that are in numbers, units or names of events, too, so that no line can be split.
_UNCLEAR = re.compile(
    r" *(?:\d{1,9}\.\d{9}(?P<sep>[/%\"'+.<>_-]))?(?:\d+(?:[.,]\d+)?|<not \w+>)"
    r"(?(sep)(?P=sep)|(?P<first>[/%\"'+.<>_-]))"
    r"(?:[A-Za-z]{0,8}(?(sep)(?P=sep)|(?P=first)))?[A-Za-z][A-Za-z0-9:.,_-]{1,60}?"
    r"(?(sep)(?P=sep)|(?P=first))\d+(?(sep)(?P=sep)|(?P=first))\d{1,3}[.,]\d\d(?:[^\d].*)?"
)
#: A share of the time with a decimal comma, where a comma separates the fields too.
_TWO_COMMAS = re.compile(r"[ \w.<>,-]*,[A-Za-z_][^,]*(?:,\d+,\d\d%)?,\d+,\d{1,3},\d\d(?:,.*)?")
_USUAL_SEPARATORS = (",", ";", "|", "\t", ":", "@", "!", "#", "^", "~", "&", "$", " ")


@dataclass(frozen=True, slots=True)
class CsvPlaces:
    """Positions of the fields of a line; None if it does not have the field."""

    time: int | None
    scope: int | None
    cpus: int | None
    value: int | None  # None: a line of metrics only
    unit: int | None
    event: tuple[int, int]
    cgroup: int | None
    error: int | None
    run: int | None
    share: int | None
    metrics: tuple[int, ...]  # of values; each name is after its value


def separators_in(line: str) -> list[str]:
    """Return the possible separators of `line`, the most likely first."""
    found = [sep for sep in _USUAL_SEPARATORS if sep in line]
    first = _FIRST.match(line)
    if first is None:
        return found
    # two usual ones are one, and a blank field; a blank beside another is part of it
    is_own = first[1].strip() != first[1] and bool(first[1].strip())
    return [first[1], *found] if is_own or not set(first[1]) <= set(found) else found


def separator_of(line: str) -> str | None:
    """Return the separator that makes `line` one of ``perf stat -x``, or None."""
    fitting = [
        (len(fields), sep)
        for sep in separators_in(line)
        if (found := line_of(fields := line.split(sep), sep)) is not None
        and found.value is not None
    ]
    return max(fitting)[1] if fitting else None


def unclear_separator(line: str) -> str | None:
    """Return the separator of a line that cannot be split at it; None for other lines."""
    found = _UNCLEAR.fullmatch(line)
    return None if found is None else found["sep"] or found["first"]


def has_two_commas(line: str) -> bool:
    """Return whether commas separate both decimals and fields, so that fields are ambiguous."""
    return bool(_TWO_COMMAS.fullmatch(line))


def line_of(fields: list[str], sep: str) -> CsvPlaces | None:
    """Return the positions in a line with a value; None if it is not such a line."""
    at = 0
    time = scope = cpus = None
    count = len(fields)
    if TIME.fullmatch(fields[0]) or fields[0].strip() == "summary":
        time, at = 0, 1
    if at < count and _is_scope(fields, at):
        scope, at = at, at + 1
        if at + 1 < count and COUNT.fullmatch(fields[at]) and COUNTED.fullmatch(fields[at + 1]):
            cpus, at = at, at + 1
    if at >= count:
        return None
    head = (time, scope, cpus)
    if fields[at] == "":
        return _only_metrics(fields, head, at)
    if not COUNTED.fullmatch(fields[at].strip()) or at + 1 >= count:
        return None
    return _with_value(fields, sep, head, at)


Head = tuple[int | None, int | None, int | None]


def _is_scope(fields: list[str], at: int) -> bool:
    text = fields[at].strip()
    if SCOPE_NAME.fullmatch(text):
        return True
    if COUNTED.fullmatch(text) or not THREAD_NAME.fullmatch(text) or at + 1 >= len(fields):
        return False
    return bool(COUNTED.fullmatch(fields[at + 1]) or fields[at + 1] == "")


def _with_value(fields: list[str], sep: str, head: Head, value: int) -> CsvPlaces | None:
    has_unit = _has_unit(fields, value + 1)
    first = value + 1 + has_unit
    last = _end_of_event(fields, first)
    if last is None or not _EVENT.fullmatch(sep.join(fields[first:last]).strip()):
        return None
    for cgroup in (None, last):
        if (
            cgroup is not None
            and cgroup < len(fields)
            and is_known(spelling_of(fields[cgroup]).key)
        ):
            return None  # another row goes on in it
        if rest := _rest(fields, last if cgroup is None else last + 1):
            error, run, share, metrics = rest
            unit = value + 1 if has_unit else None
            return CsvPlaces(*head, value, unit, (first, last), cgroup, error, run, share, metrics)
    return None


def _has_unit(fields: list[str], at: int) -> bool:
    """Return whether a field is a unit: since Linux 3.14 one, often empty, precedes the event."""
    text = fields[at]
    if text == "" or text in KNOWN_UNITS:
        return True
    if NUMERAL.fullmatch(text):
        return False
    numbers = fields[at + 2 : at + 4]
    if numbers and _ERROR.fullmatch(numbers[0]):
        return True
    return len(numbers) == 2 and all(NUMERAL.fullmatch(number) for number in numbers)


def _end_of_event(fields: list[str], first: int) -> int | None:
    """Find the end of an event: it can contain the separator, ``cpu/event=0xc7,umask=0x1/``."""
    if first >= len(fields):
        return None
    slashes = 0
    for at in range(first, min(len(fields), first + 16)):
        slashes += fields[at].count("/")
        if slashes % 2 == 0:
            return at + 1
    return first + 1 if fields[first].startswith("/") else None


Rest = tuple[int | None, int | None, int | None, tuple[int, ...]]


def _rest(fields: list[str], at: int) -> Rest | None:
    """Return error, running time and metrics from field `at` on; None if there is anything else.

    The percent sign identifies the error: manuals show it after the share, perf prints it before.
    """
    error = run = share = None
    count = len(fields)
    if at < count and _ERROR.fullmatch(fields[at]):
        error, at = at, at + 1
    if at + 1 < count and NUMERAL.fullmatch(fields[at]) and SHARE.fullmatch(fields[at + 1]):
        run, share, at = at, at + 1, at + 2
        if error is None and at < count and _ERROR.fullmatch(fields[at]):
            error, at = at, at + 1
    metrics = _pairs(fields, at)
    return None if metrics is None else (error, run, share, metrics)


def _pairs(fields: list[str], at: int) -> tuple[int, ...] | None:
    """Return the positions of metric values, each followed by its name; both can be blank."""
    for place in range(at, len(fields) - 1, 2):
        value, name = fields[place], fields[place + 1]
        if not METRIC_VALUE.fullmatch(value) or NUMERAL.fullmatch(name) or (value and not name):
            return None
    if (len(fields) - at) % 2 and fields[-1]:
        return None
    return tuple(range(at, len(fields) - 1, 2))


def _only_metrics(fields: list[str], head: Head, at: int) -> CsvPlaces | None:
    """Return the positions in a line with more metrics of the last event, or a group of them."""
    end = len(fields)
    while at < end and fields[at] == "":
        at += 1
    run = share = None
    if at + 1 < end and COUNT.fullmatch(fields[at]) and SHARE.fullmatch(fields[at + 1]):
        run, share, at = at, at + 1, at + 2
        while at < end and fields[at] == "":
            at += 1
    if at == end:
        return CsvPlaces(*head, None, None, (0, 0), None, None, run, share, ())
    if at == end - 1 and not NUMERAL.fullmatch(fields[at]):  # the name of a group, or of a metric
        return CsvPlaces(*head, None, None, (at, at + 1), None, None, run, share, ())
    metrics = _pairs(fields, at) or ()
    known = tuple(place for place in metrics if named(fields[place + 1]))
    return CsvPlaces(*head, None, None, (0, 0), None, None, run, share, known) if known else None
