"""Peaks: what a device can do at most, from our own data file or from a file of the user's.

Every figure is a named ceiling in base units (FLOP/s, bytes/s, ns) with its source. Devices are
found by the names that profilers print; a name that fits none has no peaks, never a guess.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args

from tracekit import toml_file
from tracekit.errors import UsageError
from tracekit.events import families_like, family_named
from tracekit.toml_file import quoted, shortened

Kind = Literal["compute", "bandwidth", "launch_overhead"]
Unit = Literal["flop/s", "bytes/s", "ns"]
Origin = Literal["datasheet", "computed", "measured", "user"]
Scope = Literal["board", "package", "gcd", "core"]

#: The unit of each kind of ceiling. `tensor_int8` counts operations, not floating-point ones.
UNITS: dict[Kind, Unit] = {"compute": "flop/s", "bandwidth": "bytes/s", "launch_overhead": "ns"}

_PLAIN = ("fp64", "fp32", "fp16", "bf16")
_TENSOR = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp4", "int8")
_WIDTHS = ("scalar", "sse", "avx2", "avx512")

#: The names that ceilings of each kind can have.
NAMES: dict[Kind, tuple[str, ...]] = {
    "compute": (
        *_PLAIN,
        *(f"tensor_{precision}" for precision in _TENSOR),
        *(f"{precision}_{width}" for precision in ("fp64", "fp32") for width in _WIDTHS),
    ),
    "bandwidth": ("dram", "l4", "l3", "l2", "l1"),
    "launch_overhead": ("launch_overhead",),
}

#: What `device_key` drops from a name in lower case. SQL does the same to every name with
#: regexp_replace(lower(name), DEVICE_KEY_PATTERN, '', 'g').
DEVICE_KEY_PATTERN = (
    r"^[^a-z0-9]*(nvidia|amd|intel|google)(\(r\)|[^a-z0-9])+"  # a leading vendor
    r"|\((r|tm|[0-9]+)\)"  # trade marks, and the index that nvprof adds to the name
    r"|[^a-z0-9]"
)
_KEY = re.compile(DEVICE_KEY_PATTERN)


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The most a device can do of one kind of work.

    ``value`` is in ``unit``, which follows from ``kind``. ``origin`` says how the figure was got:
    printed in a data sheet, computed by the formula in ``source``, measured, or given by the
    user. ``date`` is that of the source; None where a user's file does not say.
    """

    kind: Kind
    name: str
    value: float
    unit: Unit
    origin: Origin
    source: str
    date: str | None


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


@dataclass(frozen=True, slots=True)
class Processor:
    """What a user's file says in ``[cpu]`` of the processor; None is unsaid.

    ``core_count`` is of all sockets.
    """

    name: str | None
    vendor: str | None
    architecture: str | None
    core_count: int
    source: str


@dataclass(frozen=True, slots=True)
class UserPeaks:
    """What a ``--peaks`` file gives: devices, or ceilings for whichever device is looked at.

    ``processor`` is what that device is, where the file has it in ``[cpu]``.
    """

    models: tuple[DeviceModel, ...]
    ceilings: tuple[Ceiling, ...]
    processor: Processor | None = None


# -- devices by name ------------------------------------------------------------------------------


@cache
def models() -> tuple[DeviceModel, ...]:
    """The devices of our data file; raises UsageError where the file is wrong."""
    text = (files("tracekit") / "devices.toml").read_text("utf-8")
    try:
        tables = toml_file.document(text, {"device"}, _LAYOUTS)
        return _devices(tables.get("device"), user_file=None)
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


