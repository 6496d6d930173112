"""Events: what the counters of processors count, from our own data file or from one of the user's.

An event gives operations of a precision, or bytes of DRAM. Only a set of events gives a figure:
FP32 is the sum of every vector width. Which sets a processor has, its family says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from tracekit import toml_file
from tracekit.errors import UsageError
from tracekit.spelling import spelling_of
from tracekit.toml_file import quoted

_OF_PROCESSORS = (
    "flop",
    "dram_read",
    "dram_write",
    "dram",
    "blind",
    "active_cycle",
    "reference_cycle",
)
_OF_PROGRAMS = (
    "task_clock",
    "cpu_clock",
    "page_fault",
    "context_switch",
    "cycle",
    "instruction",
    "branch",
    "branch_miss",
    "cache_access",
    "cache_miss",
    "l1d_access",
    "l1d_miss",
    "llc_access",
    "llc_miss",
    "dtlb_access",
    "dtlb_miss",
    "topdown_retiring",
    "topdown_bad_speculation",
    "topdown_frontend",
    "topdown_backend",
)
QUANTITIES = (*_OF_PROCESSORS, *_OF_PROGRAMS)
PRECISIONS = ("fp64", "fp32", "fp16", "any")
WIDTHS = ("scalar", "128", "256", "512", "scalable", "any")
VENDORS = ("Intel", "AMD", "Arm")

#: What the sum of a set can be, and the quantities that its events may count.
FIGURES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(PRECISIONS, ("flop",)),
    "dram": ("dram_read", "dram_write", "dram"),
    "dram_read": ("dram_read",),
    "dram_write": ("dram_write",),
    "blind": ("blind",),
}


@dataclass(frozen=True, slots=True)
class Event:
    """An event, and what one count of it stands for.

    ``vendor`` is None where several vendors' processors have it. ``amount`` is operations or
    bytes, for each 128 bits of the vector length where ``per_128_bits`` says so. ``precision`` and
    ``width`` are None for what is not ``flop``.
    """

    name: str
    vendor: str | None
    keys: tuple[str, ...]
    quantity: str
    precision: str | None
    width: str | None
    amount: float
    per_128_bits: bool
    source: str


@dataclass(frozen=True, slots=True)
class EventSet:
    """Events whose sum is a figure. ``by_family``: only on processors whose family lists it."""

    name: str
    vendor: str
    figure: str
    rank: int
    by_family: bool
    events: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Family:
    """Processors that count the same: their names, and the sets they have.

    ``counters`` is how many events a core counts at a time; ``vector_bits`` is None where it has no
    scalable vectors; ``notes`` say what cannot be had.
    """

    name: str
    vendor: str
    aliases: tuple[str, ...]
    vector_bits: int | None
    counters: int | None
    sets: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Its name and every other one."""
        return (self.name, *self.aliases)


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The content of an events file, each by its name."""

    events: dict[str, Event]
    sets: dict[str, EventSet]
    families: dict[str, Family]


@cache
def knowledge() -> Knowledge:
    """Our data file; raises UsageError where it is wrong."""
    text = (files("tracekit") / "events.toml").read_text("utf-8")
    try:
        return _knowledge(toml_file.document(text, {"event", "set", "family"}, _LAYOUT))
    except ValueError as error:
        raise UsageError(f"events.toml: {error}") from error


# -- rows -----------------------------------------------------------------------------------------


def model_rows() -> list[dict[str, Any]]:
    """Rows of the table `event_model`: one for each spelling of an event that we know."""
    return [row for event in knowledge().events.values() for row in _event_rows(event)]


def set_rows() -> list[dict[str, Any]]:
    """Rows of the table `event_set`: one for each event of a set."""
    return [
        {
            "set_name": s.name,
            "vendor_name": s.vendor,
            "figure_name": s.figure,
            "is_by_family": s.by_family,
            "set_rank": s.rank,
            "event_name": event,
        }
        for s in knowledge().sets.values()
        for event in s.events
    ]


def family_rows() -> list[dict[str, Any]]:
    """Rows of the table `cpu_family`: each name of a family with each of its sets.

    A family without a set has rows with None for it: its processors are known to count nothing.
    """
    return [
        {
            "family_name": family.name,
            "architecture_name": name,
            "vendor_name": family.vendor,
            "set_name": set_name,
            "vector_bits": family.vector_bits,
        }
        for family in knowledge().families.values()
        for name in family.names
        for set_name in family.sets or (None,)
    ]


def rules(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Rows of the table `event_rule`: what files of the user's say (``--events``).

    They are TOML files with [[event]] tables in the layout of ``events.toml``, where ``vendor`` and
    ``source`` may be left out. Of several rules for one spelling that of the last file counts.

    Raises:
        UsageError: a file cannot be read, or says what cannot be.
    """
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for path in paths:
        for event in _user_events(path):
            rows |= {(row["event_key"], row["vendor_name"]): row for row in _event_rows(event)}
    return list(rows.values())


