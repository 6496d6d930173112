"""Classes of operators: the file is right, a wrong one is refused, and real names are told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.operators import add_operators
from tracekit import opclasses
from tracekit.catalog import catalog
from tracekit.engine import Database
from tracekit.errors import UsageError
from tracekit.opmodels import _known
from tracekit.schema import OP_CLASS
from tracekit.store import create_store

#: The order that figures colour by; a new class goes behind.
CLASSES = (
    "matmul",
    "convolution",
    "fusion",
    "reduction",
    "elementwise",
    "data movement",
    "communication",
    "infeed",
    "outfeed",
    "normalization",
    "random",
    "control flow",
    "custom call",
    "other",
    "idle",
    "attention",
    "asynchronous copy",
    "recurrent",
    "softmax",
    "pooling",
    "embedding",
    "optimizer",
    "sort and scan",
    "view",
    "composite",
)


def test_the_classes_are_in_the_order_of_the_colours() -> None:
    assert opclasses.names() == CLASSES


def test_rows_are_those_of_the_table() -> None:
    rows = opclasses.rows()
    names = [column.name for column in OP_CLASS.columns]
    assert all(sorted(row) == sorted(names) for row in rows)
    assert {row["key_kind"] for row in rows} == {*opclasses.KEY_KINDS, None}
    patterns = [(row["key_kind"], row["pattern"]) for row in rows if row["pattern"]]
    assert len(patterns) == len(set(patterns))


def test_every_source_of_classes_has_them_of_the_one_list() -> None:
    told = re.findall(r"(?i)(?:then|else) '([^']+)'", catalog()["operator_class"].sql)
    families = {model.family for model, _ in _known().models.values()}
    by_name = re.findall(r"class_name = '([^']+)'", catalog()["reported_op_classed"].sql)
    assert set(told) | families | set(by_name) <= set(opclasses.names())
    # and no class is in it that nothing gives
    with_patterns = {row["class_name"] for row in opclasses.rows() if row["pattern"]}
    assert set(told) | families | set(by_name) | with_patterns == set(opclasses.names())


GOOD = '[[class]]\nname = "matmul"\ntype = ["matmul"]\n'


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(opclasses, "files", lambda _: tmp_path)
    for cached in (opclasses.rows, opclasses.names):
        cached.cache_clear()
    yield tmp_path / "opclasses.toml"
    for cached in (opclasses.rows, opclasses.names):
        cached.cache_clear()


def test_a_good_file_is_read(file: Path) -> None:
    file.write_text(GOOD + '[[class]]\nname = "other"\n[refined]\ntype = ["matmul"]\n')
    assert [tuple(row.values()) for row in opclasses.rows()] == [
        ("matmul", 0, "type", "matmul", True),
        ("other", 1, None, None, False),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("matmul", "MatMul"), r"type 1: 'MatMul' is not a pattern in lower case"),
        (GOOD.replace('["matmul"]', '["mat?ul"]'), r"only \* stands for other letters"),
        (
            GOOD + GOOD.replace('name = "matmul"', 'name = "x"'),
            r"type 'matmul' is already in 'matmul'",
        ),
        (GOOD + '[refined]\ntype = ["dot"]\n', r"refined: type 'dot' is in no class"),
        (GOOD + "kind = 1\n", r"key 'kind' is unknown; known: category"),
        (GOOD.replace('name = "matmul"\n', ""), r"class 1: name: is missing"),
        ("", r"class: must be one or more tables"),
    ],
)
def test_a_wrong_file_is_refused(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(UsageError, match=rf"opclasses\.toml: .*{message}"):
        opclasses.rows()


#: kind, type, category, name, operator it belongs to, target of a custom call; what it is.
NAMES = [
    ("framework", "Conv2DBackpropInput", None, "a/Conv2DBackpropInput", None, None, "convolution"),
    ("framework", "MatMul", None, "dense/MatMul", None, None, "matmul"),
    ("framework", "BatchMatMulV2", None, "x", None, None, "matmul"),
    ("framework", "dot_general", None, "jit(dot)/dot_general", None, None, "matmul"),
    ("framework", "FusedBatchNormGradV3", None, "x", None, None, "normalization"),
    ("framework", "CrossReplicaSum", None, "x", None, None, "communication"),
    ("framework", "psum", "all-reduce", "jit(f)/psum", None, None, "communication"),
    ("framework", "psum", None, "jit(f)/psum", None, None, "communication"),
    ("framework", "psum", "reduce", "jit(f)/psum", None, None, "reduction"),
    ("framework", "Unknown", None, "all-reduce.4", None, None, "communication"),
    ("framework", "MaxPoolGrad", None, "x", None, None, "pooling"),
    ("framework", "SparseSoftmaxCrossEntropyWithLogits", None, "x", None, None, "softmax"),
    ("framework", "Unknown", None, "copy-done.4", None, None, "asynchronous copy"),
    ("framework", "Unknown", None, "region.272", None, None, "other"),
    ("framework", None, None, "x", None, None, "other"),
    ("framework", "ResourceApplyAdam", None, "x", None, None, "optimizer"),
    ("framework", "CudnnRNNV3", None, "x", None, None, "recurrent"),
    ("framework", "TopKV2", None, "x", None, None, "sort and scan"),
    ("framework", "TPUExecute", None, "x", None, None, "control flow"),
    ("framework", "IDLE", None, "IDLE", None, None, "idle"),
    ("hlo", None, "loop fusion", "broadcast_add_fusion.1", "jit(f)/dot_general", None, "fusion"),
    ("hlo", None, "convolution fusion", "fusion.3", "jit(f)/dot_general:", None, "matmul"),
    ("hlo", None, "convolution fusion", "fusion.3", "net/dense/MatMul_1", None, "matmul"),
    ("hlo", None, "convolution fusion", "fusion.3", "net/x:MatMul", None, "matmul"),
    ("hlo", None, "convolution fusion", "fusion.3", "net/conv1/Conv2D", None, "convolution"),
    ("hlo", None, "convolution fusion", "fusion.3", None, None, "convolution"),
    ("hlo", None, "custom fusion", "gemm_fusion_dot.6", None, None, "matmul"),
    ("hlo", None, "custom-call", "custom-call.1", None, "__cublas$gemm", "matmul"),
    ("hlo", None, "custom-call", "cc.1", None, "__cudnn$convForward", "convolution"),
    ("hlo", None, "custom-call", "te_fused_attn.1", "jit(f)/te_fused", "te", "custom call"),
    ("hlo", None, "data formatting", "copy.3", None, None, "data movement"),
    ("hlo", None, "all-reduce", "all-reduce", "jit(f)/psum", None, "communication"),
    ("hlo", None, None, "%all-gather-start.12.remat2", None, None, "communication"),
    ("hlo", "all-reduce", "all-reduce", "psum.3", "jit(f)/psum", None, "communication"),
    ("hlo", None, None, "psum.3", "jit(f)/psum", None, "communication"),
    # a sum over devices of which there is one
    ("hlo", None, None, "reduce.3", "jit(f)/psum", None, "reduction"),
    ("hlo", None, "reduce", "psum.3", "jit(f)/psum", None, "reduction"),
    ("hlo", None, None, "wrapped_thing", "jit(f)/psum", None, "other"),
    ("hlo", None, "copy-done", "copy-done.3", None, None, "asynchronous copy"),
    ("hlo", None, "async-start", "slice-start.3", None, None, "asynchronous copy"),
    ("hlo", None, "async-done", "call-done.3", None, None, "data movement"),
    ("hlo", None, None, "infeed.7", None, None, "infeed"),
    ("hlo", None, "while", "while.2", None, None, "control flow"),
    ("hlo", None, "a category of tomorrow", "thing.1", None, None, "other"),
    ("hlo", None, "[a-z]*", "*", "((", None, "other"),
]


def test_names_that_profilers_write_are_told(tmp_path: Path) -> None:
    keys = ("op_kind", "type_name", "category_name", "name", "op_name")
    rows = [
        {
            **dict(zip(keys, row, strict=False)),
            "side_kind": "device",
            "event_id": place,
            "hlo_text": f'custom-call(), custom_call_target="{row[5]}"' if row[5] else None,
        }
        for place, row in enumerate(NAMES)
    ]
    store = create_store(tmp_path / "S")
    add_operators(store, "r", "r", {"op_stat": rows})
    result = Database(store).sql(
        "SELECT event_id, op_class, class_rank FROM reported_op_work ORDER BY ALL"
    )
    assert [row["op_class"] for row in result.rows()] == [row[-1] for row in NAMES]
    assert all(CLASSES[row["class_rank"]] == row["op_class"] for row in result.rows())
