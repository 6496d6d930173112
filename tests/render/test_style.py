"""Which styles are taken, and that nothing is fetched, imported or shown to find one."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import matplotlib
import pytest

from tracekit.errors import UsageError
from tracekit.render.figure import look, size_named


def looks(style: str) -> dict[str, object]:
    with look(size_named("page"), style):
        return {key: matplotlib.rcParams[key] for key in ("axes.grid", "axes.facecolor")}


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


def test_a_style_by_name_or_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.b.mplstyle"
    file.write_text("axes.grid: True  # wanted\n\n# nothing\naxes.facecolor: red\n")
    assert looks("dark_background")["axes.facecolor"] == "black"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert looks("~/a.b.mplstyle") == looks(str(file))
    assert looks("default") == {"axes.grid": False, "axes.facecolor": "white"}
    assert looks(str(file)) == {"axes.grid": True, "axes.facecolor": "red"}


@pytest.mark.parametrize(
    "style",
    [
        "http://127.0.0.1:9/x.mplstyle",
        "https://127.0.0.1:9/x",
        "ftp://127.0.0.1:9/x",
        "file:///x",
        "spam.style",
        "nosuch",
        "",
        ".",
        "/dev/zero",
        "~nobody-of-that-name/x",
    ],
)
def test_what_is_no_style_is_neither_fetched_nor_imported(
    style: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spam").mkdir()
    (tmp_path / "spam" / "__init__.py").write_text("raise SystemExit('was imported')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        UsageError, match="matplotlib has no such style, and there is no readable file"
    ):
        looks(style)
    assert "spam" not in sys.modules


def test_the_lines_of_another_file_are_not_shown(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "passwords"
    file.write_text("root:secret:0\nme:secret too:1\naxes.grid: purple\n")
    with pytest.raises(UsageError, match="3 of its lines are not settings") as caught:
        looks(str(file))
    shown = "".join((*capfd.readouterr(), caplog.text, str(caught.value)))
    assert "secret" not in shown
    file.write_bytes(b"\xff\xfe\0")
    with pytest.raises(UsageError, match=r"no style|no such style"):
        looks(str(file))