def _event_rows(event: Event) -> Iterator[dict[str, Any]]:
    for key in event.keys:
        yield {
            "event_key": key,
            "event_name": event.name,
            "vendor_name": event.vendor,
            "is_raw": is_raw(key),
            "quantity_kind": event.quantity,
            "precision_name": event.precision,
            "width_name": event.width,
            "amount": event.amount,
            "is_per_128_bits": event.per_128_bits,
            "source_text": event.source,
        }


def is_raw(key: str) -> bool:
    """Whether a key is a bare code of the core's unit."""
    return key.startswith("cpu/event=")


# -- families by name -----------------------------------------------------------------------------


def family_key(name: str) -> str:
    """What names of families are compared by: letters, digits and + in lower case."""
    return re.sub(r"[^a-z0-9+]", "", name.lower())


@cache
def _by_key() -> dict[str, Family]:
    families = knowledge().families.values()
    return {family_key(name): family for family in families for name in family.names}


def family_named(name: str) -> Family | None:
    """The family of that name or alias; None where there is none."""
    return _by_key().get(family_key(name))


def families_like(name: str) -> list[Family]:
    """Other families that `name` may have meant: skylake-server of skylake, or near names."""
    known, key = family_named(name), family_key(name)
    if known is not None:
        kin = re.compile(re.escape(known.name) + r"[-\d].*")
        return [f for f in knowledge().families.values() if kin.fullmatch(f.name)]
    begun = [other for other in _by_key() if key and other.startswith(key)]
    close = begun + get_close_matches(key[:40], _by_key(), n=5)
    return list({_by_key()[other].name: _by_key()[other] for other in close}.values())


# -- what to measure ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Command:
    """What to measure on a family: the sets, by the figure that each gives."""

    family: Family
    sets: dict[str, EventSet]

    def spellings(self, found: EventSet) -> tuple[str, ...]:
        """The events of a set as perf takes them."""
        return tuple(knowledge().events[name].keys[0] for name in found.events)


def command(family: Family) -> Command:
    """The sets that give operations by precision and bytes of DRAM, as far as they can be had."""
    best: dict[str, EventSet] = {}
    for found in sorted((knowledge().sets[name] for name in family.sets), key=lambda s: s.rank):
        best.setdefault(found.figure, found)
    has_precisions = "fp32" in best or "fp64" in best
    wanted = ("fp32", "fp64") if has_precisions else ("any",)
    return Command(
        family, {figure: best[figure] for figure in (*wanted, "blind", "dram") if figure in best}
    )


# -- the layout of events.toml --------------------------------------------------------------------

_LAYOUT = (
    "a TOML with [[event]] tables, each with name, quantity, amount (of a flop precision, width)"
)
_EVENT_KEYS = {field.name for field in fields(Event)}
_SET_KEYS = {field.name for field in fields(EventSet)}
_FAMILY_KEYS = {field.name for field in fields(Family)}

