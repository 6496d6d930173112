"""A class is found by its name: no two public ones share it."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_no_two_public_classes_share_a_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for folder in ("tracekit", "parsers"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            name = str(file.relative_to(ROOT))
            if name.startswith(("tracekit/parsers", "tracekit/queries")):
                continue  # links
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].append(name)
    assert len(places) > 300
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