def assumptions(device_name: str | None, files: Sequence[Path]) -> list[dict[str, Any]]:
    """Rows of the table `assumption` for what the user says of a device.

    Of several figures for one ceiling that of the last file counts. A device that SQL cannot find
    by its name (one of the user's, or several packages of one) has its ceilings in the rows, and
    what processor it is: ``vendor`` and ``architecture`` (each in `name`), ``core_count`` (in
    `value`), which ``[cpu]`` of a file can say as well.

    Raises:
        UsageError: a file cannot be read, or nobody knows the device.
    """
    given = [read_peaks(path) for path in files]
    processor = next((peaks.processor for peaks in reversed(given) if peaks.processor), None)
    name = device_name or (processor.name if processor else None)
    own = [model for peaks in given for model in peaks.models]
    has_figures = processor is not None or any(peaks.ceilings for peaks in given)
    model = _chosen(name, own, has_figures=has_figures)
    source = "--device" if device_name else "--peaks"
    facts, ceilings = dict[str, dict[str, Any]](), dict[str, Ceiling]()
    if model is not None or name is not None:
        facts["device"] = {"name": model.name if model else name, "source_text": source}
    if model is not None and model_named(model.name) is not model:
        facts |= _facts(model, source)
        ceilings |= {c.name: c for c in model.ceilings}
    if processor is not None:
        facts |= _facts(processor, processor.source)
    ceilings |= {c.name: c for peaks in given for c in peaks.ceilings}
    return [
        *({"assumption_kind": kind} | row for kind, row in facts.items()),
        *({"assumption_kind": c.kind, "name": c.name, "value": c.value, "unit": c.unit,
           "source_text": c.source} for c in ceilings.values()),
    ]  # fmt: skip


def _facts(of: DeviceModel | Processor, source: str) -> dict[str, dict[str, Any]]:
    """What is known of a processor, by the kind of `assumption`; nothing of other devices."""
    if of.core_count is None:
        return {}
    names = {"vendor": of.vendor, "architecture": of.architecture}
    return {
        **{kind: {"name": name, "source_text": source} for kind, name in names.items() if name},
        "core_count": {"value": float(of.core_count), "source_text": source},
    }


def _chosen(
    name: str | None, own: Sequence[DeviceModel], *, has_figures: bool
) -> DeviceModel | None:
    """The device meant, of the user's or of ours; None where only figures are given."""
    if name is None:
        if len(own) > 1:
            names = ", ".join(model.name for model in own[:5])
            raise UsageError(f"the peaks are of several devices ({names}); say which: --device")
        return own[0] if own else None
    model = device_named(name, own)
    if model is None and not has_figures:
        close = ", ".join(nearest(name))
        hint = f"is it one of: {close}?" if close else "`tracekit devices` lists those known."
        raise UsageError(
            f"--device {name!r}: no device of that name is known; {hint} Or give its figures with "
            "--peaks FILE (a TOML with [ceilings] or [cpu])"
        )
    return model


# -- the layout of devices.toml -------------------------------------------------------------------

_DEVICE_KEYS = {field.name for field in fields(DeviceModel)} - {"ceilings"} | {"ceiling"}
_CEILING_KEYS = {field.name for field in fields(Ceiling)} - {"unit"}
_DATE = re.compile(r"\d{4}(-(0[1-9]|1[0-2]))?", re.ASCII)
_CAPABILITY = re.compile(r"\d{1,2}\.\d", re.ASCII)

#: No device is slower than that, so a smaller figure was meant in TFLOP/s or GB/s.
_LEAST_RATE = 1e6


def _devices(entries: object, user_file: str | None) -> tuple[DeviceModel, ...]:
    """The devices; raises ValueError for entries that are wrong or that share a name.

    `user_file` is the name of a user's file, whose ceilings may leave out where they come from.
    """
    if not isinstance(entries, list) or not entries:
        raise ValueError("device: is to be a list of tables, each begun with [[device]]")
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
    name = _device_name(table.get("name"), f"{place}: name")
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
        sm_count=_count(table, "sm_count", place),
        core_count=_count(table, "core_count", place),
        boost_clock_hz=_clock(table, "boost_clock_hz", place),
        memory_bytes=_count(table, "memory_bytes", place),
        note=toml_file.optional_text(table, "note", place),
        ceilings=_with_fastest(_ceilings(table.get("ceiling"), place, user_file)),
    )


