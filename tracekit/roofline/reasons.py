"""Why a value is unknown, in words: ``fp32: not_collected`` means FP32 was not collected."""

from __future__ import annotations

_SUBJECTS = {
    "fp64": "FP64 operations",
    "fp32": "FP32 operations",
    "fp16": "FP16 operations",
    "tensor": "tensor operations",
    "dram": "bytes of DRAM",
    "l2": "bytes of L2",
    "l1": "bytes of L1",
    "duration": "durations",
    "operations": "operations",
    "bytes": "bytes",
}
_STATES = {
    "not_collected": "not collected",
    "not_available": "not available (n/a)",
    "nan": "not a number in the file",
    "text": "no number in the file",
}


def in_words(reason: str) -> str:
    """A `reason` of the report `roofline_points` in words; an unknown reason stays as it is."""
    subject, colon, state = reason.partition(": ")
    if not colon or subject not in _SUBJECTS:
        return reason
    return f"{_SUBJECTS[subject]}: {_STATES.get(state, state)}"


def is_of_time(reason: str) -> bool:
    """Whether only a time is missing."""
    return reason.startswith("duration")
