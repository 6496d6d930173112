"""The query files: header and SQL, found by their folder, named by their stem."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Annotated, Any, Literal, TypeVar, get_args

import msgspec

from tracekit.errors import QueryError, UsageError
from tracekit.schema import TABLES
from tracekit.typed import convert

Kind = Literal["macro", "view", "report", "finding", "export", "check"]
Topic = Literal[
    "store",
    "time",
    "kernels",
    "operators",
    "counters",
    "memory",
    "ranks",
    "processors",
    "rooflines",
    "sweeps",
    "comparison",
    "other",
]
#: What a report can be about, in the order in which they are listed.
TOPICS: tuple[Topic, ...] = get_args(Topic)
KINDS: tuple[Kind, ...] = get_args(Kind)
#: Columns that every finding has, beside its evidence.
FINDING_COLUMNS = ("win_ns", "elapsed_ns", "source_id", "device_id")

#: Reports by the names they had before.
RENAMED = {
    "op_time": "reported_op_time",
    "op_breakdown": "reported_op_breakdown",
    "op_by_category": "reported_op_by_category",
    "op_roofline_points": "reported_op_roofline_points",
    "op_roofline_ceilings": "reported_op_roofline_ceilings",
    "operator_roofline_points": "attributed_op_roofline_points",
    "operator_roofline_ceilings": "attributed_op_roofline_ceilings",
}
#: What the columns and parameters of several queries mean.
VOCABULARY = "vocabulary.toml"
#: A word before a colon that can only be a type, known or not.
_TYPE = re.compile(r"[A-Z]{5,}")
_WORD = re.compile(r"\w+")
_COMMENT = re.compile(r"--.*")
#: The parameter of macros that restricts rows to some steps.
_PHASE = "wanted_phase"
_CALL = re.compile(r"\b(?P<name>[a-z_]+)\s*\(\s*(?P<given>[^()]*)")
_RUN = re.compile(r"(\$run_id|wanted_run)\b")
_RUN_AND_PHASE = re.compile(r"(\$run_id|wanted_run)\s*,\s*(\$phase|wanted_phase)\b")
_RUN_AND_ALL = re.compile(r"(\$run_id|wanted_run)\s*,\s*'all'")
#: Beginnings of words in SQL that ask for what there is.
_ASKS_WHAT_THERE_IS = ("duckdb_", "information_schema", "pg_", "pragma_", "show", "sqlite_")


Text = Annotated[str, msgspec.Meta(pattern=r"\S")]
#: The types of columns and parameters, with those that a default in a header can have.
_VALUES: dict[str, tuple[type, ...]] = {
    "VARCHAR": (str,),
    "BIGINT": (int,),
    "DOUBLE": (float, int),
    "BOOLEAN": (bool,),
    "TIMESTAMP": (),
}


class Field(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A column or parameter of a query: name, DuckDB type, meaning."""

    name: str
    type: Literal["VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN", "TIMESTAMP"]
    doc: Text


class Parameter(Field, frozen=True, forbid_unknown_fields=True):
    """A parameter: what it is if not given (unless it is required), and its possible values.

    ``chosen_by`` is asked if it is not given: a macro with a row for each value that it can
    have in a store, ``choice_name``, and ``is_chosen`` if no other can be meant.
    """

    default: str | int | float | bool | None = None
    choices: tuple[str, ...] = ()
    optional: bool = False
    chosen_by: Text | None = None

    def __post_init__(self) -> None:
        if self.default is not None and type(self.default) not in _VALUES[self.type]:
            raise ValueError(f"the default {self.default!r} is not a {self.type}")
        if self.choices and self.default is not None and self.default not in self.choices:
            raise ValueError(f"the default {self.default!r} is not one of the choices")

    @property
    def is_required(self) -> bool:
        """It has no default and is not optional."""
        return self.default is None and not self.optional


Entry = TypeVar("Entry", bound=Field)


