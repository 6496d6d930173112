"""What other packages add, and what becomes of one that fails."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from tracekit import plugins
from tracekit.charts import chart_named
from tracekit.errors import UsageError
from tracekit.render import renderer


@pytest.mark.parametrize("failure", ["raise SystemExit(3)", "1 / 0", "import no_such_module"])
@pytest.mark.parametrize("find", [renderer, chart_named], ids=["renderer", "chart"])
def test_one_that_fails_when_it_is_imported_ends_nothing(
    failure: str, find: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "their_package.py").write_text(f"{failure}\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(
        plugins, "entry_points", lambda group: [EntryPoint("theirs", "their_package:It", group)]
    )
    assert callable(find)
    with pytest.raises(UsageError, match=r"'theirs' \(their_package:It\) cannot be loaded: "):
        find("theirs")


def test_ours_come_first_and_stay() -> None:
    ours = (EntryPoint("a", "ours:A", "no.such.group"), EntryPoint("a", "other:A", "no.such.group"))
    assert plugins.by_name("no.such.group", ours) == {"a": ours[0]}
    assert plugins.entries("no.such.group", ours) == list(ours)
