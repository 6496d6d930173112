"""Reads a ``--peaks`` file; its content decides which kind of file it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import Struct

from tracekit import toml_file
from tracekit.errors import UsageError
from tracekit.peaks.ceilings import LAYOUTS, NAMES, UNITS, Ceiling, given, value_of
from tracekit.peaks.devices import DeviceModel, Devices, checked
from tracekit.peaks.ert import ERT_MARK, ert_json, ert_text
from tracekit.peaks.processors import Cpu, Processor, processor_of
from tracekit.peaks.stream import STREAM_MARK, stream


@dataclass(frozen=True, slots=True)
class UserPeaks:
    """What a ``--peaks`` file gives: devices, or ceilings for any device.

    ``processor`` is that device if the file has ``[cpu]``.
    """

    models: tuple[DeviceModel, ...]
    ceilings: tuple[Ceiling, ...]
    processor: Processor | None = None


class _Layout(Struct, forbid_unknown_fields=True):
    device: Devices | None = None
    ceilings: dict[str, Any] | None = None
    cpu: Cpu | None = None


def read_peaks(path: Path) -> UserPeaks:
    """The content of a ``--peaks`` file.

    It is a TOML (devices in the layout of ``devices.toml``, values under ``[ceilings]`` such as
    ``fp32 = 15.16e12`` and ``launch_overhead_ns = 4200``, or a processor under ``[cpu]``: see
    `processor_of`), a file of ERT (``sum`` or ``roofline.json``), or the output of STREAM, whose
    best Triad counts. A value under ``[ceilings]`` overrides the one computed from ``[cpu]``.

    Raises:
        UsageError: the file cannot be read, is none of these, or has an impossible value.
    """
    text = toml_file.text_of(path, LAYOUTS)
    try:
        return _peaks_in(text, path.name)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    except RecursionError:
        raise UsageError(f"{path}: is nested too deep; give {LAYOUTS}") from None


def _peaks_in(text: str, file: str) -> UserPeaks:
    """The peaks in the text; raises ValueError if it is wrong."""
    if text.lstrip().startswith("{"):
        return UserPeaks((), ert_json(text, file))
    if STREAM_MARK.search(text):
        return UserPeaks((), (stream(text, file),))
    if ERT_MARK.search(text):
        return UserPeaks((), ert_text(text, file))
    found = toml_file.parsed(text, _Layout, LAYOUTS)
    if found == _Layout():
        raise ValueError(f"has no peaks; give {LAYOUTS}")
    devices = checked(found.device, file) if found.device else ()
    ceilings = () if found.ceilings is None else _flat(found.ceilings, file)
    if found.cpu is None:
        return UserPeaks(devices, ceilings)
    processor, computed = processor_of(found.cpu, file)
    stated = {ceiling.name for ceiling in ceilings}
    return UserPeaks(
        devices, (*(c for c in computed if c.name not in stated), *ceilings), processor
    )


def _flat(table: dict[str, Any], file: str) -> tuple[Ceiling, ...]:
    if not table:
        raise ValueError("[ceilings]: is empty; give at least one, e.g. fp32 = 15.16e12")
    return tuple(_flat_ceiling(key, value, file) for key, value in table.items())


def _flat_ceiling(key: str, value: object, file: str) -> Ceiling:
    known = {name: kind for kind, names in NAMES.items() for name in names}
    # The key of this one has its unit, or 4.2 would be read as microseconds.
    known = {f"{name}_ns" if UNITS[kind] == "ns" else name: kind for name, kind in known.items()}
    kind = known[toml_file.one_of(key, tuple(known), "[ceilings]")]
    value = value_of(value, kind, f"[ceilings] {key}")
    return given(kind, key.removesuffix("_ns"), value, "user", f"{file}, [ceilings] {key}")
