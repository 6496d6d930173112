from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints

import pytest

from tracekit.errors import UsageError
from tracekit.render import (
    BUILT_IN,
    GROUP,
    RenderOptions,
    is_for_people,
    of_suffix,
    renderer,
    renderer_names,
)
from tracekit.result import Result

OURS = tuple(entry.name for entry in BUILT_IN)


class Shouting:
    """A renderer as another package would have it."""

    name = "shouting"
    is_binary = False
    suffixes = ("loud",)

    def render(self, result: Result, options: RenderOptions) -> bytes:
        return result.name.upper().encode()


class NoRenderer:
    name = "none"


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outputs of other packages: one good, one broken, one no renderer, one with our name."""
    found = EntryPoints(
        EntryPoint(name, value, GROUP)
        for name, value in [
            ("shouting", "fake_package:Shouting"),
            ("broken\x1b", "no_such_package:Renderer"),
            ("odd", "fake_package:NoRenderer"),
            ("csv", "no_such_package:Csv"),
        ]
    )
    monkeypatch.setattr("tracekit.plugins.entry_points", lambda group: found.select(group=group))
    module = type("fake_package", (), {"Shouting": Shouting, "NoRenderer": NoRenderer})
    monkeypatch.setitem(__import__("sys").modules, "fake_package", module)


def test_ours() -> None:
    assert [entry.name for entry in BUILT_IN] == renderer_names()[: len(OURS)]
    for entry in BUILT_IN:
        assert renderer(entry.name).name == entry.name


def test_who_reads_an_output_is_what_it_says_itself() -> None:
    assert {name for name in OURS if is_for_people(name)} >= {"table", "markdown"}
    assert not any(map(is_for_people, ("csv", "json", "parquet")))
    assert [name for name in ("table", "csv", "parquet") if renderer(name).is_binary] == ["parquet"]


@pytest.mark.usefixtures("others")
def test_what_does_not_say_for_whom_it_is_gets_everything() -> None:
    assert not is_for_people("shouting")


@pytest.mark.usefixtures("others")
def test_an_output_is_found_by_the_suffix_of_its_files() -> None:
    asked = ("csv", "md", "markdown", "loud", "shouting", "xlsx")
    found = ["csv", "markdown", "markdown", "shouting", "shouting", "xlsx"]
    assert [of_suffix(suffix) for suffix in asked] == found


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"unknown output format 'x\\x1b'; formats: table, csv,"):
        renderer("x\x1b")


@pytest.mark.usefixtures("others")
def test_other_packages_add_outputs(make_result: object) -> None:
    assert renderer_names() == [*OURS, "broken\x1b", "odd", "shouting"]
    assert isinstance(renderer("shouting"), Shouting)


@pytest.mark.usefixtures("others")
def test_the_known_names_are_inert() -> None:
    with pytest.raises(UsageError) as raised:
        renderer("unknown")
    assert str(raised.value).isprintable()


@pytest.mark.usefixtures("others")
def test_ours_cannot_be_replaced() -> None:
    assert type(renderer("csv")).__module__ == "tracekit.render.csv"


@pytest.mark.usefixtures("others")
def test_a_broken_package_is_named_only_when_it_is_asked_for() -> None:
    assert renderer("table").name == "table"
    message = r"'broken\\x1b' \(no_such_package:Renderer\) cannot be loaded: ModuleNotFound"
    with pytest.raises(UsageError, match=message):
        renderer("broken\x1b")


@pytest.mark.usefixtures("others")
def test_what_lacks_a_method_is_no_renderer() -> None:
    with pytest.raises(UsageError, match=r"fake_package:NoRenderer.* not a renderer"):
        renderer("odd")
