"""Commands that convert plain values themselves: Typer imports pydantic to convert any value.

That import takes a sixth of a short command. If a version of Typer converts values in another way,
nothing changes here.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_origin

from typer.core import TyperCommand, TyperGroup

_KINDS = (bool, float, int, str, Path)


class PlainCommand(TyperCommand):
    """A command whose parameters convert plain values."""

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters, with that for help."""
        return [_converting(parameter) for parameter in super().get_params(ctx)]


class PlainGroup(TyperGroup):
    """The same of the words before the command."""

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters, with that for help."""
        return [_converting(parameter) for parameter in super().get_params(ctx)]


class _Plain:
    """Converts plain values of a parameter, and leaves all others to Typer."""

    def __init__(self, kind: type, of_typer: Callable[[], Any]) -> None:
        self._kind = kind
        self._of_typer = of_typer

    def coerce(self, value: Any, *given: Any, **named: Any) -> Any:
        """Return what Typer would return."""
        if value is None or (type(value) is self._kind and _is_plain(value)):
            return value
        is_path = self._kind is Path and isinstance(value, str | Path)
        if is_path and _is_plain(value) and os.access(value, os.R_OK):  # else Typer says why
            return Path(value)
        return self._of_typer().coerce(value, *given, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of_typer(), name)


class _PlainList(_Plain):
    """The same of a parameter that can be repeated."""

    def coerce(self, value: Any, *given: Any, **named: Any) -> Any:
        """Return what Typer would return."""
        if value is None:
            return ()
        is_text = self._kind is str and all(type(e) is str and _is_plain(e) for e in value)
        if isinstance(value, list | tuple) and (is_text or not value):
            return list(value)
        return self._of_typer().coerce(value, *given, **named)


def _converting(parameter: Any) -> Any:
    """Let a parameter convert plain values; return the parameter."""
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    is_list = parameter.nargs == -1 or getattr(parameter, "multiple", False)
    kinds = get_args(kind) if get_origin(kind) is list and is_list else (kind,)
    is_new = hasattr(parameter, "get_runtime_param") and "get_runtime_param" not in vars(parameter)
    if is_new and is_list == (get_origin(kind) is list) and kinds[0] in _KINDS:
        plain = (_PlainList if is_list else _Plain)(kinds[0], parameter.get_runtime_param)
        parameter.get_runtime_param = lambda: plain
    return parameter


def _is_plain(value: Any) -> bool:
    """Return whether a value has no character that Typer may refuse."""
    text = str(value)
    return text.isascii() and "\0" not in text
