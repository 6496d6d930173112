"""The example notebook: its cells run, and show what is stored."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.test_docs import loaded

DOCS = Path(__file__).resolve().parents[1] / "docs"
notebooks: Any = loaded(DOCS / "notebooks.py")


def without_pictures(outputs: Any) -> str:
    """Outputs as text; the bytes of a picture depend on the library that packs them."""
    return re.sub(r"base64,[\w+/=]+", "base64,", json.dumps(outputs))


def test_the_notebook_is_what_its_cells_give() -> None:
    stored = json.loads(notebooks.NOTEBOOK.read_text("utf-8"))
    made = json.loads(notebooks.notebook_of(notebooks.EXAMPLE.read_text("utf-8")))
    assert [cell["source"] for cell in made["cells"]] == [
        cell["source"] for cell in stored["cells"]
    ]
    for made_cell, stored_cell in zip(made["cells"], stored["cells"], strict=True):
        outputs = [without_pictures(cell.get("outputs", [])) for cell in (made_cell, stored_cell)]
        assert outputs[0] == outputs[1], "run `python docs/notebooks.py`, or mend the code"


def test_it_is_a_notebook_with_tables_and_a_picture() -> None:
    stored = json.loads(notebooks.NOTEBOOK.read_text("utf-8"))
    assert (stored["nbformat"], stored["nbformat_minor"]) == (4, 5)
    outputs = [output for cell in stored["cells"] for output in cell.get("outputs", ())]
    shown = [output["data"]["text/html"] for output in outputs]
    assert len(shown) == 5
    assert all("<table" in html for html in shown[:4])
    assert "data:image/png;base64," in shown[4]
    assert "lstm" in shown[0]
    assert "The host launches work too slowly" in shown[1]
