"""Calls of operators, written as a trace has them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tracekit.opmodels import Figures, figures

Ask = Callable[..., Figures]

#: A letter or two for each type in `input_types`.
SPELLINGS = {
    "f": "float",
    "d": "double",
    "h": "c10::Half",
    "b": "c10::BFloat16",
    "i": "int",
    "l": "long int",
    "?": "bool",
    "8": "c10::Float8_e4m3fn",
    "u": "unsigned char",
    "c": "c10::complex<float>",
}


def text_of(value: Any) -> str:
    """A value as it stands in `concrete_inputs`."""
    return "" if value is None else str(value)


def columns(*arguments: Any) -> tuple[str, str, str, str]:
    """The columns of `slice` for some arguments.

    A tensor is `("f", dims)` or `("f", dims, strides)`, a list of tensors `[dims, …]` in a tuple
    with "list" before it; all else is a value.
    """
    dims: list[Any] = []
    types: list[str] = []
    strides: list[Any] = []
    values: list[str] = []
    for argument in arguments:
        is_tensor = isinstance(argument, tuple)
        dims.append([*argument[1]] if is_tensor else [])
        types.append(_spelling(argument))
        strides.append([*argument[2]] if is_tensor and len(argument) > 2 else [])
        values.append("" if is_tensor else text_of(argument))
    return tuple(map(json.dumps, (dims, types, strides, values)))  # type: ignore[return-value]


def _spelling(argument: Any) -> str:
    if isinstance(argument, tuple):
        return "TensorList" if argument[0] == "list" else SPELLINGS[argument[0]]
    if argument is None:
        return ""
    return "ScalarList" if isinstance(argument, Sequence) else "Scalar"


@pytest.fixture(scope="session")
def ask() -> Ask:
    """The figures of an operator called with some arguments; see `columns`."""
    return lambda name, *arguments: figures(name, *columns(*arguments))
