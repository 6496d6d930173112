from __future__ import annotations

import pytest

from tracekit.render.ceilings import ceiling_title


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["tensor_fp16"], "Tensor FP16"),
        (["dram"], "DRAM"),
        (["l2"], "L2"),
        (["fp32_avx512"], "FP32 AVX-512"),
        (["tensor_bf16", "tensor_fp16"], "Tensor BF16, Tensor FP16"),
        (["tensor_tf32"], "Tensor TF32"),
        (["fp64_fma"], "FP64 FMA"),
        (["My Board"], "My Board"),
        (["launch_overhead"], "launch overhead"),
        ([""], ""),
        ([], ""),
        (["_"], "_"),
    ],
)
def test_names_read_as_in_datasheets(names: list[str], expected: str) -> None:
    assert ceiling_title(names) == expected


def test_a_name_from_a_file_of_peaks_is_harmless() -> None:
    assert ceiling_title(["fp32\x1b[31m"]) == "fp32\\x1b[31m"
    assert ceiling_title(["a_\u202eb", "l\n1"]) == "a \\u202eb, l\\n1"
