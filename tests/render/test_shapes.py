"""Shapes of operators as people write them."""

# ruff: noqa: RUF001 - the sign of multiplication

from __future__ import annotations

import pytest

from tracekit.render.columns import readable_columns
from tracekit.render.shapes import compact_shapes
from tracekit.result import Result

SHAPES = {
    "[[64,128],[128,256]]": "[64,128]·[128,256]",
    "[\n  [\n 16,\n 8\n ],\n [],\n []\n]": "[16,8]",
    "[[512],[512],[512],[]]": "3×[512]",
    "[[16,128],[[512,128],[512,128],[512]],[]]": "[16,128]·(2×[512,128],[512])",
    "[]": "",
    "[[],[]]": "",
    "[[[],[8]]]": "([8])",
    "no list": "no list",
    "[[1.5,2]]": "[[1.5,2]]",
    '[["a"]]': '[["a"]]',
    "[[1,[2]]]": "[[1,[2]]]",
    '{"a": 1}': '{"a": 1}',
    "[" * 5000: "[" * 5000,
    "[[1\x1b]]": "[[1\\x1b]]",
}


@pytest.mark.parametrize("text", SHAPES)
def test_shapes(text: str) -> None:
    assert compact_shapes(text) == SHAPES[text]


PRODUCTS = {
    "[[64,128],[128,256]]": "M 64 N 256 K 128",
    # addmm: the bias is no factor
    "[[256],[64,128],[128,256],[],[]]": "M 64 N 256 K 128",
    "[[16,27,27],[16,27,5]]": "16 × M 27 N 5 K 27",
    "[[2,8,27,9],[9,5]]": "16 × M 27 N 5 K 9",
    # the dimensions between them differ: not as it seems
    "[[64,128],[256,128]]": "[64,128]·[256,128]",
    "[[3,4,5],[2,5,6]]": "[3,4,5]·[2,5,6]",
    "[[64,128],[128]]": "[64,128]·[128]",
}


@pytest.mark.parametrize("text", PRODUCTS)
def test_products(text: str) -> None:
    assert compact_shapes(text, is_product=True) == PRODUCTS[text]


def test_many_shapes_are_cut() -> None:
    many = "[" + ",".join(f"[{size},{size}]" for size in range(100, 200)) + "]"
    assert len(compact_shapes(many)) == 60


def test_only_products_are_sizes_in_a_table() -> None:
    import pyarrow as pa

    dims = ["[[8,8],[8,8]]", "[[8,8],[8,8]]", None]
    families = ["matmul", "elementwise", "matmul"]
    result = Result("ops", pa.table({"input_dims": dims, "family_name": families}), ())
    assert readable_columns(result)[0].cells == ["M 8 N 8 K 8", "2×[8,8]", "–"]
