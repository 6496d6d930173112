"""Modules and phases out of the names that dumps give operators."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attribution.traces import Store
from tests.ingested import Ingested
from tracekit.attribution.scopes import scopes


@pytest.mark.parametrize(
    ("name", "modules", "phase"),
    [
        ("model/layer/Conv2D:Conv2D", "model layer", None),
        ("Identity:Identity", "", None),
        (
            "gradient_tape/model/layer/Conv2D/Conv2DBackpropInput:Conv2DBackpropInput",
            "model layer Conv2D",
            "backward",
        ),
        ("gradients/fc/MatMul_grad/MatMul_1", "fc", "backward"),
        (
            "GradientDescent/update_fc/weights/ApplyGradientDescent",
            "GradientDescent update_fc weights",
            "optimizer",
        ),
        (
            "Adam/Adam/update_1/ResourceApplyAdam:ResourceApplyAdam",
            "Adam Adam update_1",
            "optimizer",
        ),
        (
            "jit(f)/jit(main)/transpose(jvp(ResNet))/Conv_0/conv_general_dilated",
            "ResNet Conv_0",
            "backward",
        ),
        ("jit(f)/jit(main)/jvp(ResNet)/Conv_0/conv_general_dilated", "ResNet Conv_0", "forward"),
        ("jit(f)/jit(main)/ResNet/Conv_0/conv_general_dilated", "ResNet Conv_0", None),
        ("jit(loss_fn)/transpose(jvp())/te_fused_attn_backward_ffi", "", "backward"),
        ("jit(loss_fn)/jvp(bsd,de->bse)/dot_general", "", "forward"),
        ("jit(step)/jit(_attn)/shard_map/jit(kernel)/slice:", "", None),
        ("jit(step)/vmap(jvp(Net))/while/body/Dense_2/dot_general:", "Net Dense_2", "forward"),
        ("jit(step)/aten::view/reshape;jit(step)/QKV/reshape:", "", None),
        ("jit(f)", "", None),
        ("((((", "", None),
        ("a)/b(/c)/d", "a) c", None),
        ("/".join(["f(" * 9] * 9_000), "", None),
        ("", "", None),
    ],
)
def test_the_scope_in_a_name(name: str, modules: str, phase: str | None) -> None:
    found = scopes([name])[name]
    assert (" ".join(found.modules), found.phase) == (modules, phase)


def test_the_gradient_of_an_operator_is_in_its_modules() -> None:
    """The operator itself is among the names, so that its own name is none of a module."""
    found = scopes(["model/fc/MatMul:MatMul", "gradient_tape/model/fc/MatMul/MatMul_1:MatMul"])
    assert {(scope.modules, scope.phase) for scope in found.values()} == {
        (("model", "fc"), "forward"),
        (("model", "fc"), "backward"),
    }


def test_a_timeline_of_tensorflow_1(ingested: Ingested, corpus: Path) -> None:
    """38 kernels; counted by hand in the file: those whose node begins with gradients/."""
    store = Store(ingested.database(corpus / "tf" / "tftimeline-gpu-step0.json"))
    found = store.rows("""
        SELECT phase_kind, starts_with(op_name, 'gradients/') AS is_gradient,
            any_value(launch_reason) AS reason, count(*) AS n
        FROM attribution JOIN calling_context USING (run_id, source_id, context_id)
        WHERE work_kind = 'kernel' GROUP BY ALL ORDER BY ALL""")
    assert {row["phase_kind"] for row in found if row["is_gradient"]} == {"backward"}
    assert {row["phase_kind"] for row in found if not row["is_gradient"]} == {
        "forward",
        "optimizer",
        None,
    }
    assert sum(row["n"] for row in found) == 38
    assert {row["reason"] for row in found} == {"no correlation id"}
