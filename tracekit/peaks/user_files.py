"""What a ``--peaks`` file says, told apart by its content."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tracekit import toml_file
from tracekit.errors import UsageError
from tracekit.peaks.ceilings import LAYOUTS, NAMES, UNITS, Ceiling, given, value_of
from tracekit.peaks.devices import DeviceModel, devices_of
from tracekit.peaks.ert import ERT_MARK, ert_json, ert_text
from tracekit.peaks.processors import Processor, processor_of
from tracekit.peaks.stream import STREAM_MARK, stream


@dataclass(frozen=True, slots=True)
class UserPeaks:
    """What a ``--peaks`` file gives: devices, or ceilings for whichever device is looked at.

    ``processor`` is what that device is, where the file has it in ``[cpu]``.
    """

    models: tuple[DeviceModel, ...]
    ceilings: tuple[Ceiling, ...]
    processor: Processor | None = None


def read_peaks(path: Path) -> UserPeaks:
    """What a ``--peaks`` file says.

    It is a TOML (devices in the layout of ``devices.toml``, figures under ``[ceilings]`` such as
    ``fp32 = 15.16e12`` and ``launch_overhead_ns = 4200``, or under ``[cpu]`` a processor: see
    `processor_of`), what ERT writes (``sum`` or ``roofline.json``), or the output of STREAM, of
    which the best Triad counts. Of a figure under both ``[cpu]`` and ``[ceilings]`` the latter
    counts.

    Raises:
        UsageError: the file cannot be read, is none of these, or has a figure that cannot be.
    """
    text = toml_file.text_of(path, LAYOUTS)
    try:
        return _peaks_in(text, path.name)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    except RecursionError:
        raise UsageError(f"{path}: is nested too deep to be read; give {LAYOUTS}") from None


def _peaks_in(text: str, file: str) -> UserPeaks:
    """What the text says, told apart by its content; raises ValueError where it is wrong."""
    if text.lstrip().startswith("{"):
        return UserPeaks((), ert_json(text, file))
    if STREAM_MARK.search(text):
        return UserPeaks((), (stream(text, file),))
    if ERT_MARK.search(text):
        return UserPeaks((), ert_text(text, file))
    document = toml_file.document(text, {"device", "ceilings", "cpu"}, LAYOUTS)
    if not document:
        raise ValueError(f"says nothing; give {LAYOUTS}")
    devices = devices_of(document["device"], file) if "device" in document else ()
    ceilings = _flat(document["ceilings"], file) if "ceilings" in document else ()
    if "cpu" not in document:
        return UserPeaks(devices, ceilings)
    processor, computed = processor_of(document["cpu"], file)
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
    value = value_of(value, kind, f"[ceilings] {key}")
    return given(kind, key.removesuffix("_ns"), value, "user", f"{file}, [ceilings] {key}")