def _device_name(value: object, place: str) -> str:
    name = toml_file.text(value, place)
    if not device_key(name):
        raise ValueError(f"{place}: {quoted(name)} has no letter or digit to find it by")
    return name


def _aliases(table: dict[str, Any], place: str) -> tuple[str, ...]:
    values = table.get("aliases", [])
    if not isinstance(values, list):
        raise ValueError(f"{place}: aliases: is to be a list of names")
    return tuple(_device_name(value, f"{place}: aliases") for value in values)


def _ceilings(entries: object, place: str, user_file: str | None) -> tuple[Ceiling, ...]:
    if not isinstance(entries, list) or not entries:
        raise ValueError(f"{place}: ceiling: is to be a list of tables, with at least one")
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
        value=_value(table.get("value"), kind, f"{place}: value"),
        unit=UNITS[kind],
        origin=origin,
        source=toml_file.text(table.get("source", user_file), f"{place}: source"),
        date=date,
    )


# -- files of the user's --------------------------------------------------------------------------

_LAYOUTS = (
    "a TOML with [ceilings], [cpu] or [[device]], ERT's sum or roofline.json, or STREAM's output"
)


def read_peaks(path: Path) -> UserPeaks:
    """What a ``--peaks`` file says.

    It is a TOML (devices in the layout of ``devices.toml``, figures under ``[ceilings]`` such as
    ``fp32 = 15.16e12`` and ``launch_overhead_ns = 4200``, or under ``[cpu]`` a processor: see
    `_cpu`), what ERT writes (``sum`` or ``roofline.json``), or the output of STREAM, of which the
    best Triad counts. Of a figure under both ``[cpu]`` and ``[ceilings]`` the latter counts.

    Raises:
        UsageError: the file cannot be read, is none of these, or has a figure that cannot be.
    """
    text = toml_file.text_of(path, _LAYOUTS)
    try:
        return _peaks_in(text, path.name)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    except RecursionError:
        raise UsageError(f"{path}: is nested too deep to be read; give {_LAYOUTS}") from None


def _peaks_in(text: str, file: str) -> UserPeaks:
    """What the text says, told apart by its content; raises ValueError where it is wrong."""
    if text.lstrip().startswith("{"):
        return UserPeaks((), _ert_json(text, file))
    if _STREAM_MARK.search(text):
        return UserPeaks((), (_stream(text, file),))
    if _ERT_MARK.search(text):
        return UserPeaks((), _ert_text(text, file))
    document = toml_file.document(text, {"device", "ceilings", "cpu"}, _LAYOUTS)
    if not document:
        raise ValueError(f"says nothing; give {_LAYOUTS}")
    devices = _devices(document["device"], file) if "device" in document else ()
    ceilings = _flat(document["ceilings"], file) if "ceilings" in document else ()
    if "cpu" not in document:
        return UserPeaks(devices, ceilings)
    processor, computed = _cpu(document["cpu"], file)
    stated = {ceiling.name for ceiling in ceilings}
    return UserPeaks(
        devices, (*(c for c in computed if c.name not in stated), *ceilings), processor
    )


def _flat(entries: object, file: str) -> tuple[Ceiling, ...]:
    table = toml_file.table(entries, "ceilings")
    if not table:
        raise ValueError("[ceilings]: is empty; give at least one, e.g. fp32 = 15.16e12")
    return tuple(_flat_ceiling(key, value, file) for key, value in table.items())


def _flat_ceiling(key: str, value: object, file: str) -> Ceiling:
    known = {name: kind for kind, names in NAMES.items() for name in names}
    # The unit of this one is in its key: 4.2 would be read as microseconds otherwise.
    known = {f"{name}_ns" if UNITS[kind] == "ns" else name: kind for name, kind in known.items()}
    kind = known[toml_file.one_of(key, tuple(known), "[ceilings]")]
    value = _value(value, kind, f"[ceilings] {key}")
    return _given(kind, key.removesuffix("_ns"), value, "user", f"{file}, [ceilings] {key}")


def _given(kind: Kind, name: str, value: float, origin: Origin, source: str) -> Ceiling:
    return Ceiling(kind, name, value, UNITS[kind], origin, source, None)


