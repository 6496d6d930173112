"""Places in the SQL of a query where one small change makes another query."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tracekit.catalog import Query

_TOKEN = re.compile(
    r"""
    (?P<comment>--[^\n]*)
    | (?P<text>'(?:[^']|'')*')
    | (?P<number>\b\d+(?:\.\d+)?(?:e[-+]?\d+)?\b)
    | (?P<phrase>\bis\s+(?:not\s+)?null\b | \bis\s+(?:not\s+)?distinct\s+from\b
        | \b(?:left\s+|cross\s+|semi\s+|anti\s+|asof\s+|full\s+)?join\b)
    | (?P<word>[$\w]+)
    | (?P<operator><> | <= | >= | -> | :: | => | [-+*/<>=])
    | (?P<mark>\|\| | \S)
    """,
    re.VERBOSE | re.IGNORECASE,
)
#: What becomes of a token: each a change that people make by mistake.
_CHANGED = {
    "+": "-",
    "-": "+",
    "*": "+",
    "/": "*",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "=": "<>",
    "<>": "=",
    "and": "or",
    "or": "and",
    "left join": "join",
    "join": "left join",
    "anti join": "semi join",
    "semi join": "anti join",
    "is null": "is not null",
    "is not null": "is null",
    "is distinct from": "is not distinct from",
    "is not distinct from": "is distinct from",
}
#: The same for functions.
_FUNCTIONS = {
    "sum": "max",
    "max": "min",
    "min": "max",
    "avg": "max",
    "arg_min": "arg_max",
    "arg_max": "arg_min",
    "bool_and": "bool_or",
    "bool_or": "bool_and",
    "greatest": "least",
    "least": "greatest",
}
#: After these, `*` is every column and `-` is a sign.
_BEFORE_OPERAND = {"select", "(", ",", ".", "distinct", "return", "then", "else", "when", "->"}
#: After these, a text is a value that rows are chosen by: others are messages and names.
_BEFORE_VALUE = {"=", "<>", "in", "when"}


@dataclass(frozen=True, slots=True)
class Mutation:
    """One changed token of a query; `line_number` is that of its file."""

    query: Query
    start: int
    before: str
    after: str

    @property
    def mutant(self) -> Query:
        """The query with the change."""
        text = self.query.sql
        end = self.start + len(self.before)
        return replace(self.query, sql=text[: self.start] + self.after + text[end:])

    @property
    def marked_line(self) -> str:
        """The line of the change, with the token between guillemets."""
        text, end = self.query.sql, self.start + len(self.before)
        before = text[: self.start].rpartition("\n")[2]
        return f"{before}«{text[self.start : end]}»{text[end:].partition(chr(10))[0]}".strip()

    def line_number(self, file_text: str) -> int:
        """Return the line of the query's file where the change is."""
        header = file_text.count("\n") - self.query.sql.count("\n")
        is_ended = file_text.endswith("\n") and not self.query.sql.endswith("\n")
        return header - is_ended + self.query.sql.count("\n", 0, self.start) + 1


def mutations(query: Query) -> Iterator[Mutation]:
    """Yield the changes that a query can have, in its order."""
    earlier = "", ""
    is_between, depth, lists = False, 0, list[int]()
    for token in _TOKEN.finditer(query.sql):
        text = re.sub(r"\s+", " ", token[0].lower())
        if token.lastgroup == "comment":
            continue
        depth += {"(": 1, ")": -1}.get(text, 0)
        if text == "(" and earlier[1] == "in":
            lists.append(depth)
        elif text == ")" and lists and depth < lists[-1]:
            lists.pop()
        is_range = text == "and" and is_between
        is_between = text == "between" or (is_between and not is_range)
        is_called = query.sql[token.end() :].startswith("(")
        if not is_range:
            after = _after(token.lastgroup, text, earlier[1], bool(lists), is_called=is_called)
            if after is not None:
                yield Mutation(query, token.start(), token[0], after)
        earlier = earlier[1], text


def _after(
    kind: str | None, text: str, earlier: str, is_listed: bool, *, is_called: bool
) -> str | None:
    """Return what becomes of a token after `earlier`; None for one that stays."""
    if kind == "number":
        return str(int(text) + 1) if text.isdecimal() else f"2{text}"
    if kind == "text":
        is_value = earlier in _BEFORE_VALUE or (is_listed and earlier in ("(", ","))
        return "'another'" if is_value else None
    if kind == "operator":
        return None if earlier in _BEFORE_OPERAND and text in "*-+" else _CHANGED.get(text)
    if kind == "word" and is_called:
        return _FUNCTIONS.get(text)
    return _CHANGED.get(text)
