"""The query files: header and SQL, found by their folder, named by their stem."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Literal

from tracekit.errors import QueryError, UsageError
from tracekit.schema import TABLES

Kind = Literal["macro", "view", "report", "check"]
KINDS: tuple[Kind, ...] = ("macro", "view", "report", "check")

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
_WORD = re.compile(r"\w+")
#: Beginnings of words in SQL that ask for what there is.
_ASKS_WHAT_THERE_IS = ("duckdb_", "information_schema", "pg_", "pragma_", "show", "sqlite_")


@dataclass(frozen=True, slots=True)
class Field:
    """A column or parameter of a query: name, DuckDB type, meaning."""

    name: str
    type: str
    doc: str


@dataclass(frozen=True, slots=True)
class Parameter(Field):
    """A parameter: what it is if not given (unless it has to be), and the values it can have.

    ``chosen_by`` is asked where it is not given: a macro with a row for each value that it can
    have in a store, ``choice_name``, and ``is_chosen`` where no other can be meant.
    """

    is_required: bool = True
    default: str | int | float | bool | None = None
    choices: tuple[str, ...] = ()
    chosen_by: str | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """One query file; a macro is an expression, or rows if it has columns.

    ``needs`` are the tables that must have rows for an answer; ``depends`` the views and macros
    of ours it uses, beside ``ratio`` and the tables. A view with ``empty_without`` has no rows
    where these tables have none: what stands upon it is then planned without it.
    """

    name: str
    kind: Kind
    sql: str
    purpose: str
    source: str
    needs: tuple[str, ...]
    depends: tuple[str, ...]
    empty_without: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    columns: tuple[Field, ...]


@cache
def catalog() -> dict[str, Query]:
    """Every query by name; raises QueryError for a file whose header is wrong."""
    found: dict[str, Query] = {}
    for kind in KINDS:
        folder = files("tracekit.queries") / kind
        for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
            if file.name.endswith(".sql"):
                query = _read(file, kind)
                if query.name in found:
                    raise QueryError(f"two queries are called {query.name!r}")
                found[query.name] = query
    return found


@cache
def definitions() -> tuple[Query, ...]:
    """The macros and views, each after those it depends on."""
    known = {query.name: query for query in catalog().values() if query.kind in ("macro", "view")}
    for query in catalog().values():
        if unknown := set(query.depends) - set(known):
            raise QueryError(
                f"{query.kind}/{query.name}.sql: depends on {', '.join(sorted(unknown))}, which is "
                "no view and no macro of ours"
            )
    first = {"ratio"} & set(known)  # every query may use it unsaid
    order = TopologicalSorter(
        {name: set(query.depends) | first - {name} for name, query in known.items()}
    )
    try:
        return tuple(known[name] for name in order.static_order())
    except CycleError as error:
        raise QueryError(f"queries depend on each other: {' < '.join(error.args[1])}") from error


def definitions_for(text: str) -> Sequence[Query]:
    """Of the definitions those that `text` names, and those they depend on, in their order.

    Names are found as words, so there can be more than are needed, and never fewer. Of a `text`
    that asks what there is, all of them.
    """
    every = definitions()
    words = set(_WORD.findall(text.lower()))
    if any(word.startswith(_ASKS_WHAT_THERE_IS) for word in words):
        return every
    wanted: set[str] = set()
    for query in reversed(every):  # what depends on others stands after them
        if query.name in words or query.name in wanted:
            wanted |= {query.name, *query.depends, "ratio"}
    return [query for query in every if query.name in wanted]


def query_named(name: str, kind: Kind = "report") -> Query:
    """The query called `name`; QueryError tells the known names, UsageError the new one."""
    if kind == "report" and name in RENAMED:
        raise UsageError(f"{name} is now called {RENAMED[name]}")
    query = catalog().get(name)
    if query is None or query.kind != kind:
        known = ", ".join(q.name for q in catalog().values() if q.kind == kind)
        raise QueryError(f"there is no {kind} called {name!r}; known: {known}")
    return query


def _read(file: Traversable, kind: Kind) -> Query:
    try:
        lines = file.read_text("utf-8").splitlines()
        comments = _leading_comments(lines)
        header = tomllib.loads("\n".join(_unfolded(comments)))
        sql = "\n".join(lines[len(comments) :])
        return _query(file.name.removesuffix(".sql"), kind, header, sql)
    except ValueError as error:
        raise QueryError(f"{kind}/{file.name}: the header is wrong: {error}") from error


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


_KEYS = frozenset(
    ("purpose", "source", "needs", "depends", "empty_without", "parameters", "columns")
)
_OF_PARAMETERS = frozenset(("default", "choices", "optional", "chosen_by"))
#: The types of columns and parameters, with those that a default in a header can have.
_VALUES: dict[str, tuple[type, ...]] = {
    "VARCHAR": (str,),
    "BIGINT": (int,),
    "DOUBLE": (float, int),
    "BOOLEAN": (bool,),
    "TIMESTAMP": (),
}


def _query(name: str, kind: Kind, header: dict[str, Any], sql: str) -> Query:
    """The query; raises ValueError for a header that does not say what it must."""
    if unknown := set(header) - _KEYS:
        raise ValueError(f"unknown keys: {', '.join(sorted(unknown))}")
    if not name.isidentifier():
        raise ValueError("the file is not called after a name that SQL can have")
    needs = _names(header, "needs")
    for key in ("needs", "empty_without"):
        if unknown := set(_names(header, key)) - set(TABLES):
            raise ValueError(f"{key}: there is no table {', '.join(sorted(unknown))}")
    text = sql.strip().rstrip(";").rstrip()
    if not text:
        raise ValueError("there is no SQL after it")
    return Query(
        name=name,
        kind=kind,
        sql=text,
        purpose=_text(header, "purpose"),
        source=_text(header, "source"),
        needs=needs,
        depends=_names(header, "depends"),
        empty_without=_names(header, "empty_without"),
        parameters=_parameters(header),
        columns=_fields(header, "columns"),
    )


def _text(entries: dict[str, Any], key: str) -> str:
    value = entries.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{key}: must be a string")
    return value


def _names(header: dict[str, Any], key: str) -> tuple[str, ...]:
    values = header.get(key, [])
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{key}: must be a list of names")
    if len(set(values)) < len(values):
        raise ValueError(f"{key}: a name is there twice")
    return tuple(values)


def _fields(header: dict[str, Any], key: str) -> tuple[Field, ...]:
    entries = header.get(key, {})
    if not isinstance(entries, dict):
        raise ValueError(f"{key}: must be a table")
    return tuple(_field(f"{key}.{name}", name, entry) for name, entry in entries.items())


def _parameters(header: dict[str, Any]) -> tuple[Parameter, ...]:
    entries = header.get("parameters", {})
    if not isinstance(entries, dict):
        raise ValueError("parameters: must be a table")
    return tuple(_parameter(f"parameters.{name}", name, entry) for name, entry in entries.items())


def _parameter(place: str, name: str, entry: Any) -> Parameter:
    if not isinstance(entry, dict):
        raise ValueError(f'{place}: must be {{type = "…", doc = "…"}}')
    own = {key: value for key, value in entry.items() if key in _OF_PARAMETERS}
    field = _field(place, name, {key: entry[key] for key in entry if key not in own})
    choices, default = own.get("choices", []), own.get("default")
    if not isinstance(choices, list) or not all(isinstance(choice, str) for choice in choices):
        raise ValueError(f"{place}: choices: must be a list of strings")
    if default is not None and type(default) not in _VALUES[field.type]:
        raise ValueError(f"{place}: the default {default!r} is no {field.type}")
    if choices and default is not None and default not in choices:
        raise ValueError(f"{place}: the default {default!r} is none of the choices")
    if not isinstance(is_optional := own.get("optional", False), bool):
        raise ValueError(f"{place}: optional: must be true or false")
    chosen_by = _text(own, "chosen_by") if "chosen_by" in own else None
    is_required = default is None and not is_optional
    return Parameter(
        field.name, field.type, field.doc, is_required, default, tuple(choices), chosen_by
    )


def _field(place: str, name: str, entry: Any) -> Field:
    if not isinstance(entry, dict) or set(entry) != {"type", "doc"}:
        raise ValueError(f'{place}: must be {{type = "…", doc = "…"}}')
    if entry["type"] not in _VALUES:
        raise ValueError(f"{place}: the type must be one of {', '.join(sorted(_VALUES))}")
    return Field(name, entry["type"], _text(entry, "doc"))