#: No vector instruction, and no transfer to memory, does more than that at a time.
_LARGEST_AMOUNT = 1 << 20


def _knowledge(document: dict[str, Any]) -> Knowledge:
    events = _by_name(_event, document.get("event"), "event")
    sets = _by_name(_set, document.get("set"), "set")
    families = _by_name(_family, document.get("family"), "family")
    _check_keys(events.values())
    for found in sets.values():
        _check_set(found, events)
    for family in families.values():
        _check_family(family, sets, events)
    _check_names(families.values())
    return Knowledge(events, sets, families)


def _by_name(read: Callable[[dict[str, Any], str], Any], entries: object, kind: str) -> Any:
    """What `read` makes of each [[kind]] table, by name; raises ValueError for a name twice."""
    found: dict[str, Any] = {}
    for number, table in enumerate(toml_file.tables(entries, kind), 1):
        name = toml_file.text(table.get("name"), f"{kind} {number}: name")
        place = f"{kind} {number} ({quoted(name)})"
        if name in found:
            raise ValueError(f"{place}: there is another {kind} of that name; names differ")
        found[name] = read(table, place)
    return found


def _event(table: dict[str, Any], place: str) -> Event:
    toml_file.no_others(table, _EVENT_KEYS, place)
    quantity = toml_file.one_of(table.get("quantity"), QUANTITIES, f"{place}: quantity")
    return Event(
        name=table["name"],
        vendor=_vendor(table, place),
        keys=_keys(table, place),
        quantity=quantity,
        precision=_of_flop(table, "precision", PRECISIONS, quantity, place),
        width=_of_flop(table, "width", WIDTHS, quantity, place),
        amount=_amount(table.get("amount"), place),
        per_128_bits=toml_file.flag(table.get("per_128_bits", False), f"{place}: per_128_bits"),
        source=toml_file.text(table.get("source"), f"{place}: source"),
    )


def _vendor(table: dict[str, Any], place: str) -> str | None:
    if "vendor" not in table:
        return None
    return toml_file.one_of(table["vendor"], VENDORS, f"{place}: vendor")


def _of_flop(
    table: dict[str, Any], key: str, known: tuple[str, ...], quantity: str, place: str
) -> str | None:
    if quantity == "flop":
        return toml_file.one_of(table.get(key, "any"), known, f"{place}: {key}")
    if key in table:
        raise ValueError(f"{place}: {key}: only a flop has one; leave it out")
    return None


def _amount(value: object, place: str) -> float:
    amount = toml_file.positive(value, f"{place}: amount")
    if amount > _LARGEST_AMOUNT:
        raise ValueError(
            f"{place}: amount: {amount:g} is not plausible; it is what one count stands for, "
            "e.g. 8 operations or 64 bytes"
        )
    return amount


def _keys(table: dict[str, Any], place: str) -> tuple[str, ...]:
    names = toml_file.texts(table.get("keys", [table["name"]]), f"{place}: keys")
    if not names:
        raise ValueError(f"{place}: keys: is empty; leave it out, or give a spelling of perf's")
    return tuple(dict.fromkeys(spelling_of(name).key for name in names))


def _set(table: dict[str, Any], place: str) -> EventSet:
    toml_file.no_others(table, _SET_KEYS, place)
    rank = table.get("rank")
    if not isinstance(rank, int) or isinstance(rank, bool) or rank < 1:
        raise ValueError(f"{place}: rank: {quoted(rank)} is not a rank; the first is 1")
    return EventSet(
        name=table["name"],
        vendor=toml_file.one_of(table.get("vendor"), VENDORS, f"{place}: vendor"),
        figure=toml_file.one_of(table.get("figure"), tuple(FIGURES), f"{place}: figure"),
        rank=rank,
        by_family=toml_file.flag(table.get("by_family", False), f"{place}: by_family"),
        events=toml_file.texts(table.get("events"), f"{place}: events"),
    )


