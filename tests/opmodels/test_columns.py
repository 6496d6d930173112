"""What traces have in the columns: versions of torch, missing parts, hostile text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ingested import Ingested
from tests.opmodels.conftest import columns
from tracekit import opmodels
from tracekit.opmodels import Figures, figures

MM = "[[7, 5], [5, 3]]"
TYPES = '["float", "float"]'


@pytest.mark.parametrize(
    "types", ['["float", "float"]', '["c10::BFloat16", "c10::BFloat16"]', '["double", "double"]']
)
def test_white_space_and_types(types: str) -> None:
    pretty = json.dumps(json.loads(MM), indent=4)
    assert figures("aten::mm", pretty, types, None, None) == figures(
        "aten::mm", MM, types, None, None
    )


@pytest.mark.parametrize("spelling", ["long", "long int", "__int64", "long long"])
def test_spellings_of_compilers(spelling: str) -> None:
    found = figures("aten::add", "[[4], [4], []]", json.dumps([spelling, spelling, "Int"]), "", "")
    assert (
        found.reason == "shape not understood: input_strides is not JSON (Input data was truncated)"
    )
    found = figures(
        "aten::add", "[[4], [4], []]", json.dumps([spelling, spelling, "Int"]), None, None
    )
    assert (found.precision_name, found.accessed_bytes) == ("int64", 96)


def test_without_shapes() -> None:
    assert figures("aten::mm", None, None, None, None) == Figures(
        "matmul", is_heavy=True, reason="no shapes"
    )


@pytest.mark.parametrize("types", [None, "[]"])
def test_without_types_operations_are_known_and_bytes_are_not(types: str | None) -> None:
    """As torch 1.8 writes them."""
    found = figures("aten::mm", MM, types, None, None)
    assert (found.flop_count, found.accessed_bytes, found.precision_name) == (210, None, None)
    assert found.reason == "element types are not in the file"


def test_without_values_the_result_of_a_convolution_is_not_known() -> None:
    """As torch before 2.0 writes them."""
    dims, types, strides, _ = columns(
        ("f", (1, 3, 8, 8)), ("f", (4, 3, 3, 3)), None, [1], [0], [1], 1
    )
    found = figures("aten::conv2d", dims, types, strides, None)
    assert found.flop_count is None
    assert found.reason == "values of arguments (strides, flags …) are not in the file"


@pytest.mark.parametrize(
    ("dims", "reason"),
    [
        ("[[-1, 5], [5, 3]]", "shape not understood: argument 0 has the dimension '-1'"),
        ("[[7, 5.5], [5, 3]]", "shape not understood: argument 0 has the dimension '5.5'"),
        ("[[7, true], [5, 3]]", "shape not understood: argument 0 has the dimension 'True'"),
        ("[[7, [5]], [5, 3]]", "shape not understood: argument 0 has the dimension '[5]'"),
        ('[["7", "5"], [5, 3]]', "shape not understood: argument 0 has the dimension '7'"),
        ("[7, 5]", "shape not understood: argument 0 is '7'"),
        ("[[[7, 5]], [5, 3]]", "shape not understood: argument 0 is a list of tensors"),
        ("[null, [5, 3]]", "shape not understood: argument 0 is 'None'"),
        ("[]", "shape not understood: 0 arguments; the operator takes 2 or 3"),
        ("{}", "shape not understood: input_dims is not a list"),
        ("7", "shape not understood: input_dims is not a list"),
        ("[[NaN, 5], [5, 3]]", "shape not understood: input_dims is not JSON"),
        ("[[7, 5], [5,", "shape not understood: input_dims is not JSON"),
        ("[" * 100_000, "shape not understood: input_dims is not JSON"),
        (f"[[{10**30}, 5], [5, 3]]", f"argument 0 has the dimension '{10**30}'"),
        (f"[[7, {2**62}], [{2**62}, 3]]", "too large for 64 bits"),
        (f"[{[1] * 65}, [5, 3]]", "shape not understood: argument 0 is"),
    ],
)
def test_hostile_shapes(dims: str, reason: str) -> None:
    found = figures("aten::mm", dims, TYPES, None, None)
    assert found.flop_count is None
    assert reason in (found.reason or "")
    assert len(found.reason or "") < 300


@pytest.mark.parametrize(
    ("types", "reason"),
    [
        ('["flaot", "float"]', "shape not understood: elements of type 'flaot'"),
        ('["c10::Float4_e2m1fn_x2", "float"]', "elements of type 'c10::Float4_e2m1fn_x2'"),
        ('["Scalar", "float"]', "shape not understood: argument 0 is not a tensor"),
        ('["float"]', "shape not understood: argument 1 has no type"),
        ("[1, 2]", "shape not understood: argument 0 has no type"),
    ],
)
def test_hostile_types(types: str, reason: str) -> None:
    found = figures("aten::mm", MM, types, None, None)
    assert found.flop_count is None
    assert reason in (found.reason or "")


@pytest.mark.parametrize(
    "values",
    [
        '["", "", "", "[0, 0]", "[0]", "[1]", "1"]',
        '["", "", "", "[-1]", "[0]", "[1]", "1"]',
        '["", "", "", "[1]", "[x]", "[1]", "1"]',
        '["", "", "", "[1]", "[0]", "[1]", "0"]',
        '["", "", "", "[1, 1, 1]", "[0]", "[1]", "1"]',
        f'["", "", "", "[1]", "[{10**30}]", "[1]", "1"]',
        '["", "", "", "[1]", "[0]", "[99]", "1"]',
        "[1, 2, 3, 4, 5, 6, 7]",
        "[]",
    ],
)
def test_hostile_values(values: str) -> None:
    dims, types, strides, _ = columns(
        ("f", (1, 3, 8, 8)), ("f", (4, 3, 3, 3)), None, [1], [0], [1], 1
    )
    found = figures("aten::conv2d", dims, types, strides, values)
    assert found.flop_count is None
    assert found.reason
    assert "failed" not in found.reason


def test_megabytes_of_tensors() -> None:
    shapes = [[3, 4]] * 200_000
    found = figures(
        "aten::_foreach_mul_", json.dumps([shapes, []]), '["TensorList", "Scalar"]', None, None
    )
    assert found.flop_count == 2_400_000
    assert opmodels._kept_figures.cache_info().maxsize == 8192


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=9),
    max_leaves=30,
)


@settings(max_examples=300)
@given(name=st.sampled_from(sorted(opmodels._known().models)), texts=st.tuples(*[JSON] * 4))
def test_no_text_makes_a_model_fail(name: str, texts: tuple[object, ...]) -> None:
    found = figures(name, *map(json.dumps, texts))
    assert "failed" not in (found.reason or ""), (name, texts)


SHAPE = st.lists(st.integers(0, 5), max_size=5)
VALUE = st.sampled_from(
    ["", "0", "1", "-1", "True", "False", "[1]", "[1, 1]", "[]", "0.5", "[True, True, True]"]
)


@settings(max_examples=500)
@given(
    name=st.sampled_from(sorted(opmodels._known().models)),
    arguments=st.lists(
        st.tuples(SHAPE, st.sampled_from(["float", "int", "Scalar", "", "TensorList"]), VALUE),
        max_size=12,
    ),
)
def test_no_arguments_make_a_model_fail(
    name: str, arguments: list[tuple[list[int], str, str]]
) -> None:
    dims, types, values = (json.dumps([one[place] for one in arguments]) for place in range(3))
    found = figures(name, dims, types, None, values)
    assert "failed" not in (found.reason or ""), (name, arguments)
    assert all(number is None or number >= 0 for number in found[2:6])


@pytest.mark.deep
def test_no_operator_of_the_corpus_makes_a_model_fail(corpus: Path, ingested: Ingested) -> None:
    """Seven traces of torch 1.8 to 2.9, with and without types and values, of TorchScript too."""
    names = [
        "kineto-resnet50-v100-torch18-list",
        "hta-vit-a100-sampled-rank0of128",
        "hta-mtia-inference",
        "hta-gloo-cpuonly-rank34of300",
        "tracelens-eager-b200-rank0of8-stack",
        "tracelens-normlayers-mi300x-fwdbwd",
        "parttransformer-a100pcie-flops-mem",
    ]
    sql = (
        "SELECT name, work.reason, work.flop_count, work.family_name FROM "
        "(SELECT name, op_model("
        "name, input_dims, input_types, input_strides, concrete_inputs) AS work FROM slice "
        "WHERE slice_kind = 'op')"
    )
    traces = (ingested.database(corpus / "torch" / f"{name}.json.gz") for name in names)
    rows = [row for trace in traces for row in trace.sql(sql).rows()]
    assert [row for row in rows if "failed" in (row["reason"] or "")] == []
    products = [row for row in rows if row["family_name"] == "matmul"]
    known = [row for row in products if row["flop_count"] is not None]
    assert len(known) > 1000
