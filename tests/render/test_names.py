from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tracekit.render.names import LEAST_WIDTH, display_names, short_name
from tracekit.render.text import inert

ADD = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"
)
COPY = (
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
    "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() "
    "const::{lambda()#12}::operator()() const::{lambda(c10::BFloat16)#1}>"
    "(at::TensorIteratorBase&, at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)"
    "::{lambda()#3}::operator()() const::{lambda()#12}::operator()() const::"
    "{lambda(c10::BFloat16)#1} const&)::{lambda(int)#1}>(int, at::native::X)"
)
SUM = (
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
    "at::native::func_wrapper_t<float, at::native::sum_functor<float, float, float>::operator()"
    "(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4> >(int)"
)
COPY_SHORT = "gpu_kernel_impl_nocast<direct_copy_kernel_cuda"
SUM_SHORT = "func_wrapper_t<float, sum_functor<float>::{lambda(float, float)#1}>"
CUTLASS = (
    "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8>"
    "(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8::Params)"
)
CUTLASS_SHORT = "Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8>"
GEMV = (
    "std::enable_if<(((8)>(0)))&&ns::ok<int>::value, void>::type internal::gemvx::kernel<int, "
    "__half, true, (ns::Mode)2, cublasGemvParams<blas::Tensor<__half const>, float> >(int)"
)
NUMBA = "copy_blocked[v1,cw51cXTLSUwv1sDU](Array<long long, 1, C, mutable, aligned>, long long)"
NCCL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (ADD, "vectorized_elementwise_kernel<CUDAFunctor_add<float>>"),
        (COPY, f"elementwise_kernel<{COPY_SHORT}::{{lambda(BFloat16)#1}}>::{{lambda(int)#1}}>"),
        (SUM, f"reduce_kernel<ReduceOp<float, {SUM_SHORT}, unsigned int, float>>"),
        (CUTLASS, CUTLASS_SHORT),
        (GEMV, "gemvx::kernel<int, __half, cublasGemvParams<Tensor<__half const>, float>>"),
        (NUMBA, "copy_blocked"),
        (NCCL, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"),
        ("at::cuda::(anonymous namespace)::spin_kernel(long)", "spin_kernel"),
        ("void (anonymous namespace)::store<2048l, 4, false, long>(long)", "store<long>"),
        ("void store<(anonymous namespace)::P>((anonymous namespace)::P)", "store<P>"),
        ("void <unnamed>::tiled<32>(const float *, int)", "tiled"),
        ("void unnamed>::tiled<32>(const float *, int)", "tiled"),
        ("void f<float>(unsigned char (&) [4], void (*)(int), ...)", "f<float>"),
        ("void f<ns::Outer<int>::Policy800, 1.5, -3, 0x10u, nullptr>(int*)", "f<Policy800>"),
        ("void f<decltype(nullptr), std::plus<float> >(int)", "f<decltype(nullptr), plus<float>>"),
        ("void f<float, half, float>(int)", "f<float, half, float>"),
        ("std::function<void (int)>::operator()(int) const", "function<void (int)>::operator()"),
        ("foo(int)::{lambda(float)#1}::operator()(float) const", "foo::operator()"),
        ("foo(int)::'lambda'(float)::operator()(float) const", "foo::operator()"),
        ("bool ns::A::operator<(ns::A const&) const", "A::operator<"),
        ("std::ostream& ns::operator<< <char>(std::ostream&, char)", "ns::operator<< <char>"),
        ("std::vector<int, std::less<int> >::~vector()", "vector<int, less<int>>::~vector"),
        ("unsigned long long ns::f(unsigned int)", "f"),
        ("__amd_rocclr_copyBuffer.kd", "__amd_rocclr_copyBuffer"),
        ("void ns::f<int>(int*) [clone .kd]", "f<int>"),
    ],
)
def test_a_signature_is_shortened(name: str, expected: str) -> None:
    assert short_name(name, 1000) == expected


@pytest.mark.parametrize(
    "name",
    [
        "",
        "::",
        "a::",
        "aten::add",
        "autograd::engine::evaluate_function: torch::autograd::CopyBackwards",
        "cudaLaunchKernel",
        "triton_poi_fused_add_0",
        "volta_sgemm_128x64_nn",
        "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT32x32x256",
        "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bEEvPT0_",
        "Memcpy HtoD (Pageable -> Device)",
        "Memset (Device)",
        "nn.Module: Linear_0",
        "torch/nn/modules/module.py(1553): _call_impl",
        "torch/_ops.py(1002): <lambda>",
        "<built-in method empty of type object at 0x7f61e5026e80>",
        "Optimizer.step#SGD.step",
        "PjitFunction(f)",
        "jit(f)/jit(main)/dot_general",
        "f32[8,128]{1,0} fusion(f32[8]{0} %p0)",
        "train_step(epoch=3)",
        "train_step(3)",
        "{lambda(int)#1}",
        "f<",
        "f>",
        "f(int",
        "f<(int>)",
        "void f<int>>(int)",
        "Foo::operator bool() const",
        "a < b",
    ],
)
def test_what_is_no_signature_stays_as_it_is(name: str) -> None:
    assert short_name(name, 1000) == name


def test_too_deep_or_too_long_names_are_not_read_as_signatures() -> None:
    deep = "f<" * 100 + "int" + ">" * 100
    long = f"void f<{'int, ' * 5000}int>(int)"
    assert short_name(deep, 1000) == deep
    assert short_name(long, 12) == "void f…(int)"


def test_a_long_name_keeps_head_and_tail() -> None:
    assert short_name(CUTLASS, 21) == "Kernel2<cu…tn_align8>"
    assert short_name("abcdefgh", 8) == "abcdefgh"
    assert short_name("abcdefgh", 7) == "abc…fgh"
    assert short_name("abcdefgh", 1) == "…"


