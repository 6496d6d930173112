"""Every family, on figures worked out by hand: operations, bytes read, bytes written."""

from __future__ import annotations

from typing import Any

import pytest

from tests.opmodels.conftest import Ask

X = ("f", (2, 6, 14, 15))  # 2 * 6 * 14 * 15 = 2520 elements
Q, K, V = ("b", (2, 8, 64, 32)), ("b", (2, 2, 96, 32)), ("b", (2, 2, 96, 16))
N = None

#: Name, arguments, operations, bytes read, bytes written, type.
CASES: list[tuple[str, tuple[Any, ...], int | None, int | None, int | None, str | None]] = [
    # 2 * 7 * 3 * 5 = 210; (35 + 15) * 4 = 200; 21 * 4 = 84
    ("aten::mm", (("f", (7, 5)), ("f", (5, 3))), 210, 200, 84, "fp32"),
    ("aten::mm", (("f", (7, 5)), ("f", (5, 3)), ("f", (7, 3))), 210, 200, 84, "fp32"),
    ("aten::mm", (("b", (7, 5)), ("b", (5, 3)), 6), 210, 100, 84, "bf16"),  # float out
    ("aten::_int_mm", (("8", (7, 5)), ("8", (5, 3))), 210, 50, 84, "fp8"),  # int32 out
    # a column that is broadcast, stride 0, is 7 elements: (7 + 15) * 4 = 88
    ("aten::mm", (("f", (7, 5), (1, 0)), ("f", (5, 3), (3, 1))), 210, 88, 84, "fp32"),
    ("aten::bmm", (("h", (4, 7, 5)), ("h", (4, 5, 3))), 840, 400, 168, "fp16"),
    ("aten::mv", (("d", (7, 5)), ("d", (5,))), 70, 320, 56, "fp64"),
    ("aten::dot", (("f", (9,)), ("f", (9,))), 18, 72, 4, "fp32"),
    # batches 2 x 1 and 4: 8 products of 7 x 5 x 3; (2 * 35 + 4 * 15) * 4 = 520; 8 * 21 * 4
    ("aten::matmul", (("f", (2, 1, 7, 5)), ("f", (4, 5, 3))), 1680, 520, 672, "fp32"),
    # the bias adds 3 * 4 bytes and no operations; with beta = 0 it is not read
    ("aten::addmm", (("f", (3,)), ("f", (7, 5)), ("f", (5, 3)), 1, 1), 210, 212, 84, "fp32"),
    ("aten::addmm", (("f", (3,)), ("f", (7, 5)), ("f", (5, 3)), 0, 1), 210, 200, 84, "fp32"),
    (
        "aten::baddbmm",
        (("f", (4, 7, 3)), ("f", (4, 7, 5)), ("f", (4, 5, 3)), 1, 1),
        840,
        1136,
        336,
        "fp32",
    ),
    # the sum of 4 products; self 21, (140 + 60) * 4 = 800 and 84
    (
        "aten::addbmm",
        (("f", (7, 3)), ("f", (4, 7, 5)), ("f", (4, 5, 3)), 1, 1),
        840,
        884,
        84,
        "fp32",
    ),
    # 18 rows: 2 * 18 * 3 * 5 = 540; (90 + 15 + 3) * 4; 54 * 4
    ("aten::linear", (("f", (2, 9, 5)), ("f", (3, 5)), ("f", (3,))), 540, 432, 216, "fp32"),
    ("aten::linear", (("f", (2, 9, 5)), ("f", (3, 5)), N), 540, 420, 216, "fp32"),
    ("vllm::rocm_unquantized_gemm", (("b", (4, 5)), ("b", (3, 5)), N), 120, 70, 24, "bf16"),
    # 2 * 16 * 32 * 8; 16 * 8 + 8 * 32 bytes, scales 2 * 4; 16 * 32 * 2 of bf16 (15)
    (
        "aten::_scaled_mm",
        (("8", (16, 8)), ("8", (8, 32)), ("f", ()), ("f", ()), N, N, 15, "True"),
        8192,
        392,
        1024,
        "fp8",
    ),
    # 10 rows in 3 groups: 2 * 10 * 4 * 5; (40 + 60) * 2 + 3 * 4; 10 * 5 * 2
    (
        "aten::_grouped_mm",
        (("b", (10, 4)), ("b", (3, 4, 5)), ("i", (3,)), N, N),
        400,
        212,
        100,
        "bf16",
    ),
    # sums in 3 groups: 2 * 6 * 5 * 10; (60 + 50) * 2 + 12; 3 * 6 * 5 * 2
    (
        "aten::_grouped_mm",
        (("b", (6, 10)), ("b", (10, 5)), ("i", (3,)), N, N),
        600,
        232,
        180,
        "bf16",
    ),
    # out (14 + 2 - 3) / 2 + 1 = 7, (15 + 4 - 5) / 1 + 1 = 15: 2 * 2 * 4 * 7 * 15 * 6 * 15
    (
        "aten::conv2d",
        (X, ("f", (4, 6, 3, 5)), ("f", (4,)), [2, 1], [1, 2], [1, 1], 1),
        151200,
        4 * (2520 + 360 + 4),
        4 * 840,
        "fp32",
    ),
    # dilated: 14 - 3 * 2 - 0 = 8, 15 - 2 * 4 = 7: 2 * 2 * 4 * 56 * 6 * 15
    (
        "aten::convolution",
        (X, ("f", (4, 6, 3, 5)), N, [1], [0], [3, 2], "False", [0], 1),
        80640,
        4 * 2880,
        4 * 448,
        "fp32",
    ),
    # in 2 groups each output has 3 channels: 12 x 11 points, 2 * 2 * 4 * 132 * 3 * 15
    (
        "aten::convolution",
        (X, ("f", (4, 3, 3, 5)), N, [1, 1], [0, 0], [1, 1], "False", [0, 0], 2),
        95040,
        4 * (2520 + 180),
        4 * 1056,
        "fp32",
    ),
    # transposed: 2 * 14 * 15 input points, 6 x 4 x 15 each; out 13 * 2 + 3 - 2 + 1 = 28 and
    # 14 * 2 + 5 - 2 + 1 = 32
    (
        "aten::conv_transpose2d",
        (X, ("f", (6, 4, 3, 5)), N, [2, 2], [1, 1], [1, 1], 1, [1, 1]),
        302400,
        4 * (2520 + 360),
        4 * 2 * 4 * 28 * 32,
        "fp32",
    ),
    # an image without a batch
    (
        "aten::conv1d",
        (("f", (6, 20)), ("f", (4, 6, 5)), N, [2], [2], [1], 1),
        2 * 4 * 10 * 6 * 5,
        4 * (120 + 120),
        4 * 40,
        "fp32",
    ),
    (
        "aten::conv2d",
        (X, ("f", (4, 6, 3, 5)), N, [1], "same", [1], 1),
        2 * 2 * 4 * 210 * 90,
        4 * 2880,
        4 * 2 * 4 * 210,
        "fp32",
    ),
    (
        "aten::cudnn_convolution",
        (X, ("f", (4, 6, 3, 5)), [1, 2], [2, 1], [1, 1], 1, "False", "False", "True"),
        151200,
        4 * 2880,
        4 * 840,
        "fp32",
    ),
    (
        "aten::miopen_convolution",
        (X, ("f", (4, 6, 3, 5)), ("f", (4,)), [1, 2], [2, 1], [1, 1], 1, "False", "False"),
        151200,
        4 * 2884,
        4 * 840,
        "fp32",
    ),
    # both gradients, and that of the bias: gradient 840, weight 360 and image 2520 in, the last
    # two and 4 out
    (
        "aten::convolution_backward",
        (
            ("f", (2, 4, 7, 15)),
            X,
            ("f", (4, 6, 3, 5)),
            [4],
            [2, 1],
            [1, 2],
            [1, 1],
            "False",
            [0, 0],
            1,
            [True, True, True],
        ),
        302400,
        4 * 3720,
        4 * 2884,
        "fp32",
    ),
    # the weight's alone
    (
        "aten::convolution_backward",
        (
            ("f", (2, 4, 7, 15)),
            X,
            ("f", (4, 6, 3, 5)),
            [4],
            [2, 1],
            [1, 2],
            [1, 1],
            "False",
            [0, 0],
            1,
            [False, True, False],
        ),
        151200,
        4 * 3360,
        4 * 360,
        "fp32",
    ),
    # of the image alone, of torch 1.8: the image is in the values
    (
        "aten::cudnn_convolution_backward_input",
        (
            [2, 6, 14, 15],
            ("f", (2, 4, 7, 15)),
            ("f", (4, 6, 3, 5)),
            [1, 2],
            [2, 1],
            [1, 1],
            1,
            N,
            N,
            N,
        ),
        151200,
        4 * 1200,
        4 * 2520,
        "fp32",
    ),
    # 16 heads: 2 * 16 * 64 * 96 * (32 + 16); (32768 + 12288 + 6144) * 2; 16 * 64 * 16 * 2
    (
        "aten::_scaled_dot_product_flash_attention",
        (Q, K, V, 0.0, "False", "False", N),
        9437184,
        102400,
        32768,
        "bf16",
    ),
    # causal: half of 4 * 16 * 64 * 64 * 32
    (
        "aten::scaled_dot_product_attention",
        (Q, Q, Q, N, 0.0, "True", N, "False"),
        4194304,
        196608,
        65536,
        "bf16",
    ),
    (
        "aten::_scaled_dot_product_efficient_attention",
        (Q, Q, Q, N, "True", 0.0, "True", N),
        4194304,
        196608,
        65536,
        "bf16",
    ),
    # a mask is read; with it nothing is halved
    (
        "aten::scaled_dot_product_attention",
        (Q, Q, Q, ("?", (64, 64)), 0.0, "False", N, "False"),
        8388608,
        200704,
        65536,
        "bf16",
    ),
    # [batch, length, heads, width]
    (
        "aten::_flash_attention_forward",
        (("b", (2, 64, 8, 32)),) * 3 + (N, N, 64, 64, 0.0, "True", "False", N, N, N, N, N),
        4194304,
        196608,
        65536,
        "bf16",
    ),
    (
        "aten::_efficient_attention_forward",
        (("b", (2, 64, 8, 32)),) * 3 + (N, N, N, N, N, 0.0, 1, "True", N, N, N),
        4194304,
        196608,
        65536,
        "bf16",
    ),
    # 2.5 * 8388608; gradient, q, k, v, out 65536 each, sums 2 * 8 * 64 * 4; three gradients
    (
        "aten::_scaled_dot_product_flash_attention_backward",
        (Q, Q, Q, Q, Q, ("f", (2, 8, 64)), N, N, 64, 64, 0.0, "False", N, N, N),
        20971520,
        331776,
        196608,
        "bf16",
    ),
    # normalizations: 24 elements of the input, weight and bias; no operations
    (
        "aten::layer_norm",
        (("h", (4, 6)), [6], ("h", (6,)), ("h", (6,)), 1e-5, "True"),
        N,
        72,
        48,
        "fp16",
    ),
    (
        "aten::native_layer_norm_backward",
        (
            ("f", (4, 6)),
            ("f", (4, 6)),
            [6],
            ("f", (4, 1)),
            ("f", (4, 1)),
            ("f", (6,)),
            ("f", (6,)),
            [True, True, False],
        ),
        N,
        4 * (48 + 8 + 6),
        4 * 30,
        "fp32",
    ),
    # training updates the running figures
    (
        "aten::batch_norm",
        (("f", (2, 3, 4)), *[("f", (3,))] * 4, "True", 0.1, 1e-5, "True"),
        N,
        4 * 36,
        4 * 30,
        "fp32",
    ),
    (
        "aten::batch_norm",
        (("f", (2, 3, 4)), *[("f", (3,))] * 4, "False", 0.1, 1e-5, "True"),
        N,
        4 * 36,
        4 * 24,
        "fp32",
    ),
    ("aten::rms_norm", (("f", (4, 6)), [6], ("f", (6,)), N), N, 120, 96, "fp32"),
    (
        "_C::fused_add_rms_norm",
        (("b", (4, 6)), ("b", (4, 6)), ("b", (6,)), 1e-5),
        N,
        108,
        96,
        "bf16",
    ),
    ("aten::_softmax", (("h", (4, 6)), -1, "True"), N, 48, 96, "fp16"),  # to float
    ("aten::_softmax_backward_data", (("f", (4, 6)), ("f", (4, 6)), -1, 5), N, 192, 48, "fp32"),
    # windows of 3 x 3, 2 apart, in 7 x 7 with 1 around: 4 x 4; with places of 8 bytes each
    (
        "aten::max_pool2d",
        (("f", (1, 2, 7, 7)), [3, 3], [2, 2], [1, 1], [1, 1], "False"),
        N,
        392,
        128,
        "fp32",
    ),
    (
        "aten::max_pool2d_with_indices",
        (("f", (1, 2, 7, 7)), [3, 3], [2, 2], [1, 1], [1, 1], "False"),
        N,
        392,
        384,
        "fp32",
    ),
    # without a stride it is the window: 7 / 2 = 3, or 4 when the last may reach out
    (
        "aten::avg_pool2d",
        (("f", (1, 1, 7, 7)), [2, 2], [], [0, 0], "False", "True", N),
        N,
        196,
        36,
        "fp32",
    ),
    (
        "aten::avg_pool2d",
        (("f", (1, 1, 7, 7)), [2, 2], [], [0, 0], "True", "True", N),
        N,
        196,
        64,
        "fp32",
    ),
    ("aten::adaptive_avg_pool2d", (("f", (1, 2, 7, 7)), [1, 1]), N, 392, 8, "fp32"),
    # element by element: one operation for each of the result
    ("aten::add", (("f", (4, 6)), ("f", (6,)), 1), 24, 120, 96, "fp32"),
    ("aten::add", (("f", (4, 1)), ("f", (6,)), 1), 24, 40, 96, "fp32"),
    ("aten::add_", (("b", (4, 6)), ("f", (4, 6)), 1), 24, 144, 48, "fp32"),  # result bf16
    ("aten::mul", (("f", (4, 6)), 2), 24, 96, 96, "fp32"),
    ("aten::mul", (("f", (4, 6)), ("d", ())), 24, 104, 96, "fp32"),  # a number, not fp64
    ("aten::mul", (("d", ()), ("f", (4, 6)), ("f", (4, 6))), 24, 104, 96, "fp32"),  # into the last
    ("aten::add", (("l", (4,)), ("i", (4,)), 1), 4, 48, 32, "int64"),
    ("aten::add", (("l", (4,)), 3, 1), 4, 32, 32, "int64"),
    ("aten::eq", (("f", (4, 6)), 0), 24, 96, 24, "fp32"),  # bytes of truth
    ("aten::where", (("?", (4, 1)), ("b", (6,)), ("b", (4, 6))), 24, 64, 48, "bf16"),
    ("aten::masked_fill", (("h", (4, 6)), ("?", (4, 1)), 0.5), 24, 52, 48, "fp16"),
    ("aten::gelu", (("b", (4, 6)), "tanh"), 24, 48, 48, "bf16"),
    ("aten::abs", (("f", (4, 6)), ("f", (0,))), 24, 96, 96, "fp32"),  # an empty one is made large
    ("aten::addcmul_", (("f", (6,)),) * 3 + (0.5,), 6, 72, 24, "fp32"),
    ("aten::threshold_backward", (("f", (6,)), ("f", (6,)), 0), 6, 48, 24, "fp32"),
    ("aten::native_dropout", (("f", (4, 6)), 0.1, "True"), 24, 96, 120, "fp32"),
    ("sgl_kernel::silu_and_mul", (("b", (4, 6)), ("b", (4, 12))), 24, 96, 48, "bf16"),
    ("aten::mse_loss_backward", (("f", ()), ("f", (4, 6)), ("f", (4, 6)), 1), 24, 196, 96, "fp32"),
    # a view, and memory that nobody has written to
    ("aten::t", (("f", (7, 5)),), 0, 0, 0, N),
    ("aten::empty", ([7, 5], 6, N, N, N, N), 0, 0, 0, N),
    # copies, with a change of type, from one row
    ("aten::copy_", (("b", (4, 6)), ("f", (4, 6)), "False"), 0, 96, 48, "fp32"),
    ("aten::copy_", (("f", (4, 6), (6, 1)), ("f", (4, 6), (0, 1)), "False"), 0, 24, 96, "fp32"),
    ("aten::clone", (("f", (4, 6)), N), 0, 96, 96, "fp32"),
    ("aten::fill_", (("f", (4, 6)), 1), 0, 0, 96, "fp32"),
    ("aten::normal_", (("f", (4, 6)), 0.0, 1.0, N), N, 0, 96, "fp32"),
    ("aten::constant_pad_nd", (("f", (4, 6)), [1, 2], 0), 0, 96, 144, "fp32"),
    ("aten::_local_scalar_dense", (("f", ()),), 0, 4, 4, "fp32"),
    ("aten::upsample_nearest1d", (("b", (1, 768, 8)), [128], N), 0, 12288, 196608, "bf16"),
    # reductions
    ("aten::sum", (("f", (4, 6)), N), N, 96, 4, "fp32"),
    ("aten::sum", (("i", (4, 6)), [-1], "True", N), N, 96, 32, "int32"),  # to int64
    ("aten::mean", (("b", (4, 6)), [0], "False", 6), N, 48, 24, "bf16"),  # to float
    ("aten::max", (("f", (4, 6)), 1, "False"), N, 96, 48, "fp32"),
    ("aten::argmax", (("f", (4, 6)), 1, "False"), N, 96, 32, "fp32"),
    ("aten::topk", (("f", (4, 6)), 2, -1, "True", "True"), N, 96, 96, "fp32"),
    ("aten::cumsum", (("l", (4, 6)), 0, N), N, 192, 192, "int64"),
    # 20 rows of 8 from a table of 1000, indices of 8 bytes; from a table of 5 no more than it has
    (
        "aten::embedding",
        (("f", (1000, 8)), ("l", (4, 5)), -1, "False", "False"),
        0,
        640 + 160,
        640,
        "fp32",
    ),
    (
        "aten::embedding",
        (("f", (5, 8)), ("l", (4, 5)), -1, "False", "False"),
        0,
        160 + 160,
        640,
        "fp32",
    ),
    ("aten::index_select", (("f", (9, 8)), 0, ("l", (3,))), 0, 96 + 24, 96, "fp32"),
    ("aten::gather", (("f", (9, 8)), 1, ("l", (9, 2)), "False"), 0, 72 + 144, 72, "fp32"),
    ("aten::scatter_", (("f", (9, 8)), 1, ("l", (9, 2)), 1), 0, 144, 72, "int64"),
    (
        "aten::embedding_dense_backward",
        (("f", (4, 8)), ("l", (4,)), 10, -1, "False"),
        N,
        128 + 32,
        320,
        "fp32",
    ),
    # lists: the types of their tensors are not in the file
    ("aten::_foreach_add_", (("list", ((4, 6), (6,))), ("list", ((4, 6), (6,))), 1), 30, N, N, N),
    ("aten::cat", (("list", ((4, 6), (6,))), 0), 0, N, N, N),
    (
        "aten::_fused_adamw_",
        (*[("list", ((4, 6),))] * 4, ("list", ()), ("list", ((),)), 0.1),
        N,
        N,
        N,
        N,
    ),
]


