"""The function of a kernel: what a name says without what it is instantiated with."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracekit.signatures import function_key, kernel_function, template_arguments

FUNCTIONS = Path(__file__).resolve().parent.parent / "fixtures" / "kernel_names" / "functions.csv"


def test_a_kernel_is_called_by_its_function() -> None:
    with FUNCTIONS.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert len(rows) > 30
    expected = {row["name"]: row["function"] for row in rows}
    assert {name: kernel_function(name) for name in expected} == expected


def test_brackets_that_never_end_end_nowhere() -> None:
    assert kernel_function("void f<" + "a<" * 50_000) == "f"
    assert kernel_function("_ZN" + "1aI" * 5_000)


def test_a_mangled_name_that_doubles_with_each_part_is_not_written_out() -> None:
    """Forty parts, each a pair of the one before: 2^40 names."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    places = ["1_", *(f"{digit}_" for digit in digits[2:]), "10_", "11_"]
    parts = "".join(f"S_IS{place}S{place}E" for place in places)
    assert kernel_function(f"_Z1f1BI1A1AE{parts}").startswith(("_Z1f", "f"))


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("ab:<>(){}[]_ ,&*ZNIE123SKL./-'$"), max_size=40))
def test_no_name_is_refused_or_explodes(name: str) -> None:
    """Two letters of a mangled name can stand for `std::basic_string`."""
    for text, growth in ((name, 2), (f"_Z{name}", 12)):
        assert len(template_arguments(text)) <= growth * len(text)
        found = kernel_function(text)
        assert bool(found) or not text.strip("./ ")
        assert len(found) <= growth * len(text)


#: One kernel each: as CUPTI has it in a trace, then as other tools print it.
SPELLINGS = [
    (
        "void at::native::elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int, char*)",
        "void at::elementwise_kernel<(int)4, at::native::CUDAFunctor_add<float>>(int, T2)",
        "void native::elementwise_kernel<4, native::CUDAFunctor_add<float>>(int, char *)",
    ),
    (
        "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, 2>(float*)",
        "void at::native::<unnamed>::CatArrayBatchedCopy<float, (int)2>(T1 *)",
        "CatArrayBatchedCopy",
    ),
    (
        "_ZN13cutlass_cudnn6KernelINS_4conv6kernel23ImplicitGemmConvolutionIiEEEEvNT_6ParamsE",
        "void cutlass_cudnn::Kernel<cutlass_cudnn::conv::kernel::ImplicitGemmConvolution<int>>(T1)",
        "_ZN13cutlass_cudnn6KernelINS_4conv6kernel23ImplicitGemmConvolutionIiEEEEvNT_6Par",
    ),
    ("sgl_hip::add<float>(float*) [clone .kd]", "_ZN7sgl_hip3addIfEEvPf.kd", "add"),
    ("triton_poi_fused_add_0", "triton_poi_fused_add_0_0d1d2de", "triton_poi_fused_add_0"),
    ("loop_add_fusion_12", "loop_add_fusion_12", "loop_add_fusion_12"),
]


@pytest.mark.parametrize("spellings", SPELLINGS, ids=lambda names: names[-1][:20])
def test_each_spelling_of_a_kernel_has_one_key(spellings: tuple[str, ...]) -> None:
    assert len({function_key(name) for name in spellings}) == 1
    assert len({template_arguments(name) for name in spellings} - {""}) <= 1


#: What one kernel is instantiated with: by CUPTI, by Nsight Compute, and in both by hand.
INSTANTIATED = [
    ("void k<float>(float*)", "k<float>(T1 *)", "float"),
    (
        "k<unsigned int, 2ul, -1>(int)",
        "void k<unsigned int, (unsigned long)2, (int)-1>()",
        "unsignedint,2,-1",
    ),
    ("k<(ns::Mode)3, false, true>()", "k<3, 0, 1>()", "3,0,1"),
    ("k<int=4, bool=1>(int)", "k<(int)4, (bool)1>(int)", "4,1"),
    ("k<float const*, a::b::C<d::E> >(int)", "k<const float *, C<E>>(int)", "float*,C<E>"),
    ("void a::C<float>::k<4>(int)", "void C<float>::k<(int)4>(int)", "float,4"),
    (
        "k<8, at::native::gelu(at::B&)::{lambda()#2}::operator()() const::{lambda(float)#1}>()",
        "k<8, at::gelu(at::B &)::[lambda() (instance 2)]::operator ()()::[lambda(T) (instance 1)]>",
        "8,gelu::#2::#1",
    ),
    (
        "k<4, f<T<float> >(B&, T<float> const&)::{lambda(int)#1}>(int)",
        "k<4, void f<T<float>>(B &, const T1 &)::[lambda(int) (instance 1)]>(int, T3)",
        "4,f<T<float>>::#1",
    ),
    ("_Z1kIfLi4ELb0EEvPf", "void k<float, 4, false>(float*)", "float,4,0"),
    ("k(int)", "k", ""),
    ("void k<float, a::b<int", "_Z1kIfLi4ELb0EEvP", ""),
    ("forward/_Z1kIfLi4ELb0EEvPf.kd", "forward/k<float, 4, 0>(float*)", "float,4,0"),
    ("forward/_Z1kIfLi4ELb0EEvP", "forward/k<float, 4", ""),
]


@pytest.mark.parametrize(("one", "other", "expected"), INSTANTIATED)
def test_template_arguments_are_spelled_alike(one: str, other: str, expected: str) -> None:
    assert (template_arguments(one), template_arguments(other)) == (expected, expected)


def test_kernels_of_one_step_have_one_key_in_trace_and_report(corpus: Path) -> None:
    """The report has one step, the trace two; their order is the same."""
    reports = sorted((corpus / "h100").glob("*.raw.csv.gz"))
    assert len(reports) == 9
    for report in reports:
        with gzip.open(report, "rt", encoding="utf-8", newline="") as lines:
            _, *rows = csv.DictReader(line for line in lines if line.startswith('"'))
        trace = report.with_name(report.name.replace(".raw.csv", ".trace.json"))
        events = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
        kernels = [event for event in events if event.get("cat") == "kernel"]
        kernels.sort(key=lambda event: float(event["ts"]))
        for rule in (function_key, template_arguments):
            timeline = [rule(event["name"]) for event in kernels]
            assert timeline == 2 * [rule(row["Kernel Name"]) for row in rows], report.name
