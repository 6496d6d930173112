"""Which changes of single lines of a text file a parser lets pass without a word.

Each line of the measured block is a row, a declared skip or an issue. So a line that is dropped,
doubled or changed shows in what comes out: in rows (without places in the file), skips or issues.
What shows nowhere is a complaint, unless a rule of the format says that it carries nothing.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.parsers.conftest import gathered
from tracekit.errors import FormatError
from tracekit.parser import Parser, Report
from tracekit.source import Source

GARBAGE = "@!garbage 4711 no line of any tool!@"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a file gives: its rows, what is told of the file, skips and issues by their reason."""

    rows: Counter[tuple[Any, ...]]
    facts: tuple[tuple[str, Any], ...] = ()
    issues: tuple[tuple[Any, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """A line before, the lines in its place, and where in the line something changed."""

    kind: str
    index: int
    before: str
    after: tuple[str, ...]
    span: tuple[int, int]
    next_count: int = 0  # lines behind that went into `after` too


@dataclass(frozen=True, slots=True)
class Rule:
    """Changes of these kinds inside a match of `where` carry nothing, for this reason.

    An empty `kinds` stands for all of them. A rule only excuses what leaves the outcome as it was,
    unless it `excuses_loss`: what is left is a whole line, and nothing tells that there was more.
    """

    reason: str
    where: str
    kinds: frozenset[str] = frozenset()
    excuses_loss: bool = False

    def excuses(self, change: Change) -> bool:
        """Whether the changed characters lie in one match."""
        if self.kinds and change.kind not in self.kinds:
            return False
        begin, end = change.span
        matches = re.finditer(self.where, change.before)
        return any(found.start() <= begin and end <= found.end() for found in matches)


BLANK = Rule("a blank line", r"^\s*$")


def outcome_of(parser: Parser, path: Path) -> Outcome:
    """Parse a file; what is refused gives no rows and its refusal as the issue."""
    report = Report()
    try:
        found = gathered(parser.parse(Source.at(path), report), report)
    except FormatError as error:
        text = str(error).replace(str(path), "FILE")
        return Outcome(Counter(), issues=(("refused", text, 1, 0),))
    rows = Counter(
        (table, *((name, value) for name, value in row.items() if not name.endswith("event_id")))
        for table, its_rows in found.rows.items()
        for row in its_rows
    )
    issues = sorted(
        (issue.code, issue.message, issue.occurrence_count, issue.skipped_event_count)
        for issue in report.issues.values()
    )
    return Outcome(rows, tuple(sorted(report.facts.items())), tuple(issues))


# -- changes --------------------------------------------------------------------------------------


def _drop(index: int, line: str, _rng: random.Random) -> Change:
    return Change("drop", index, line, (), (0, len(line)))


def _double(index: int, line: str, _rng: random.Random) -> Change:
    return Change("double", index, line, (line, line), (0, len(line)))


def _insert(index: int, line: str, _rng: random.Random) -> Change:
    return Change("insert", index, line, (line, GARBAGE), (0, len(line)))


def _garbage(index: int, line: str, _rng: random.Random) -> Change:
    return Change("garbage", index, line, (GARBAGE,), (0, len(line)))


def _indent(index: int, line: str, _rng: random.Random) -> Change:
    return Change("indent", index, line, ("  " + line,), (0, 0))


def _cut(index: int, line: str, rng: random.Random) -> Change | None:
    """What is cut off and what stays both have a letter or a digit."""
    words = [found.start() for found in re.finditer(r"\w", line)]
    if len(words) < 2:
        return None
    place = rng.choice(words[1:])
    return Change("cut", index, line, (line[:place],), (place, len(line)))


def _flip(index: int, line: str, rng: random.Random) -> Change | None:
    digits = [found.start() for found in re.finditer(r"[0-9]", line)]
    if not digits:
        return None
    place = rng.choice(digits)
    other = rng.choice([digit for digit in "0123456789" if digit != line[place]])
    return Change(
        "flip", index, line, (line[:place] + other + line[place + 1 :],), (place, place + 1)
    )


def _unfield(separator: str) -> Callable[[int, str, random.Random], Change | None]:
    """Takes a field out that holds a letter or a digit, with a separator beside it."""
    field = re.compile(rf"(?:(?!{separator}).)*\w(?:(?!{separator}).)*(?:{separator}|$)")

    def change(index: int, line: str, rng: random.Random) -> Change | None:
        spans = [found.span() for found in field.finditer(line)]
        if len(spans) < 2:
            return None
        begin, end = rng.choice(spans)
        return Change("unfield", index, line, (line[:begin] + line[end:],), (begin, end))

    return change


def _kinds(separator: str) -> tuple[Callable[[int, str, random.Random], Change | None], ...]:
    return (_drop, _double, _insert, _garbage, _indent, _cut, _flip, _unfield(separator))


def _joined(lines: Sequence[str], index: int) -> Change | None:
    """A line and the next in one; beside a blank line that is the same as without the blank."""
    line, following = lines[index], lines[index + 1] if index + 1 < len(lines) else ""
    if not line.strip() or not following.strip():
        return None
    return Change("join", index, line, (line + following,), (0, len(line)), next_count=1)


def changes(lines: Sequence[str], separator: str, name: str, count: int | None) -> Iterator[Change]:
    """Every change of `count` lines, which `name` picks; None takes every line."""
    rng = random.Random(name)
    every = range(len(lines))
    picked = every if count is None else sorted(rng.sample(every, min(count, len(lines))))
    for index in picked:
        made = [change(index, lines[index], rng) for change in _kinds(separator)]
        yield from (change for change in (*made, _joined(lines, index)) if change is not None)


# -- complaints -----------------------------------------------------------------------------------


@dataclass
class Account:
    """One text file, and what a parser makes of changed copies of it."""

    parser: Parser
    lines: list[str]
    rules: Sequence[Rule]
    folder: Path
    encoding: str = "utf-8"
    end: str = "\n"

    def __post_init__(self) -> None:
        self._original = self._outcome(self.lines)
        self._without: dict[tuple[int, int], Outcome] = {}

    def _outcome(self, lines: Sequence[str]) -> Outcome:
        path = self.folder / "changed"
        text = "\n".join(lines) + self.end
        path.write_bytes(text.encode(self.encoding, "surrogateescape"))
        return outcome_of(self.parser, path)

    def _replaced(self, index: int, count: int, after: Iterable[str]) -> Outcome:
        return self._outcome([*self.lines[:index], *after, *self.lines[index + count :]])

    def _dropped(self, index: int, count: int = 1) -> Outcome:
        if (index, count) not in self._without:
            self._without[index, count] = self._replaced(index, count, ())
        return self._without[index, count]

    def complaints(self, every: Iterable[Change]) -> Iterator[str]:
        """What no row, skip or issue shows, and no rule excuses."""
        for change in every:
            if (what := self._complaint(change)) is not None:
                after = " | ".join(repr(line[:120]) for line in change.after)
                place = f"line {change.index + 1}, {change.kind}: {what}"
                yield f"{place}\n    {change.before[:120]!r}\n -> {after}"

    def _complaint(self, change: Change) -> str | None:
        dropped = self._dropped(change.index)
        is_excused = any(rule.excuses(change) for rule in self.rules)
        if change.kind == "drop":
            is_unseen = dropped == self._original and not is_excused
            return "no row, skip or issue tells the line" if is_unseen else None
        changed = self._replaced(change.index, 1 + change.next_count, change.after)
        if changed == self._original:
            is_told = _only_issues_differ(dropped, self._original) and change.kind != "double"
            is_read = change.kind == "indent" or self._both_count(change)  # as before
            return None if is_told or is_read or is_excused else "the change is not seen"
        if changed in self._swallowing(change) and not is_excused:
            return "what is there now is passed over as if the line were not there"
        is_less = changed.rows.total() < self._original.rows.total()
        if change.next_count:  # a line that is an issue takes the other into it
            every = (dropped, self._dropped(change.index + 1))
            is_less &= not any(_only_issues_differ(one, self._original) for one in every)
        is_whole = any(rule.excuses_loss and rule.excuses(change) for rule in self.rules)
        if is_less and changed.issues == self._original.issues and not is_whole:
            return "rows are gone, and no skip or issue says so"
        return None

    def _both_count(self, change: Change) -> bool:
        """Whether two lines were joined that both tell something."""
        dropped = (self._dropped(change.index), self._dropped(change.index + 1))
        return bool(change.next_count) and self._original not in dropped

    def _swallowing(self, change: Change) -> list[Outcome]:
        """What comes out if a parser passes over what a line was changed to.

        A line whose loss is an issue by itself may be lost, and one that is only an issue still is.
        """
        if change.kind in ("double", "insert"):
            return []
        first, outcomes = self._dropped(change.index), []
        if change.next_count:
            second = self._dropped(change.index + 1)
            outcomes.append(self._dropped(change.index, 2))
            outcomes += [] if _only_issues_differ(first, self._original) else [second]
            outcomes += [] if _only_issues_differ(second, self._original) else [first]
        else:
            outcomes.append(first)
        whole = self._original
        return [lost for lost in outcomes if lost != whole and not _more_issues(lost, whole)]


def _more_issues(one: Outcome, other: Outcome) -> bool:
    """Whether one has an issue that the other has not, or has less often."""
    known = {issue[:2]: issue[2] for issue in other.issues}
    return any(issue[2] > known.get(issue[:2], 0) for issue in one.issues)


def _only_issues_differ(one: Outcome, other: Outcome) -> bool:
    return one.rows == other.rows and one.facts == other.facts and one.issues != other.issues