def _family(table: dict[str, Any], place: str) -> Family:
    toml_file.no_others(table, _FAMILY_KEYS, place)
    return Family(
        name=table["name"],
        vendor=toml_file.one_of(table.get("vendor"), VENDORS, f"{place}: vendor"),
        aliases=toml_file.texts(table.get("aliases", []), f"{place}: aliases"),
        vector_bits=_count(table, "vector_bits", place),
        counters=_count(table, "counters", place),
        sets=toml_file.texts(table.get("sets"), f"{place}: sets"),
        notes=toml_file.texts(table.get("notes", []), f"{place}: notes"),
    )


def _count(table: dict[str, Any], key: str, place: str) -> int | None:
    value = table.get(key)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise ValueError(f"{place}: {key}: {quoted(value)} is not a count")
    return value


# -- what has to hold together --------------------------------------------------------------------


def _check_keys(events: Iterable[Event]) -> None:
    """A name is of one event everywhere; a bare code of one event of a vendor."""
    owners: dict[tuple[str, str | None], str] = {}
    for event in events:
        for key in event.keys:
            owner = owners.setdefault((key, event.vendor if is_raw(key) else None), event.name)
            if owner != event.name:
                raise ValueError(
                    f"event {quoted(event.name)}: its key {quoted(key)} is already one of "
                    f"{quoted(owner)}; a spelling stands for one event"
                )


def _check_set(found: EventSet, events: dict[str, Event]) -> None:
    place = f"set {quoted(found.name)}"
    if not found.events or len(set(found.events)) < len(found.events):
        raise ValueError(f"{place}: events: is empty, or has one twice")
    for name in found.events:
        event = events.get(name)
        if event is None:
            raise ValueError(f"{place}: there is no event {quoted(name)}; add an [[event]]")
        if event.vendor != found.vendor or not _gives(event, found.figure):
            raise ValueError(
                f"{place}: {quoted(name)} is {event.vendor}'s {event.precision or ''} "
                f"{event.quantity}, no part of {found.vendor}'s {found.figure}"
            )


def _gives(event: Event, figure: str) -> bool:
    of_precision = figure not in PRECISIONS or figure in ("any", event.precision)
    return event.quantity in FIGURES[figure] and of_precision


def _check_family(family: Family, sets: dict[str, EventSet], events: dict[str, Event]) -> None:
    place = f"family {quoted(family.name)}"
    ranks: dict[tuple[str, int], str] = {}
    for name in family.sets:
        found = sets.get(name)
        if found is None or found.vendor != family.vendor:
            raise ValueError(f"{place}: sets: {quoted(name)} is not a set of {family.vendor}'s")
        other = ranks.setdefault((found.figure, found.rank), name)
        if other != name:
            raise ValueError(f"{place}: {quoted(other)} and {quoted(name)} have the same rank")
        if family.vector_bits is None and any(events[e].per_128_bits for e in found.events):
            raise ValueError(f"{place}: vector_bits: is missing; {quoted(name)} depends on it")


def _check_names(families: Iterable[Family]) -> None:
    owners: dict[str, str] = {}
    for family in families:
        if len(set(family.names)) < len(family.names):
            raise ValueError(f"family {quoted(family.name)}: aliases: a name is there twice")
        for name in family.names:
            owner = owners.setdefault(family_key(name), family.name)
            if owner != family.name:
                raise ValueError(
                    f"family {quoted(family.name)}: its name {quoted(name)} is already one of "
                    f"{quoted(owner)}; names differ in letters and digits"
                )


# -- files of the user's --------------------------------------------------------------------------


def _user_events(path: Path) -> Iterable[Event]:
    text = toml_file.text_of(path, _LAYOUT)
    try:
        tables = toml_file.document(text, {"event"}, _LAYOUT).get("event")
        for table in toml_file.tables(tables, "event"):
            table.setdefault("source", path.name)
        events: dict[str, Event] = _by_name(_event, tables, "event")
        _check_keys(events.values())
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    return events.values()