# -- processors ----------------------------------------------------------------------------------

_PRECISION_BITS = {"fp64": 64, "fp32": 32}
_WIDTH_BITS = {"sse": 128, "avx2": 256, "avx512": 512}
_RATE_KEYS = ("clock_hz", "units", "has_fma")
_CPU_KEYS = ("name", "vendor", "architecture", "sockets", "cores_per_socket", *_RATE_KEYS, *_WIDTHS)

#: No processor is clocked slower, so a smaller figure was meant in MHz or GHz.
_LEAST_CLOCK = 1e6


def _cpu(entry: object, file: str) -> tuple[Processor, tuple[Ceiling, ...]]:
    """The processor of ``[cpu]``, and the ceilings of the widths that it has.

    A width is there by a table of its own, such as ``[cpu.avx2]``. Each has ``clock_hz``, ``units``
    (instructions of that width that a core can begin in a cycle) and ``has_fma`` (whether each can
    be a fused multiply-add, which counts as two operations); what its table leaves out is that of
    ``[cpu]``.
    """
    table = toml_file.table(entry, "[cpu]")
    toml_file.no_others(table, _CPU_KEYS, "[cpu]")
    sockets = _present(table, "sockets", "[cpu]")
    cores = _present(table, "cores_per_socket", "[cpu]")
    widths = [width for width in _WIDTHS if width in table]
    if not widths and (idle := [key for key in _RATE_KEYS if key in table]):
        raise ValueError(
            f"[cpu]: {idle[0]} is of no vector width; add a table for each that the processor has, "
            f"e.g. [cpu.avx2]; known: {', '.join(_WIDTHS)}"
        )
    processor = Processor(
        name=_device_name(table["name"], "[cpu]: name") if "name" in table else None,
        vendor=toml_file.optional_text(table, "vendor", "[cpu]"),
        architecture=_family(table),
        core_count=sockets * cores,
        source=f"{file}, [cpu]",
    )
    written = f"{_many(sockets, 'socket')} x {_many(cores, 'core')}"
    found = [
        ceiling
        for width in widths
        for ceiling in _width(table, width, (sockets * cores, written), file)
    ]
    return processor, _with_fastest(tuple(found))


def _family(table: dict[str, Any]) -> str | None:
    """The family that ``architecture`` names, by which events are known."""
    name = toml_file.optional_text(table, "architecture", "[cpu]")
    if name is None:
        return None
    family = family_named(name)
    if family is None:
        close = ", ".join(near.name for near in families_like(name)[:5])
        hint = f"is it one of: {close}? Or" if close else "rather"
        raise ValueError(
            f"[cpu]: architecture: no family of events is called {quoted(name)}; {hint} leave it "
            "out"
        )
    return family.name


def _width(
    table: dict[str, Any], width: str, cores: tuple[int, str], file: str
) -> Iterator[Ceiling]:
    """The ceilings of one vector width; `cores` are how many, and how that is written."""
    place = f"[cpu.{width}]"
    own = toml_file.table(table[width], place)
    toml_file.no_others(own, _RATE_KEYS, place)
    rates = {key: table[key] for key in _RATE_KEYS if key in table} | own
    clock, units, has_fma = _rates(rates, place)
    for precision, bits in _PRECISION_BITS.items():
        lanes = _WIDTH_BITS[width] // bits if width in _WIDTH_BITS else 1
        flop = units * lanes * (2 if has_fma else 1)
        formula = f"{cores[1]} x {clock / 1e9:.10g} GHz x {_many(units, 'unit')}"
        formula += f" x {_many(lanes, 'lane')}"
        source = f"{file}, {place}: {formula}{' x 2 (FMA)' if has_fma else ''}"
        value = _value(cores[0] * flop * clock, "compute", place)
        yield _given("compute", f"{precision}_{width}", value, "user", source)


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _rates(rates: dict[str, Any], place: str) -> tuple[float, int, bool]:
    """Clock, units and whether they have FMA; each is to be there."""
    units = _present(rates, "units", place)
    clock = _clock(rates, "clock_hz", place)
    if clock is None:
        raise ValueError(f"{place}: clock_hz: is missing; give it here or in [cpu]")
    if clock < _LEAST_CLOCK:
        raise ValueError(f"{place}: clock_hz: {clock:g} Hz cannot be meant; 3.7 GHz is 3.7e9")
    has_fma = rates.get("has_fma")
    if not isinstance(has_fma, bool):
        raise ValueError(f"{place}: has_fma: is to be true or false, here or in [cpu]")
    return clock, units, has_fma


