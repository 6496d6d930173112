"""Devices and what is known of each, found by the names that profilers print."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Annotated

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from tracekit import toml_file
from tracekit.errors import UsageError
from tracekit.peaks.ceilings import LAYOUTS, Ceiling, Scope, with_fastest
from tracekit.toml_file import Count, Positive, Text, quoted

#: What `device_key` drops from a name in lower case. SQL does the same to every name with
#: regexp_replace(lower(name), DEVICE_KEY_PATTERN, '', 'g').
DEVICE_KEY_PATTERN = (
    r"^[^a-z0-9]*(nvidia|amd|intel|google)(\(r\)|[^a-z0-9])+"  # a leading vendor
    r"|\((r|tm|[0-9]+)\)"  # trade marks, and the index that nvprof adds to the name
    r"|[^a-z0-9]"
)
_KEY = re.compile(DEVICE_KEY_PATTERN)


_Capability = Annotated[
    str, Meta(pattern=r"\A[0-9]{1,2}\.[0-9]\Z", description="a capability like '8.0'")
]


class DeviceModel(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A device as it is sold, and its ceilings, as a TOML file has them; None is unknown.

    ``scope`` is what the values apply to: a whole board, one package or die of it, or a core.
    Only processors (CPUs) have ``core_count``, the cores in that scope.
    """

    name: Text
    vendor: Text
    aliases: tuple[Text, ...] = ()
    compute_capability: _Capability | None = None
    architecture: Text | None = None
    scope: Scope
    sm_count: Count | None = None
    core_count: Count | None = None
    boost_clock_hz: Positive | None = None
    memory_bytes: Count | None = None
    note: Text | None = None
    ceilings: Annotated[tuple[Ceiling, ...], Meta(min_length=1)] = field(name="ceiling")

    def __post_init__(self) -> None:
        check_name(self.name, "name")
        for alias in self.aliases:
            check_name(alias, "aliases")
        names = [ceiling.name for ceiling in self.ceilings]
        if twice := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"ceiling: {', '.join(sorted(twice))} appears twice")

    @property
    def keys(self) -> tuple[str, ...]:
        """The `device_key` of the name and of each alias, by which a name finds the device."""
        return tuple(device_key(name) for name in (self.name, *self.aliases))

    def ceiling(self, name: str) -> Ceiling | None:
        """The ceiling called `name`, such as ``fp32`` or ``dram``; None if unknown."""
        return next((ceiling for ceiling in self.ceilings if ceiling.name == name), None)


#: The layout of ``device`` in a TOML file.
Devices = Annotated[tuple[DeviceModel, ...], Meta(min_length=1)]


class _OurFile(Struct, forbid_unknown_fields=True):
    device: Devices


@cache
def models() -> tuple[DeviceModel, ...]:
    """The devices of our data file; raises UsageError if the file is wrong."""
    text = (files("tracekit.peaks") / "devices.toml").read_text("utf-8")
    try:
        return checked(toml_file.parsed(text, _OurFile, LAYOUTS).device, user_file=None)
    except ValueError as error:
        raise UsageError(f"devices.toml: {error}") from error


def device_key(name: str) -> str:
    """The part of a device's name that distinguishes it: letters and digits in lower case.

    A leading vendor, trade marks and the index in brackets are dropped, so "NVIDIA A100-SXM4-40GB"
    and "A100-SXM4-40GB (0)" have the same key.
    """
    return _KEY.sub("", name.lower())


@cache
def _by_key() -> dict[str, DeviceModel]:
    return {key: model for model in models() for key in model.keys}


def model_named(name: str) -> DeviceModel | None:
    """The device that a profiler calls `name`; None if no device has that exact name."""
    return _by_key().get(device_key(name))


#: "2x NAME": the number of packages, and the processor.
_SEVERAL = re.compile(r"\s*(\d{1,9})\s*x\s*(.+)", re.ASCII | re.IGNORECASE | re.DOTALL)
_MAX_PACKAGES = 16
_MAX_COMPARED = 80  # letters of a name that `nearest` compares


def device_named(name: str, own: Sequence[DeviceModel] = ()) -> DeviceModel | None:
    """The device that a user calls `name`, one of `own` first; None if unknown.

    "2x NAME" is two packages of one processor, with the sums of their values, unless a device has
    that exact name.

    Raises:
        UsageError: the name counts something else than packages of a processor, or 0 or too many.
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
        what = "not a processor" if one.core_count is None else f"already a {one.scope}"
        raise UsageError(
            f"{quoted(name)}: only packages of a processor can be counted, and "
            f"{quoted(one.name)} is {what}; omit the {match[1]}x"
        )
    if not 1 <= count <= _MAX_PACKAGES:
        raise UsageError(
            f"{quoted(name)}: a node has 1 to {_MAX_PACKAGES} packages, not {count}; "
            f"e.g. '2x {one.name}'"
        )
    return one if count == 1 else _together(one, count)


def _together(one: DeviceModel, count: int) -> DeviceModel:
    """Several packages of a processor as one device."""
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
    """Up to five names of devices that `name` may mean, the most likely first."""
    match = _SEVERAL.fullmatch(name[:_MAX_COMPARED])
    key = device_key(match[2] if match else name[:_MAX_COMPARED])
    within = [known for known in _by_key() if key and key in known]
    close = get_close_matches(key, _by_key(), n=5)
    return list(dict.fromkeys(_by_key()[known].name for known in within + close))[:5]


# -- rules across devices -------------------------------------------------------------------------


def check_name(name: str, place: str) -> None:
    """Raises ValueError for a name that no device can be found by."""
    if not device_key(name):
        raise ValueError(f"{place}: {quoted(name)} has no letter or digit to find it by")


def checked(devices: Devices, user_file: str | None) -> tuple[DeviceModel, ...]:
    """The devices with each precision's ceiling; raises ValueError for two of one name.

    `user_file` is the name of a user's file: the source of ceilings that give none.
    """
    owners: dict[str, str] = {}
    for model in devices:
        for key in model.keys:
            if key in owners:
                raise ValueError(
                    f"{quoted(model.name)}: its name or alias with the key {quoted(key)} is "
                    f"already one of {quoted(owners[key])}; names must differ in letters and digits"
                )
            owners[key] = model.name
    return tuple(
        replace(model, ceilings=with_fastest(tuple(_sourced(model, user_file))))
        for model in devices
    )


def _sourced(model: DeviceModel, user_file: str | None) -> Iterator[Ceiling]:
    """The ceilings, each with its source; our own file must give all that a user may omit."""
    for number, ceiling in enumerate(model.ceilings, 1):
        if user_file is None:
            cited = {"origin": ceiling.origin != "user", "source": ceiling.source}
            for key, is_given in (cited | {"date": ceiling.date}).items():
                if not is_given:
                    place = f"device ({quoted(model.name)}): ceiling {number}"
                    raise ValueError(f"{place} ({quoted(ceiling.name)}): {key}: is missing")
        yield ceiling if ceiling.source else replace(ceiling, source=user_file)
