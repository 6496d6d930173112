"""The store that all engines read, and the programs of docs/scale.md that read it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.stores import Known, fill, known
from tests.ingested import Ingested

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scale.md"
NAMED_FILE = re.compile(r"<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="session")
def found(ingested: Ingested) -> Known:
    return known(ingested.made("read by other engines", fill))


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the files of the page, from which they can be imported."""
    folder = tmp_path_factory.mktemp("programs")
    for name, body in NAMED_FILE.findall(PAGE.read_text("utf-8")):
        (folder / name).write_text(body, "utf-8")
    sys.path.insert(0, str(folder))
    try:
        yield folder
    finally:
        sys.path.remove(str(folder))
        for name in ("committed", *(file.stem for file in folder.glob("in_*.py"))):
            sys.modules.pop(name, None)