def test_wide_characters_and_marks_are_not_cut_apart() -> None:
    assert short_name("漢字漢字漢字", 7) == "漢…漢字"  # 2 + 1 + 4 columns
    assert short_name("漢字漢字漢字", 6) == "漢…字"  # 2 + 1 + 2; one more would be 7
    accented = "e\u0301"
    assert short_name(accented * 9, 5) == accented * 2 + "…" + accented * 2


def test_names_are_made_inert() -> None:
    assert short_name("\x1b[2Jvoid\n", 80) == r"\x1b[2Jvoid\n"


def test_alike_names_show_all_template_arguments() -> None:
    names = ["void f<float, 4, true>(int)", "void f<float, 8, true>(int)", "void g<int, 4>(int)"]
    assert display_names(names, 80) == ["f<float, 4, true>", "f<float, 8, true>", "g<int>"]


def test_then_their_parameters_then_everything() -> None:
    assert display_names(["void ns::f<4>(ns::A)", "void ns::f<4>(ns::B*)"], 80) == [
        "f<4>(A)",
        "f<4>(B*)",
    ]
    assert display_names(["void a::f<4>(int)", "void b::f<4>(int)"], 80) == [
        "void a::f<4>(int)",
        "void b::f<4>(int)",
    ]
    calls = [
        "f(X*)::'lambda'(int)::operator()(int) const",
        "f(X*)::'lambda'(A)::operator()(A) const",
    ]
    assert display_names(calls, 80) == [
        "f::'lambda'(int)::operator()",
        "f::'lambda'(A)::operator()",
    ]
    lambdas = [COPY, COPY.replace("#3", "#2")]
    assert display_names(lambdas, 200) == [
        f"elementwise_kernel<128, 4, {COPY_SHORT}::{{lambda()#{number}}}::{{lambda()#12}}"
        "::{lambda(BFloat16)#1}>::{lambda(int)#1}>"
        for number in (3, 2)
    ]


def test_a_cut_moves_to_where_the_names_differ() -> None:
    add = "vectorized_elementwise_kernel<AddFunctor<float>>"
    multiply = "vectorized_elementwise_kernel<MulFunctor<float>>"
    assert display_names([add, multiply], 26) == [
        "vector…AddFunctor<float>>",
        "vector…MulFunctor<float>>",
    ]


def test_the_last_resort_is_a_number() -> None:
    # As different raw text, but the same once made inert.
    assert display_names(["a\x00", "a\\x00", "a\x00"], 40) == [r"a\x00", r"a\x00…#2", r"a\x00"]


def test_a_number_is_not_given_twice() -> None:
    names = [r"a\x00…#2", "a\x00", r"a\x00"]
    assert display_names(names, 40) == [r"a\x00…#2", r"a\x00", r"a\x00…#3"]
    assert display_names(names[::-1], 40) == [r"a\x00", r"a\x00…#2", r"a\x00…#2…#2"]


def test_there_is_room_to_tell_names_apart() -> None:
    assert LEAST_WIDTH == 12
    assert display_names(["abcdefghijklm", "abcdefghijklmn"], 1) == ["abcdef…ijklm", "abcdef…jklmn"]


def test_numbers_do_not_make_a_long_column_slow() -> None:
    names = [f"{'x' * 40}{i:05}{'x' * 40}" for i in range(3000)]
    shown = display_names(names, 12)
    assert len(set(shown)) == 3000
    assert max(map(len, shown)) == 12


PIECES = st.sampled_from(
    [
        "f",
        "void ",
        "::",
        "<",
        ">",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        " ",
        "operator",
        "()",
        "<<",
        "const",
        "&",
        "&&",
        "*",
        "~",
        "4",
        "true",
        "(int)4",
        "{lambda(int)#1}",
        "(anonymous namespace)",
        "unnamed>::",
        "'lambda'",
        "$_0",
        ".kd",
        " [clone .kd]",
        "-",
        "->",
        "%",
        "é",
        "e\u0301",
        "漢",
        "\x1b",
        "\u202e",
        "std::array<",
        "ns::T<float, 3>",
        "…",
        "#2",
    ]
)
NAMES = st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=40)


@settings(deadline=None)
@given(NAMES, st.integers(1, 60))
def test_any_name_fits(name: str, limit: int) -> None:
    assert cell_len(short_name(name, limit)) <= limit


@settings(deadline=None)
@given(NAMES)
def test_any_name_is_inert(name: str) -> None:
    shown = short_name(name, 10_000)
    assert inert(shown) == shown


@settings(deadline=None)
@given(st.lists(NAMES, max_size=12), st.integers(1, 60))
def test_distinct_names_stay_distinct_and_fit(names: list[str], limit: int) -> None:
    shown = display_names(names, limit)
    pairs = set(zip(names, shown, strict=True))
    assert len(pairs) == len(set(names)) == len(set(shown))
    assert all(cell_len(text) <= max(limit, LEAST_WIDTH) for text in shown)


@settings(deadline=None)
@given(st.lists(NAMES, max_size=8, unique=True), st.integers(LEAST_WIDTH, 60))
def test_the_order_of_the_rows_does_not_change_what_is_unique(names: list[str], limit: int) -> None:
    shown = dict(zip(names, display_names(names, limit), strict=True))
    turned = dict(zip(names[::-1], display_names(names[::-1], limit), strict=True))
    numbered = {name for name in names if "#" in shown[name] + turned[name]}
    assert all(shown[name] == turned[name] for name in names if name not in numbered)
