"""Plain values of parameters become what Typer makes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tracekit.cli.app import _command, _name_of, app

NAMES = [_name_of(one) for one in app.registered_commands]
#: Beside these a parameter has its default, which no bound of its own excludes.
VALUES = (None, True, False, "", "a", "7", "a b", "ä", "a\0b", "\udcff", ".", "missing/file")
LISTS = (None, [], (), *([value] for value in VALUES[1:]), ("a", "b"), ["a", "ä"], ["a", None])


def parameters(name: str) -> list[Any]:
    """The parameters of a command and of what is before it."""
    group = _command(name)
    with group.make_context("tracekit", [name], resilient_parsing=True) as context:
        command = group.commands[name]
        return [*group.get_params(context), *command.get_params(context)]


def outcome(converter: Any, value: Any, parameter: Any) -> Any:
    """What it returns, with its type, or the message of its error."""
    try:
        result = converter.coerce(value, param=parameter, ctx=None)
    except Exception as error:  # noqa: BLE001 - any of Typer's
        return type(error), str(error)
    return type(result), result


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_converts_as_typer_does(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plain = [one for one in parameters(name) if "get_runtime_param" in vars(one)]
    assert any(one.name == "help" for one in plain)
    for parameter in plain:
        own = type(parameter).get_runtime_param(parameter)
        values = [*VALUES, Path(), Path("missing"), parameter.default]
        if parameter.nargs == -1 or getattr(parameter, "multiple", False):
            values = [*LISTS, parameter.default]
        for value in values:
            ours = outcome(parameter.get_runtime_param(), value, parameter)
            assert ours == outcome(own, value, parameter), (parameter.name, value)
