"""Peaks: the maximum rates of devices, from our own data file or from a user's file.

Each value is a named ceiling in base units (FLOP/s, bytes/s, ns) with its source. The names that
profilers print identify the devices; a name that matches none has no peaks, never a guess.
"""

from __future__ import annotations

from tracekit.peaks.assumed import ABOUT_PEAKS, assumptions
from tracekit.peaks.ceilings import NAMES, UNITS, Ceiling
from tracekit.peaks.devices import (
    DEVICE_KEY_PATTERN,
    DeviceModel,
    device_key,
    device_named,
    model_named,
    models,
    nearest,
)
from tracekit.peaks.processors import Processor
from tracekit.peaks.user_files import UserPeaks, read_peaks

__all__ = [
    "ABOUT_PEAKS",
    "DEVICE_KEY_PATTERN",
    "NAMES",
    "UNITS",
    "Ceiling",
    "DeviceModel",
    "Processor",
    "UserPeaks",
    "assumptions",
    "device_key",
    "device_named",
    "model_named",
    "models",
    "nearest",
    "read_peaks",
]
