"""The function of a kernel: what is left of a name when all that it is instantiated with is gone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracekit.signatures import kernel_function

EW = "at::native::vectorized_elementwise_kernel"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # return type, template arguments, parameters, unnamed namespaces, what compilers add
        ("void foo<int>(float*, int)", "foo"),
        ("void at::native::(anonymous namespace)::foo<at::Half>(at::Half*)", "at::native::foo"),
        ("void unnamed>::transpose_tiled_kernel<32>(const float *, int)", "transpose_tiled_kernel"),
        ("foo(int) [clone .kd]", "foo"),
        ("__amd_rocclr_copyBuffer.kd", "__amd_rocclr_copyBuffer"),
        ("std::enable_if<(((8)>(0)))&&vllm::exists<X>, void>::type vllm::norm<X, 8>(X*", "vllm::norm"),
        ("Outer<int>::inner<float>(float*)", "Outer::inner"),
        ("bool ns::operator< <int>(int, int)", "ns"),
        ("void f<&g::h>(int)", "f"),
        ("a::b(c::copy<int>)::{lambda(d)#1}::operator()(e) const", "a::b"),
        ("auto a::b<int>(int) const", "a::b"),
        # ends left out, as reports do
        ("void cub::DeviceScanKernel<cub::AgentScanPolicy<128, 15, (cub::BlockLoad", "cub::DeviceScanKernel"),
        # what the template says is not what the function is
        ("void cutlass::Kernel<cutlass_80_gemm<cutlass::layout::NoPermute>>(Params)", "cutlass::Kernel cutlass_80_gemm"),
        ("void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<Shape, cutlass::layout::NoPermute>>(P)",
         "cutlass::device_kernel cutlass::gemm::kernel::GemmUniversal"),
        ("void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<int>>>(P)",
         "cutlass::device_kernel flash::enable_sm90_or_later flash::FlashAttnFwdSm90"),
        ("std::enable_if<!T7, void>::type internal::gemvx::kernel<int, float, cublasGemvParamsEx<int>>(T13)",
         "internal::gemvx::kernel cublasGemvParamsEx"),
        ("ck_tile::kentry<256, ck_tile::gfx950_t, ck_tile::FmhaFwdKernel<int>>(int) [clone .kd]",
         "ck_tile::kentry ck_tile::FmhaFwdKernel"),
        # loops of PyTorch run what they are given
        (f"void {EW}<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>>(int)",
         f"{EW} at::native::CUDAFunctor_add"),
        ("void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::BinaryFunctor"
         "<float, float, float, at::native::binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&)::{lambda(int)#1}>(int)",
         "at::native::elementwise_kernel at::native::gpu_kernel_impl_nocast at::native::BinaryFunctor "
         "at::native::binary_internal::MulFunctor"),
        ("void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)"
         "::{lambda()#3}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul> >(int)",
         "at::native::unrolled_elementwise_kernel at::native::direct_copy_kernel_cuda"),
        ("void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>, float>(int)",
         "multi_tensor_apply_kernel AdamFunctor"),
        ("void elementwise_kernel<__nv_hdl_wrapper_t<false, __nv_dl_tag<void (*)(at::Tensor&), &at::fill_it, 12u>>>(int)",
         "elementwise_kernel __nv_hdl_wrapper_t __nv_dl_tag at::fill_it"),
        # mangled
        ("_ZN13cutlass_cudnn6KernelINS_4conv6kernel23ImplicitGemmConvolutionIiEEEEvNT_6ParamsE",
         "cutlass_cudnn::Kernel conv::kernel::ImplicitGemmConvolution"),
        ("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bLi256ELb1EEEvPT0_", "aiter::add_rmsnorm_quant_kernel"),
        ("_ZN12_GLOBAL__N_13fooILi2EEEvv", "foo"),
        ("_ZN3OutIiE5innerEv", "Out::inner"),
        ("_Z4gemmPfS_i", "gemm"),
        ("_ZL4gemmPfS_i", "gemm"),
        ("_Znonsense", "_Znonsense"),
        # other languages
        ("triton_poi_fused_add_0", "triton_poi_fused_add_0"),
        ("Memcpy PtoP (Device -> Device)", "Memcpy PtoP (Device -> Device)"),
        ("all-reduce-start.3", "all-reduce-start.3"),
        ("aclnnMm_MatMulCommon_MemSet", "MemSet"),
        ("backward/attention/volta_sgemm_nn", "volta_sgemm_nn"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_kernel_is_called_by_its_function(name: str, expected: str) -> None:
    assert kernel_function(name) == expected


def test_brackets_that_never_end_end_nowhere() -> None:
    assert kernel_function("void f<" + "a<" * 50_000) == "f"
    assert kernel_function("_ZN" + "1aI" * 5_000)


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("ab:<>(){}[]_ ,&*ZNIE123SKL./-'$"), max_size=40))
def test_no_name_is_refused_or_gets_longer(name: str) -> None:
    for text in (name, f"_Z{name}"):
        found = kernel_function(text)
        assert bool(found) or not text.strip("./ ")
        assert len(found) <= 2 * len(text)
