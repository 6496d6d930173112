"""Events: what the counters of processors count, from our own data file or from a user's file.

An event counts operations of a precision, or bytes of DRAM. Only a set of events gives a metric:
FP32 operations are the sum of every vector width. The family of a processor lists its sets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypeVar, get_args

from msgspec import Meta, Struct
from msgspec.structs import force_setattr, replace

from tracekit import toml_file
from tracekit.errors import UsageError
from tracekit.spelling import spelling_of
from tracekit.toml_file import Count, Text, quoted

_Quantity = Literal[
    "flop",
    "dram_read",
    "dram_write",
    "dram",
    "blind",
    "active_cycle",
    "reference_cycle",
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
]
_Precision = Literal["fp64", "fp32", "fp16", "any"]
_Width = Literal["scalar", "128", "256", "512", "scalable", "any"]
_Figure = Literal["fp64", "fp32", "fp16", "any", "dram", "dram_read", "dram_write", "blind"]
_Vendor = Literal["Intel", "AMD", "Arm"]

#: No vector instruction does more at a time, nor a transfer to memory.
_MAX_AMOUNT = 1 << 20
_Amount = Annotated[
    float,
    Meta(
        gt=0,
        le=_MAX_AMOUNT,
        description=f"a number above 0, at most {_MAX_AMOUNT}; give what one count stands for, "
        "e.g. 8 operations or 64 bytes",
    ),
]
_Texts = Annotated[tuple[Text, ...], Meta(min_length=1)]


class Event(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An event and what one count of it stands for, as a TOML file has it.

    ``vendor`` is None if processors of several vendors have the event. ``amount`` is operations or
    bytes, for each 128 bits of the vector length if ``per_128_bits``. ``precision`` and ``width``
    are None if ``quantity`` is not ``flop``.
    """

    name: Text
    vendor: _Vendor | None = None
    keys: _Texts = ()
    quantity: _Quantity
    precision: _Precision | None = None
    width: _Width | None = None
    amount: _Amount
    per_128_bits: bool = False
    source: Text = ""

    def __post_init__(self) -> None:
        spellings = (spelling_of(name).key for name in self.keys or (self.name,))
        force_setattr(self, "keys", tuple(dict.fromkeys(spellings)))
        for key in ("precision", "width"):
            if self.quantity == "flop":
                force_setattr(self, key, getattr(self, key) or "any")
            elif getattr(self, key) is not None:
                raise ValueError(f"{key}: only quantity 'flop' has one; omit it")