def _present(table: dict[str, Any], key: str, place: str) -> int:
    """A count that has to be there."""
    count = _count(table, key, place)
    if count is None:
        raise ValueError(f"{place}: {key}: is missing")
    return count


def _with_fastest(ceilings: tuple[Ceiling, ...]) -> tuple[Ceiling, ...]:
    """The ceilings, with that of the fastest vector width as the one of each precision.

    So ``fp32`` is what a processor can do at most; a figure that is given for it stays.
    """
    names = {ceiling.name for ceiling in ceilings}
    fastest = []
    for precision in _PRECISION_BITS:
        widths = [c for c in ceilings if c.name in {f"{precision}_{width}" for width in _WIDTHS}]
        if widths and precision not in names:
            best = max(widths, key=lambda ceiling: ceiling.value)
            fastest.append(replace(best, name=precision, source=f"{best.source}; as {best.name}"))
    return (*ceilings, *fastest)


# -- ERT ------------------------------------------------------------------------------------------

_ERT_LINE = re.compile(r"^\s*(\S+)\s+((?:\w+\s+)?GFLOPs|DRAM|L\d+)\s*$")
_ERT_MARK = re.compile(r"^META_DATA[ \t]*\r?$|^[ \t]*[\d.]+[ \t]+(\w+[ \t]+)?GFLOPs\b", re.M)
_ERT_PRECISION = re.compile(r"ERT_(?:PRECISION\W+)?(FP64|FP32|FP16)\b")
_ERT_VERSION = re.compile(r"ERT_VERSION\W+([\d.]+)")


def _ert_text(text: str, file: str) -> tuple[Ceiling, ...]:
    rows = [
        (f"{file}, line {number}", match[2], match[1])
        for number, line in enumerate(text.split("\n"), 1)
        if (match := _ERT_LINE.match(line))
    ]
    if not rows:
        raise ValueError("is raw output of ERT; give the file called sum, or roofline.json")
    return _best(_ert_ceiling(*row, text) for row in rows)


def _ert_json(text: str, file: str) -> tuple[Ceiling, ...]:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ValueError(f"is no JSON: {shortened(str(error))}; give {_LAYOUTS}") from error
    empirical = toml_file.table(toml_file.table(document, "the file").get("empirical"), "empirical")
    rows = list(_ert_rows(empirical, file))
    if not rows:
        raise ValueError("empirical: ERT's database has no figure; run ERT to its end")
    return _best(_ert_ceiling(*row, text) for row in rows)


def _ert_rows(empirical: dict[str, Any], file: str) -> Iterator[tuple[str, str, object]]:
    for group in ("gflops", "gbytes"):
        place = f"empirical.{group}"
        data = toml_file.table(empirical.get(group), place).get("data")
        if not isinstance(data, list):
            raise ValueError(f"{place}.data: is to be a list of [label, figure]")
        for row in data:
            if not isinstance(row, list) or len(row) != 2 or not isinstance(row[0], str):
                raise ValueError(f"{place}.data: {quoted(row)} is not [label, figure]")
            yield f"{file}, {place}", row[0], row[1]


def _ert_ceiling(place: str, label: str, figure: object, text: str) -> Ceiling:
    """One line of ERT's: GFLOP/s of a precision, or GB/s of a level; both are decimal."""
    if label.endswith("GFLOPs"):
        kind: Kind = "compute"
        name, remark = _ert_precision(label, text, place)
    else:
        kind, name, remark = "bandwidth", label.lower(), ""
    name = toml_file.one_of(name, NAMES[kind], place)
    number = _number(figure, f"{place}: {label}")
    source = f"{place}: ERT, {number:.10g} {label}{remark}"
    return _given(kind, name, _value(number * 1e9, kind, place), "measured", source)


