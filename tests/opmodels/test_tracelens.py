"""The same calls as a peer models them: TraceLens' reports on public traces.

What differs is written down in docs/metrics.md, section Modelled work; all else is equal.
"""

from __future__ import annotations

import ast
import csv
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tracekit.opmodels import Figures, figures


class Row(NamedTuple):
    """A call, and the peer's operations and bytes."""

    name: str
    dims: list[list[int]]
    types: list[str]
    strides: list[list[int]]
    values: list[str]
    flops: int
    accessed: int

    def figures(self) -> Figures:
        parts = (self.dims, self.types, self.strides, self.values)
        return figures(self.name, *map(json.dumps, parts))


def rows(folder: Path) -> Iterator[Row]:
    for file in sorted(folder.glob("*/*.csv")):
        with file.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                end = "_first" if "Input Dims_first" in row else ""
                names = (f"{name}{end}" for name in ("GFLOPS", "Data Moved (MB)", "Input Dims"))
                if all(row.get(name, "nan") not in ("", "nan") for name in names):
                    yield row_of(row, end)


def row_of(row: dict[str, str], end: str) -> Row:
    names = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")
    dims, types, strides, values = (ast.literal_eval(row[f"{name}{end}"]) for name in names)
    flops = round(float(row[f"GFLOPS{end}"]) * 1e9)
    accessed = round(float(row[f"Data Moved (MB){end}"]) * 2**20)
    return Row(row["name"], dims, types, strides, values, flops, accessed)


@pytest.fixture(scope="module")
def reports(corpus: Path) -> list[Row]:
    return list(rows(corpus / "oracles" / "tracelens"))


def of_family(reports: list[Row], *families: str) -> Iterator[tuple[Row, Figures]]:
    pairs = ((row, row.figures()) for row in reports)
    return ((row, found) for row, found in pairs if found.family_name in families)


def test_products(reports: list[Row]) -> None:
    """Theirs count the addition of the bias."""
    pairs = list(of_family(reports, "matmul"))
    for row, found in pairs:
        has_bias = row.name == "aten::addmm"
        added = math.prod((row.dims[1][0], row.dims[2][1])) if has_bias else 0
        assert (found.flop_count, found.accessed_bytes) == (row.flops - added, row.accessed), row
    assert len(pairs) > 80


def test_attention(reports: list[Row]) -> None:
    pairs = list(of_family(reports, "attention"))
    assert all(
        (found.flop_count, found.accessed_bytes) == (row.flops, row.accessed)
        for row, found in pairs
    )
    assert len(pairs) >= 8


def test_convolutions(reports: list[Row]) -> None:
    """Theirs leave the bias out, and forward alone is compared in bytes."""
    pairs = [pair for pair in of_family(reports, "convolution") if "back" not in pair[0].name]
    for row, found in pairs:
        bias = 2 * math.prod(row.dims[2]) if row.dims[2] else 0
        assert (found.flop_count, found.accessed_bytes) == (row.flops, row.accessed + bias), row
    assert len(pairs) >= 15


def test_convolutions_backward(reports: list[Row]) -> None:
    """Theirs read the gradient for each of the two, and always have both."""
    pairs = [pair for pair in of_family(reports, "convolution") if "back" in pair[0].name]
    for row, found in pairs:
        gradient, image, weight = (2 * math.prod(dims) for dims in row.dims[:3])
        wanted = row.values[10].count("True")
        assert found.flop_count == row.flops * wanted // 2, row
        assert row.accessed == 2 * (gradient + image + weight), row
        left_out = 0 if wanted == 2 else image + weight  # [False, True, False]
        assert found.accessed_bytes == row.accessed - gradient - left_out, row
    assert len(pairs) >= 10


def test_element_by_element(reports: list[Row]) -> None:
    """Operations are equal; bytes where all tensors have one type and none is broadcast."""
    same = 0
    for row, found in of_family(reports, "elementwise"):
        assert found.flop_count == row.flops, row
        types = [kind for kind in row.types if kind not in ("", "Scalar")]
        dense = all(stride for strides in row.strides for stride in strides)
        if len({*types}) == 1 and dense and types[0] != "long int":
            assert found.accessed_bytes == row.accessed, row
            same += 1
    assert same > 80


def test_copies(reports: list[Row]) -> None:
    """Theirs count an operation an element; ours none. What a stride of 0 repeats is read once."""
    same = 0
    for row, found in of_family(reports, "data movement"):
        assert found.flop_count == 0
        if row.types[0] == row.types[1]:
            dense = all(stride for strides in row.strides for stride in strides)
            assert (found.accessed_bytes == row.accessed) == dense, row
            same += dense
    assert same > 50
