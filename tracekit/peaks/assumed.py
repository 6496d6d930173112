"""The user's --device and --peaks as rows of the table `assumption`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tracekit.errors import UsageError
from tracekit.peaks.ceilings import Ceiling
from tracekit.peaks.devices import DeviceModel, device_named, model_named, nearest
from tracekit.peaks.processors import Processor
from tracekit.peaks.user_files import read_peaks

#: Codes of issues: the device or the peaks are not those that were given.
ABOUT_PEAKS = ("ignored_device", "reported_peak")


def assumptions(device_name: str | None, files: Sequence[Path]) -> list[dict[str, Any]]:
    """Rows of the table `assumption` for the device and the peaks that the user gives.

    Of several values for one ceiling, that of the last file counts. If SQL cannot find a device by
    its name (one of the user's, or several packages of one), the rows have its ceilings and its
    processor: ``vendor`` and ``architecture`` (each in `name`) and ``core_count`` (in `value`).
    ``[cpu]`` of a file can give the latter three too.

    Raises:
        UsageError: a file cannot be read, or the device is unknown.
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
        *(
            {
                "assumption_kind": c.kind,
                "name": c.name,
                "value": c.value,
                "unit": c.unit,
                "source_text": c.source,
            }
            for c in ceilings.values()
        ),
    ]


def _facts(of: DeviceModel | Processor, source: str) -> dict[str, dict[str, Any]]:
    """Facts about a processor, by the kind of `assumption`; none about other devices."""
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
    """The device the user means, of theirs or ours; None if only values are given."""
    if name is None:
        if len(own) > 1:
            names = ", ".join(model.name for model in own[:5])
            raise UsageError(
                f"the peaks are for several devices ({names}); choose one with --device"
            )
        return own[0] if own else None
    model = device_named(name, own)
    if model is None and not has_figures:
        close = ", ".join(nearest(name))
        hint = (
            f"did you mean one of: {close}?"
            if close
            else "For known devices, run `tracekit devices`."
        )
        raise UsageError(
            f"--device {name!r}: unknown device; {hint} Or give its peaks with "
            "--peaks FILE (a TOML with [ceilings] or [cpu])"
        )
    return model