def _ert_precision(label: str, text: str, place: str) -> tuple[str, str]:
    """The precision of a GFLOP/s figure, and what is to be said of how it is known."""
    if stated := label.removesuffix("GFLOPs").strip():
        return toml_file.one_of(stated.lower(), _PLAIN, place), ""
    settings = set(_ERT_PRECISION.findall(text))
    if len(settings) == 1:
        return settings.pop().lower(), ""
    version = _ERT_VERSION.search(text)
    if not settings and version and version[1].startswith(("1.0", "1.1")):
        return "fp64", f"; taken as fp64: the kernels of ERT {version[1]} compute in double"
    raise ValueError(
        f"{place}: ERT does not say of which precision these GFLOPs are; write them in a TOML, "
        "e.g. [ceilings] fp32 = 15.16e12"
    )


def _best(ceilings: Iterable[Ceiling]) -> tuple[Ceiling, ...]:
    """The highest of each name: files joined from several runs have more than one."""
    best: dict[str, Ceiling] = {}
    for ceiling in ceilings:
        if ceiling.name not in best or ceiling.value > best[ceiling.name].value:
            best[ceiling.name] = ceiling
    return tuple(best.values())


# -- STREAM ---------------------------------------------------------------------------------------

_STREAM_MARK = re.compile(r"^Function[ \t]+(Best[ \t]+)?Rate\b|^STREAM version\b", re.M)
_STREAM_UNIT = re.compile(r"^Function\b.*\bMB/s", re.M)
_TRIAD = re.compile(r"Triad:\s*(\S+)")


def _stream(text: str, file: str) -> Ceiling:
    if "Failed Validation" in text:
        raise ValueError("STREAM says that its results are wrong (Failed Validation); run it again")
    if not _STREAM_UNIT.search(text):
        raise ValueError("STREAM's table of rates in MB/s is missing; give its whole output")
    rows = [
        (f"{file}, line {number}", match[1])
        for number, line in enumerate(text.split("\n"), 1)
        if (match := _TRIAD.match(line))
    ]
    if not rows:
        raise ValueError("STREAM's line Triad: is missing; give its whole output")
    return _best(_triad(*row) for row in rows)[0]


def _triad(place: str, figure: str) -> Ceiling:
    number = _number(figure, f"{place}: Triad")
    value = _value(number * 1e6, "bandwidth", place)
    source = f"{place}: STREAM Triad, {number:.10g} MB/s"
    return _given("bandwidth", "dram", value, "measured", source)


# -- values ---------------------------------------------------------------------------------------


def _count(table: dict[str, Any], key: str, place: str) -> int | None:
    value = table.get(key)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 1 << 63:
        raise ValueError(f"{place}: {key}: {quoted(value)} is no count")
    return value


def _clock(table: dict[str, Any], key: str, place: str) -> float | None:
    value = table.get(key)
    return None if value is None else toml_file.positive(value, f"{place}: {key}")


def _number(value: object, place: str) -> float:
    """A number above 0, written as text or as a number."""
    try:
        return toml_file.positive(float(value) if isinstance(value, str) else value, place)
    except ValueError as error:
        raise ValueError(f"{place}: {quoted(value)} is no number above 0") from error


def _value(value: object, kind: Kind, place: str) -> float:
    """A figure in base units; raises ValueError for what no device can have."""
    number = toml_file.positive(value, place)
    if kind != "launch_overhead" and number < _LEAST_RATE:
        raise ValueError(
            f"{place}: {number:g} {UNITS[kind]} cannot be meant; figures are in {UNITS[kind]}, "
            "e.g. 15.16e12 for 15.16 TFLOP/s, 828.8e9 for 828.8 GB/s"
        )
    return number