class Finding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a finding tells people: what is wrong, the evidence, what to do about it.

    ``evidence`` and ``action`` have columns of the finding in braces, with a noun for a count:
    ``{gap_count:gap}``; a part in brackets is omitted if one of its columns is NULL. Columns in
    ``sums`` are sums over the rows of the device, the others those of the row with the most to win.
    ``command`` is the next command, without the program's name, the run and the store. ``pool`` is
    the time that it could win from: findings of one pool overlap.
    """

    title: Text
    evidence: Text
    action: Text
    command: Text
    pool: Literal["idle", "compute", "communication", "copy", "steps", "host", "none"]
    sums: tuple[str, ...] = ()


class _Header(msgspec.Struct):
    """What a header says besides its entries for parameters and columns."""

    purpose: Text
    source: Text
    topic: Topic = "other"
    needs: tuple[str, ...] = ()
    answered_if: str = ""
    depends: tuple[str, ...] = ()
    empty_without: tuple[str, ...] = ()
    is_empty_for_all: bool = False
    is_kept: bool = False
    is_long: bool = False
    parameters: str = ""
    columns: str = ""
    answer: str = ""
    doubts: tuple[str, ...] = ()
    finding: Finding | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """One query file; a macro is an expression, or rows if it has columns.

    ``topic`` is what a report is about: they are listed by it. ``answer`` are the columns that
    answer its question, which a narrow table shows before others.
    ``needs`` are the tables that must have rows for an answer, with ``or`` between those of which
    one is enough. ``answered_if`` is a condition of ``$run_id`` in SQL: a run for which it is not
    true has no answer, although it has these rows. ``depends`` are the views and macros
    of ours it uses, beside ``ratio`` and the tables. A view with ``empty_without`` has no rows
    where these tables have none: what stands upon it is then planned without it. The same applies
    to a macro that ``is_empty_for_all``, for the phase all. Rows of one that
    ``is_kept`` are computed once for a run, and for a phase if it has one: several queries of a
    summary use them, or they are few and planning them takes longer than computing them. One that
    ``is_long`` has a row for each work of a device, and so is kept only if these are not too many.
    Rows of the findings in ``doubts`` put the figures of a report in doubt: their messages become
    its notes. Findings, and only they, have a ``finding``.
    """

    name: str
    kind: Kind
    sql: str
    purpose: str
    source: str
    topic: Topic
    needs: tuple[str, ...]
    answered_if: str
    depends: tuple[str, ...]
    empty_without: tuple[str, ...]
    is_empty_for_all: bool
    is_kept: bool
    is_long: bool
    parameters: tuple[Parameter, ...]
    columns: tuple[Field, ...]
    answer: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    finding: Finding | None = None


@cache
def catalog() -> dict[str, Query]:
    """Every query by name; raises QueryError for a file whose header is wrong."""
    return {name: _query_of(name) for name in _files()}


@cache
def _files() -> dict[str, tuple[Kind, Traversable]]:
    """The file of every query, and its kind, by name."""
    found: dict[str, tuple[Kind, Traversable]] = {}
    for kind in KINDS:
        folder = files("tracekit.queries") / kind
        for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
            if file.name.endswith(".sql"):
                name = file.name.removesuffix(".sql")
                if name in found:
                    raise QueryError(f"two queries are called {name!r}")
                found[name] = kind, file
    return found


@cache
def _query_of(name: str) -> Query:
    """The query called `name`: reading all headers takes longer than most reports."""
    kind, file = _files()[name]
    return _read(file, kind)


def forget() -> None:
    """Read the files again when next asked."""
    for kept in (catalog, definitions, _files, _query_of, _vocabulary):
        kept.cache_clear()


def known(name: str) -> Query | None:
    """The query called `name`, of any kind; None if there is none."""
    return _query_of(name) if name in _files() else None


@cache
def definitions() -> tuple[Query, ...]:
    """The macros and views, each after those it depends on."""
    for query in catalog().values():
        _require_known(query)
    return _in_order({name: _below(name) for name in _files() if _is_definition(name)})


def definitions_for(
    text: str, is_empty: Callable[[Query], bool] = lambda _: False
) -> Sequence[Query]:
    """Of the definitions those that `text` names, and those they depend on, in their order.

    Names are found as words, so there can be more than are needed, and never fewer. Of a `text`
    that asks what there is, all of them. One that `is_empty` needs nothing.
    """
    if asks_what_there_is(text):
        return definitions()
    below = dict[str, set[str]]()
    waiting = {word for word in _words(text) if _is_definition(word)}
    while waiting:
        below |= {name: set() if is_empty(_query_of(name)) else _below(name) for name in waiting}
        waiting = set().union(*below.values()) - set(below)
    return _in_order(below)


@cache
def is_of_one_phase(name: str, *, is_all: bool = False) -> bool:
    """Whether a report and all below it read a single run, in a single phase: those it is asked.

    If `is_all`, it is asked for the phase all, which what is below it may also name.
    """
    query = _query_of(name)
    texts = [query.sql, *(below.sql for below in definitions_for(query.sql))]
    calls = [call for text in texts for call in _CALL.finditer(_COMMENT.sub("", text))]
    return all(_passes_on(call["given"], known(call["name"]), is_all=is_all) for call in calls)


def _passes_on(given: str, called: Query | None, *, is_all: bool) -> bool:
    """Whether a call of a macro gives it the run and the phase that its caller has, if any."""
    names = [p.name for p in called.parameters] if called and called.kind == "macro" else []
    if _PHASE in names:
        is_same = _RUN_AND_PHASE.match(given) is not None
        return is_same or (is_all and _RUN_AND_ALL.match(given) is not None)
    return called is None or not called.is_kept or _RUN.match(given) is not None


def asks_what_there_is(text: str) -> bool:
    """Whether `text` asks for the names of tables, views or macros."""
    return any(word.startswith(_ASKS_WHAT_THERE_IS) for word in _words(text))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _is_definition(name: str) -> bool:
    return name in _files() and _files()[name][0] in ("macro", "view")


def _below(name: str) -> set[str]:
    """The definitions that one stands upon; every query may use ``ratio`` unsaid."""
    query = _query_of(name)
    _require_known(query)
    return {*query.depends, *filter(_is_definition, ["ratio"])} - {name}


def _require_known(query: Query) -> None:
    if unknown := [name for name in query.depends if not _is_definition(name)]:
        raise QueryError(
            f"{query.kind}/{query.name}.sql: depends on {', '.join(sorted(unknown))}, which is "
            "no view and no macro of ours"
        )


def _in_order(below: Mapping[str, set[str]]) -> tuple[Query, ...]:
    order = TopologicalSorter({name: sorted(below[name]) for name in sorted(below)})
    try:
        return tuple(map(_query_of, order.static_order()))
    except CycleError as error:
        raise QueryError(f"queries depend on each other: {' < '.join(error.args[1])}") from error


def query_named(name: str, kind: Kind = "report") -> Query:
    """The query called `name`; QueryError tells the known names, UsageError the new one.

    A finding is also a report: of its evidence.
    """
    if kind == "report" and name in RENAMED:
        raise UsageError(f"{name} is now called {RENAMED[name]}")
    query = known(name)
    kinds: tuple[Kind, ...] = (kind, "finding") if kind == "report" else (kind,)
    if query is None or query.kind not in kinds:
        from difflib import get_close_matches  # only a wrong name needs it

        names = [other for each in kinds for other in _names_of(each)]
        near = "".join(f"did you mean {it!r}? " for it in get_close_matches(name, names, 1, 0.7))
        listed = ", ".join(_names_of(kind))
        raise QueryError(f"there is no {kind} called {name!r}; {near}known: {listed}")
    return query


def tables_of(need: str) -> list[str]:
    """The tables of one of `Query.needs`, of which one must have rows."""
    return need.split(" or ")


def report_names() -> list[str]:
    """The names of all reports."""
    return _names_of("report")


def finding_names() -> list[str]:
    """The names of all findings."""
    return _names_of("finding")


def _names_of(kind: Kind) -> list[str]:
    return [name for name, (of_kind, _) in _files().items() if of_kind == kind]


def _read(file: Traversable, kind: Kind) -> Query:
    try:
        header, sql = split_header(file.read_text("utf-8"))
        return _query(file.name.removesuffix(".sql"), kind, header, sql)
    except ValueError as error:
        raise QueryError(f"{kind}/{file.name}: the header is wrong: {error}") from error


def split_header(text: str) -> tuple[dict[str, Any], str]:
    """Return the header of a query file and its SQL; raise ValueError for what is not TOML."""
    lines = text.splitlines()
    comments = _leading_comments(lines)
    return tomllib.loads("\n".join(_unfolded(comments))), "\n".join(lines[len(comments) :])


def _leading_comments(lines: list[str]) -> list[str]:
    count = next((i for i, line in enumerate(lines) if not line.startswith("--")), len(lines))
    return lines[:count]


_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'")


def _unfolded(comments: Iterable[str]) -> Iterator[str]:
    """The entries of a header, one per line: the formatter folds long comments."""
    entry = ""
    for comment in comments:
        entry = f"{entry} {comment.removeprefix('--').strip()}".strip()
        outside = _STRING.sub("", entry)
        if '"' not in outside and all(
            outside.count(a) <= outside.count(b) for a, b in ("{}", "[]")
        ):
            yield entry
            entry = ""
    yield entry


def _query(name: str, kind: Kind, entries: dict[str, Any], sql: str) -> Query:
    """The query; raises ValueError for a header that does not say what it must."""
    own = {key: entries.pop(key) for key in entries.keys() - set(_Header.__struct_fields__)}
    header = convert(entries, _Header)
    if not name.isidentifier():
        raise ValueError("the file is not called after a name that SQL can have")
    parameters, columns = header.parameters.split(), header.columns.split()
    _require_tables(header)
    if header.answered_if and (kind != "report" or "run_id" not in _names(parameters)):
        raise ValueError("`answered_if` is for reports about a run")
    if header.doubts and (kind != "report" or "run_id" not in _names(parameters)):
        raise ValueError("`doubts` is for reports about a run")
    if unknown := own.keys() - {*parameters, *columns}:
        raise ValueError(f"neither a key nor listed: {', '.join(sorted(unknown))}")
    answer = _distinct("answer", tuple(header.answer.split()))
    if unknown := set(answer) - {*_names(columns)}:
        raise ValueError(f"answer: there is no column {', '.join(sorted(unknown))}")
    if both := own.keys() & set(parameters) & set(columns):
        raise ValueError(f"a parameter and a column share the entry {', '.join(sorted(both))}")
    if (kind == "finding") != (header.finding is not None):
        raise ValueError("`finding` is for findings, and each has it")
    if kind == "finding" and (missing := {*FINDING_COLUMNS} - {*_names(columns)}):
        raise ValueError(f"a finding needs the columns {', '.join(sorted(missing))}")
    text = sql.strip().rstrip(";").rstrip()
    if not text:
        raise ValueError("there is no SQL after it")
    return Query(
        name=name,
        kind=kind,
        sql=text,
        purpose=header.purpose,
        source=header.source,
        topic=header.topic,
        needs=_distinct("needs", header.needs),
        answered_if=header.answered_if,
        depends=_distinct("depends", header.depends),
        empty_without=_distinct("empty_without", header.empty_without),
        is_empty_for_all=header.is_empty_for_all,
        is_kept=header.is_kept,
        is_long=header.is_long,
        parameters=_fields(Parameter, "parameters", parameters, own),
        columns=_fields(Field, "columns", columns, own),
        answer=answer,
        doubts=_distinct("doubts", header.doubts),
        finding=header.finding,
    )


def _require_tables(header: _Header) -> None:
    needed = [table for need in header.needs for table in tables_of(need)]
    for key, tables in (("needs", needed), ("empty_without", header.empty_without)):
        if unknown := set(tables) - set(TABLES):
            raise ValueError(f"{key}: there is no table {', '.join(sorted(unknown))}")


def _names(keys: Iterable[str]) -> tuple[str, ...]:
    """The names of columns or parameters, without the variant of their meaning."""
    return tuple(key.partition("-")[0] for key in keys)


def _distinct(place: str, names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ValueError(f"{place}: a name appears twice")
    return names


def _fields(
    kind: type[Entry], place: str, keys: list[str], own: dict[str, Any]
) -> tuple[Entry, ...]:
    """The fields listed: as the vocabulary has them, or the header, or changed by the header."""
    shared = _vocabulary()[place]
    names = _distinct(place, _names(keys))
    fields = []
    for key, name in zip(keys, names, strict=True):
        try:
            entry = _entry(own.get(key, {}))
            if "type" not in entry:
                entry = shared.get(key, {}) | entry
            if "type" not in entry:
                raise ValueError(f'is not in {VOCABULARY}; add {key} = "TYPE: meaning"')
            fields.append(convert({"name": name, **entry}, kind))
        except ValueError as error:
            raise ValueError(f"{place}: {key}: {error}") from error
    return tuple(fields)


def _entry(value: Any) -> dict[str, Any]:
    """An entry as a table; one that is a string has a meaning, and may have a type before it."""
    if not isinstance(value, str):
        return msgspec.convert(value, dict[str, Any])
    kind, colon, doc = value.partition(": ")
    return {"type": kind, "doc": doc} if colon and _TYPE.fullmatch(kind) else {"doc": value}


@cache
def _vocabulary() -> dict[str, dict[str, dict[str, Any]]]:
    """The entries that queries share, by `NAME` or `NAME-variant`."""
    text = (files("tracekit.queries") / VOCABULARY).read_text("utf-8")
    return {
        part: {key: _entry(value) for key, value in entries.items()}
        for part, entries in tomllib.loads(text).items()
    }