class EventSet(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Events whose sum is a metric. ``by_family``: only on processors whose family lists it."""

    name: Text
    vendor: _Vendor
    figure: _Figure
    rank: Count
    by_family: bool = False
    events: _Texts

    def __post_init__(self) -> None:
        if len(set(self.events)) < len(self.events):
            raise ValueError("events: an event appears twice")


class Family(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Processors with the same events: their names, and the sets they have.

    ``counters`` is how many events a core counts at a time; ``vector_bits`` is None without
    scalable vectors; ``notes`` say what cannot be measured.
    """

    name: Text
    vendor: _Vendor
    aliases: tuple[Text, ...] = ()
    vector_bits: Count | None = None
    counters: Count | None = None
    sets: tuple[Text, ...]
    notes: tuple[Text, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names):
            raise ValueError("aliases: a name appears twice")

    @property
    def names(self) -> tuple[str, ...]:
        """The name and the aliases."""
        return (self.name, *self.aliases)


class _Sourced(Event, frozen=True, kw_only=True):
    source: Text


class _OurFile(Struct, forbid_unknown_fields=True):
    event: Annotated[tuple[_Sourced, ...], Meta(min_length=1)]
    set: Annotated[tuple[EventSet, ...], Meta(min_length=1)]
    family: Annotated[tuple[Family, ...], Meta(min_length=1)]


class _UserFile(Struct, forbid_unknown_fields=True):
    event: Annotated[tuple[Event, ...], Meta(min_length=1)]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The content of an events file, each by its name."""

    events: dict[str, Event]
    sets: dict[str, EventSet]
    families: dict[str, Family]


@cache
def knowledge() -> Knowledge:
    """The content of our data file; raises UsageError if it is wrong."""
    text = (files("tracekit") / "events.toml").read_text("utf-8")
    try:
        return _knowledge(toml_file.parsed(text, _OurFile, _LAYOUT))
    except ValueError as error:
        raise UsageError(f"events.toml: {error}") from error


# -- rows -----------------------------------------------------------------------------------------


def model_rows() -> list[dict[str, Any]]:
    """Rows of the table `event_model`: one for each known spelling of an event."""
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

    A family without sets has rows with None instead: its processors are known to have none.
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
    """Rows of the table `event_rule`: the events of the user's files (``--events``).

    They are TOML files with [[event]] tables in the layout of ``events.toml``, where ``vendor`` and
    ``source`` are optional. Of several rules for one spelling, that of the last file counts.

    Raises:
        UsageError: a file cannot be read, or is wrong.
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
    """Whether a key is a bare event code of the core."""
    return key.startswith("cpu/event=")


# -- families by name -----------------------------------------------------------------------------


def family_key(name: str) -> str:
    """The part of a family's name that is compared: letters, digits and + in lower case."""
    return re.sub(r"[^a-z0-9+]", "", name.lower())


@cache
def _by_key() -> dict[str, Family]:
    families = knowledge().families.values()
    return {family_key(name): family for family in families for name in family.names}


def family_named(name: str) -> Family | None:
    """The family of that name or alias; None if there is none."""
    return _by_key().get(family_key(name))


def families_like(name: str) -> list[Family]:
    """Other families that `name` may mean: skylake-server for skylake, or similar names."""
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
    """What to measure on a family: its sets by the metric that each gives."""

    family: Family
    sets: dict[str, EventSet]

    def spellings(self, found: EventSet) -> tuple[str, ...]:
        """The events of a set as perf takes them."""
        return tuple(knowledge().events[name].keys[0] for name in found.events)


def command(family: Family) -> Command:
    """The sets that give operations by precision and bytes of DRAM, as far as there are any."""
    best: dict[str, EventSet] = {}
    for found in sorted((knowledge().sets[name] for name in family.sets), key=lambda s: s.rank):
        best.setdefault(found.figure, found)
    has_precisions = "fp32" in best or "fp64" in best
    wanted = ("fp32", "fp64") if has_precisions else ("any",)
    return Command(
        family, {figure: best[figure] for figure in (*wanted, "blind", "dram") if figure in best}
    )


# -- rules across events, sets and families -------------------------------------------------------

_LAYOUT = (
    "a TOML with [[event]] tables, each with name, quantity, amount (of a flop precision, width)"
)
_PRECISIONS = get_args(_Precision)


class _HasName(Protocol):
    @property
    def name(self) -> str: ...


_Entry = TypeVar("_Entry", bound=_HasName)


def _knowledge(file: _OurFile) -> Knowledge:
    events: dict[str, Event] = {**_by_name(file.event, "event")}
    sets, families = _by_name(file.set, "set"), _by_name(file.family, "family")
    _check_keys(events.values())
    for found in sets.values():
        _check_set(found, events)
    for family in families.values():
        _check_family(family, sets, events)
    _check_names(families.values())
    return Knowledge(events, sets, families)


def _by_name(entries: Iterable[_Entry], kind: str) -> dict[str, _Entry]:
    """The entries by name; raises ValueError if a name appears twice."""
    found: dict[str, _Entry] = {}
    for number, entry in enumerate(entries, 1):
        if entry.name in found:
            raise ValueError(f"{kind} {number} ({quoted(entry.name)}): the name appears twice")
        found[entry.name] = entry
    return found


def _check_keys(events: Iterable[Event]) -> None:
    """A name belongs to one event; a bare code to one event of a vendor."""
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
    for name in found.events:
        event = events.get(name)
        if event is None:
            raise ValueError(f"{place}: there is no event {quoted(name)}; add an [[event]]")
        if event.vendor != found.vendor or not _gives(event, found.figure):
            raise ValueError(
                f"{place}: {quoted(name)} counts {event.vendor}'s {event.precision or 'any'} "
                f"{event.quantity}, which is not part of {found.vendor}'s {found.figure}"
            )


def _gives(event: Event, figure: _Figure) -> bool:
    """Whether the event can be part of a sum of that metric."""
    if figure in _PRECISIONS:
        return event.quantity == "flop" and figure in ("any", event.precision)
    return event.quantity == figure or (
        figure == "dram" and event.quantity in ("dram_read", "dram_write")
    )


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
        for name in family.names:
            owner = owners.setdefault(family_key(name), family.name)
            if owner != family.name:
                raise ValueError(
                    f"family {quoted(family.name)}: its name {quoted(name)} is already one of "
                    f"{quoted(owner)}; names must differ in letters and digits"
                )


# -- files of the user's --------------------------------------------------------------------------


def _user_events(path: Path) -> Iterator[Event]:
    text = toml_file.text_of(path, _LAYOUT)
    try:
        events = _by_name(toml_file.parsed(text, _UserFile, _LAYOUT).event, "event").values()
        _check_keys(events)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    for event in events:
        yield event if event.source else replace(event, source=path.name)
