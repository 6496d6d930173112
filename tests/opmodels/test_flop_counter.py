"""The same calls counted by torch: `torch.utils.flop_counter` on recorded operators."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.opmodels import _known
from tracekit.store import open_store

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "fixtures" / "torch_profiler" / "cpu-operators"

MODELLED = """
WITH
a_case AS (
    SELECT name[7:] AS name, start_ns, start_ns + dur_ns AS end_ns
    FROM slice WHERE name LIKE 'case: %'
),
operator AS (
    SELECT
        name, start_ns,
        op_model(name, input_dims, input_types, input_strides, concrete_inputs) AS work
    FROM slice WHERE slice_kind = 'op'
)
SELECT a_case.name AS case_name, operator.name, CAST(sum(work.flop_count) AS BIGINT) AS flop_count
FROM a_case JOIN operator ON operator.start_ns BETWEEN a_case.start_ns AND a_case.end_ns
GROUP BY ALL
"""

#: Where torch counts more than is done, and how often it counts what is done. The gradient of the
#: weight in g groups counts g times, so forward and backward are 1 + g in place of 2 (backward).
MORE = {
    ("conv2d, grouped", "aten::convolution_backward"): (1 + 2) / 2,
    ("conv2d, depthwise", "aten::convolution_backward"): (1 + 6) / 2,
    ("conv_transpose2d, grouped", "aten::convolution_backward"): (1 + 3) / 2,
    ("attention, flash, causal", "aten::_scaled_dot_product_flash_attention"): 2,
    ("attention, flash, causal", "aten::_scaled_dot_product_flash_attention_backward"): 2,
}
#: Not counted by torch: 4 * 2 * 4 * 16 * 16 * 8 = 65536, 2.5 times backward, half of it if causal.
NOT_BY_TORCH = {
    ("attention, flash for CPUs", "aten::_scaled_dot_product_flash_attention_for_cpu"): 65536,
    (
        "attention, flash for CPUs",
        "aten::_scaled_dot_product_flash_attention_for_cpu_backward",
    ): 163840,
    (
        "attention, flash for CPUs, causal",
        "aten::_scaled_dot_product_flash_attention_for_cpu",
    ): 32768,
    (
        "attention, flash for CPUs, causal",
        "aten::_scaled_dot_product_flash_attention_for_cpu_backward",
    ): 81920,
}


def modelled(folder: Path, store: Path) -> dict[tuple[str, str], int]:
    ingest([folder / "trace.json.gz"], store, Options())
    rows = Database(open_store(store)).sql(MODELLED).rows()
    return {(row["case_name"], row["name"]): row["flop_count"] for row in rows}


def counted(folder: Path) -> dict[tuple[str, str], int]:
    with (folder / "flop_counter.csv").open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        return {(row["case"], row["operator"]): int(row["flop_count"]) for row in rows}


def check(folder: Path, store: Path) -> None:
    expected = {key: flops / MORE.get(key, 1) for key, flops in counted(folder).items()}
    assert len(expected) > 40
    found = modelled(folder, store)
    assert {key: found.get(key) for key in expected} == expected
    assert {key: found.get(key) for key in NOT_BY_TORCH} == NOT_BY_TORCH


def test_operations_are_those_that_torch_counted_when_it_was_recorded(tmp_path: Path) -> None:
    check(RECORDED, tmp_path / "S")


def test_operations_are_those_that_torch_counts(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed: pip install tracekit[torch]")
    script = ROOT / "fixtures" / "record" / "torch_operators.py"
    subprocess.run(
        [sys.executable, script, "--out", tmp_path], check=True, timeout=500, capture_output=True
    )
    check(tmp_path, tmp_path / "S")


def lengths(operator: str, packet: Callable[..., object]) -> set[int]:
    """How many arguments the overloads of an operator take."""
    overloads = [getattr(packet, name)._schema for name in packet.overloads()]  # type: ignore[attr-defined]
    return {len(schema.arguments) for schema in overloads}


def test_arguments_are_as_many_as_torch_has() -> None:
    torch = pytest.importorskip(
        "torch", reason="torch is not installed: pip install tracekit[torch]"
    )
    unlike = []
    for name, (model, _) in _known().models.items():
        space, _, operator = name.partition("::")
        packet = getattr(torch.ops.aten, operator, None) if space == "aten" else None
        if packet is not None and model.arguments:
            taken = lengths(operator, packet)
            if not taken & {*model.arguments}:
                unlike.append((name, model.arguments, taken))
    assert unlike == []
