"""Devices: what is known of each, found by the names that profilers print."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any, get_args

from tracekit import toml_file
from tracekit.errors import UsageError
from tracekit.peaks.ceilings import (
    LAYOUTS,
    NAMES,
    UNITS,
    Ceiling,
    Kind,
    Origin,
    Scope,
    clock_of,
    count_of,
    value_of,
    with_fastest,
)
from tracekit.toml_file import quoted

#: What `device_key` drops from a name in lower case. SQL does the same to every name with
#: regexp_replace(lower(name), DEVICE_KEY_PATTERN, '', 'g').
DEVICE_KEY_PATTERN = (
    r"^[^a-z0-9]*(nvidia|amd|intel|google)(\(r\)|[^a-z0-9])+"  # a leading vendor
    r"|\((r|tm|[0-9]+)\)"  # trade marks, and the index that nvprof adds to the name
    r"|[^a-z0-9]"
)
_KEY = re.compile(DEVICE_KEY_PATTERN)


@dataclass(frozen=True, slots=True)
class DeviceModel:
    """A device as it is sold, and its ceilings; None is unknown.

    ``scope`` is what the figures stand for: a whole board, one package or die of it, or a core.
    Processors (CPUs) are told by ``core_count``, the cores in that scope; other devices have none.
    """

    name: str
    vendor: str
    aliases: tuple[str, ...]
    compute_capability: str | None
    architecture: str | None
    scope: Scope
    sm_count: int | None
    core_count: int | None
    boost_clock_hz: float | None
    memory_bytes: int | None
    note: str | None
    ceilings: tuple[Ceiling, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """What names are matched with: the `device_key` of the name and of each alias."""
        return tuple(device_key(name) for name in (self.name, *self.aliases))

    def ceiling(self, name: str) -> Ceiling | None:
        """The ceiling called `name`, such as ``fp32`` or ``dram``; None where it is unknown."""
        return next((ceiling for ceiling in self.ceilings if ceiling.name == name), None)


@cache
def models() -> tuple[DeviceModel, ...]:
    """The devices of our data file; raises UsageError where the file is wrong."""
    text = (files("tracekit.peaks") / "devices.toml").read_text("utf-8")
    try:
        tables = toml_file.document(text, {"device"}, LAYOUTS)
        return devices_of(tables.get("device"), user_file=None)
    except ValueError as error:
        raise UsageError(f"devices.toml: {error}") from error


def device_key(name: str) -> str:
    """The part of a device's name that tells it from others: letters and digits in lower case.

    A leading vendor, trade marks and the index in brackets are dropped, so that "NVIDIA
    A100-SXM4-40GB" and "A100-SXM4-40GB (0)" have one key.
    """
    return _KEY.sub("", name.lower())


@cache
def _by_key() -> dict[str, DeviceModel]:
    return {key: model for model in models() for key in model.keys}


def model_named(name: str) -> DeviceModel | None:
    """The device that a profiler calls `name`; None where no device has that very name."""
    return _by_key().get(device_key(name))


#: "2x NAME": how many packages of which processor.
_SEVERAL = re.compile(r"\s*(\d{1,9})\s*x\s*(.+)", re.ASCII | re.IGNORECASE | re.DOTALL)
_MOST_PACKAGES = 16
_LONGEST_NAME = 80  # that is compared with others


def device_named(name: str, own: Sequence[DeviceModel] = ()) -> DeviceModel | None:
    """The device that a user calls `name`, one of `own` first; None where nobody knows it.

    "2x NAME" is two packages of one processor, with the sums of their figures, unless a device
    has that very name.

    Raises:
        UsageError: it is several of what is no package of a processor, or none or too many.
    """
    return _named(name, own) or _several(name, own)


def _named(name: str, own: Sequence[DeviceModel]) -> DeviceModel | None:
    key = device_key(name)
    return next((model for model in own if key in model.keys), None) or model_named(name)


def _several(name: str, own: Sequence[DeviceModel]) -> DeviceModel | None:
    match = _SEVERAL.fullmatch(name)
    if match is None:
        return None
    count, one = int(match[1]), _named(match[2], own)
    if together := _named(f"{count}x {device_key(match[2])}", own):
        return together
    if one is None:
        return None
    if one.core_count is None or one.scope != "package":
        what = "no processor" if one.core_count is None else f"a {one.scope} already"
        raise UsageError(
            f"{quoted(name)}: only packages of a processor can be counted, and "
            f"{quoted(one.name)} is {what}; give it without the {match[1]}x"
        )
    if not 1 <= count <= _MOST_PACKAGES:
        raise UsageError(
            f"{quoted(name)}: a node has 1 to {_MOST_PACKAGES} packages, not {count}; say how "
            f"many, e.g. '2x {one.name}'"
        )
    return one if count == 1 else _together(one, count)


def _together(one: DeviceModel, count: int) -> DeviceModel:
    """So many packages of a processor as one device."""
    return replace(
        one,
        name=f"{count}x {one.name}",
        aliases=(),
        core_count=one.core_count and one.core_count * count,
        memory_bytes=one.memory_bytes and one.memory_bytes * count,
        ceilings=tuple(
            replace(c, value=c.value * count, origin="computed", source=f"{count} x ({c.source})")
            for c in one.ceilings
        ),
    )


def nearest(name: str) -> list[str]:
    """Up to five names of devices that `name` may have meant, the likeliest first."""
    match = _SEVERAL.fullmatch(name[:_LONGEST_NAME])
    key = device_key(match[2] if match else name[:_LONGEST_NAME])
    within = [known for known in _by_key() if key and key in known]
    close = get_close_matches(key, _by_key(), n=5)
    return list(dict.fromkeys(_by_key()[known].name for known in within + close))[:5]


# -- the layout of devices.toml -------------------------------------------------------------------

_DEVICE_KEYS = {field.name for field in fields(DeviceModel)} - {"ceilings"} | {"ceiling"}
_CEILING_KEYS = {field.name for field in fields(Ceiling)} - {"unit"}
_DATE = re.compile(r"\d{4}(-(0[1-9]|1[0-2]))?", re.ASCII)
_CAPABILITY = re.compile(r"\d{1,2}\.\d", re.ASCII)


def devices_of(entries: object, user_file: str | None) -> tuple[DeviceModel, ...]:
    """The devices; raises ValueError for entries that are wrong or that share a name.

    `user_file` is the name of a user's file, whose ceilings may leave out where they come from.
    """
    if not isinstance(entries, list) or not entries:
        raise ValueError("device: must be a list of tables, each begun with [[device]]")
    found = tuple(
        _device(entry, f"device {number}", user_file) for number, entry in enumerate(entries, 1)
    )
    owners: dict[str, str] = {}
    for model in found:
        for key in model.keys:
            if key in owners:
                raise ValueError(
                    f"{quoted(model.name)}: its name or alias with the key {quoted(key)} is "
                    f"already one of {quoted(owners[key])}; names differ in letters and digits"
                )
            owners[key] = model.name
    return found


def _device(entry: object, place: str, user_file: str | None) -> DeviceModel:
    table = toml_file.table(entry, place)
    name = device_name_of(table.get("name"), f"{place}: name")
    place = f"{place} ({quoted(name)})"
    toml_file.no_others(table, _DEVICE_KEYS, place)
    capability = toml_file.optional_text(table, "compute_capability", place)
    if capability is not None and not _CAPABILITY.fullmatch(capability):
        raise ValueError(f"{place}: compute_capability: {quoted(capability)} is not like '8.0'")
    return DeviceModel(
        name=name,
        vendor=toml_file.text(table.get("vendor"), f"{place}: vendor"),
        aliases=_aliases(table, place),
        compute_capability=capability,
        architecture=toml_file.optional_text(table, "architecture", place),
        scope=toml_file.one_of(table.get("scope"), get_args(Scope), f"{place}: scope"),
        sm_count=count_of(table, "sm_count", place),
        core_count=count_of(table, "core_count", place),
        boost_clock_hz=clock_of(table, "boost_clock_hz", place),
        memory_bytes=count_of(table, "memory_bytes", place),
        note=toml_file.optional_text(table, "note", place),
        ceilings=with_fastest(_ceilings(table.get("ceiling"), place, user_file)),
    )


def device_name_of(value: object, place: str) -> str:
    """A name that a device can be found by; raises ValueError for others."""
    name = toml_file.text(value, place)
    if not device_key(name):
        raise ValueError(f"{place}: {quoted(name)} has no letter or digit to find it by")
    return name


def _aliases(table: dict[str, Any], place: str) -> tuple[str, ...]:
    values = table.get("aliases", [])
    if not isinstance(values, list):
        raise ValueError(f"{place}: aliases: must be a list of names")
    return tuple(device_name_of(value, f"{place}: aliases") for value in values)


def _ceilings(entries: object, place: str, user_file: str | None) -> tuple[Ceiling, ...]:
    if not isinstance(entries, list) or not entries:
        raise ValueError(f"{place}: ceiling: must be a list of tables, with at least one")
    found = tuple(
        _ceiling(entry, f"{place}: ceiling {number}", user_file)
        for number, entry in enumerate(entries, 1)
    )
    names = [ceiling.name for ceiling in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"{place}: the ceiling {', '.join(sorted(twice))} is there twice")
    return found


def _ceiling(entry: object, place: str, user_file: str | None) -> Ceiling:
    table = toml_file.table(entry, place)
    toml_file.no_others(table, _CEILING_KEYS, place)
    kind: Kind = toml_file.one_of(table.get("kind"), tuple(UNITS), f"{place}: kind")
    name = toml_file.one_of(table.get("name"), NAMES[kind], f"{place}: name")
    origin: Origin = toml_file.one_of(
        table.get("origin", user_file and "user"), get_args(Origin), f"{place}: origin"
    )
    date = toml_file.optional_text(table, "date", place)
    if date is None and user_file is None:
        raise ValueError(f"{place}: date: is missing")
    if date is not None and not _DATE.fullmatch(date):
        raise ValueError(f"{place}: date: {quoted(date)} is not like '2020' or '2020-05'")
    return Ceiling(
        kind=kind,
        name=name,
        value=value_of(table.get("value"), kind, f"{place}: value"),
        unit=UNITS[kind],
        origin=origin,
        source=toml_file.text(table.get("source", user_file), f"{place}: source"),
        date=date,
    )