@pytest.mark.parametrize(
    ("name", "arguments", "flops", "read", "written", "precision"),
    CASES,
    ids=[f"{case[0]}-{number}" for number, case in enumerate(CASES)],
)
def test_by_hand(
    ask: Ask,
    name: str,
    arguments: tuple[Any, ...],
    flops: int | None,
    read: int | None,
    written: int | None,
    precision: str | None,
) -> None:
    found = ask(name, *arguments)
    assert (found.flop_count, found.read_bytes, found.write_bytes) == (flops, read, written), found
    both = None if read is None or written is None else read + written
    assert (found.accessed_bytes, found.precision_name) == (both, precision)
    assert (found.reason is None) == (None not in (flops, read, written))


@pytest.mark.parametrize(
    ("name", "arguments", "handed_over"),
    [
        ("nccl:all_reduce", (("b", (1000,)),), 2000),
        ("vllm::all_reduce", (("b", (10, 10)), N), 200),
        ("record_param_comms", (("f", (8, 64)), N, N, 0, N, [], [], 0, 1, 8), 2048),
        ("c10d::_allgather_base_", (("f", (64, 8)), ("f", (8, 8)), N, "False", -1), 256),
        ("c10d::_reduce_scatter_base_", (("f", (8, 8)), ("f", (64, 8)), N, N, "False", -1), 2048),
        ("record_param_comms", (0, N, 0, N, [], [], -1, -1, 1), None),
        ("c10d::allreduce_", (("list", ((1000,),)), N, N, N, -1), None),
    ],
)
def test_what_a_rank_hands_to_a_collective(
    ask: Ask, name: str, arguments: tuple[Any, ...], handed_over: int | None
) -> None:
    found = ask(name, *arguments)
    assert found.family_name == "communication"
    assert found.comm_bytes == handed_over
    assert found.flop_count is None
    assert found.reason


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("mine::thing", (), "no model for this operator"),
        ("aten::to", (("f", (3,)), 6), "counted in the operators it calls"),
        (
            "aten::mm",
            (("c", (7, 5)), ("c", (5, 3))),
            "operations on complex numbers are not counted",
        ),
        (
            "aten::mm",
            (("f", (7, 5)), ("f", (4, 3))),
            "shape not understood: [7, 5] and [4, 3] do not match",
        ),
        (
            "aten::scaled_dot_product_attention",
            (Q, K, K, N, 0.0, "True", N, "False"),
            "causal, and queries and keys have different lengths",
        ),
        (
            "aten::_flash_attention_forward",
            (*[("b", (128, 8, 32))] * 3, ("i", (3,)), ("i", (3,)), 64, 64, 0.0, "True", "False"),
            "sequence lengths vary within the batch and are not in the file",
        ),
        (
            "aten::_flash_attention_forward",
            (*[("b", (2, 64, 8, 32))] * 3, N, N, 64, 64, 0.0, "True", "False", N, 128, 0),
            "windowed attention is not counted",
        ),
        (
            "aten::add",
            (("l", (4,)), 0.5, 1),
            "the result type depends on data that is not in the file",
        ),
        (
            "aten::add",
            (("h", (4,)), ("b", (4,)), 1),
            "the result type depends on data that is not in the file",
        ),
        # TorchScript: what is left of other operators stands before the arguments
        (
            "aten::linear",
            (("f", (9, 5)), ("f", (2, 9)), ("f", (3, 9)), N),
            "shape not understood: 4 arguments; the operator takes 2 or 3",
        ),
        ("aten::gt", (("f", (9, 5)), ("f", (9, 5)), 0), "shape not understood: 3 arguments"),
        ("aten::add", (("f", (9, 5)), ("f", (9, 5)), 2, 1), "shape not understood: 4 arguments"),
        (
            "aten::sum",
            (("f", (9, 5)), ("f", (9, 5)), ("f", (3,)), N),
            "shape not understood: argument 1 is a tensor",
        ),
    ],
)
def test_why_a_figure_is_not_known(
    ask: Ask, name: str, arguments: tuple[Any, ...], reason: str
) -> None:
    found = ask(name, *arguments)
    assert found.reason == reason
    assert None in (found.flop_count, found.accessed_bytes)


def test_heavy_are_those_whose_operators_call_each_other(ask: Ask) -> None:
    heavy = {
        "aten::linear": True,
        "aten::conv2d": True,
        "aten::_flash_attention_forward": True,
        "aten::add": False,
        "aten::batch_norm": False,
        "mine::thing": False,
    }
    assert {name: ask(name).is_heavy for name in heavy} == heavy
