"""Names of C++ functions, as demanglers write them, and the function of a kernel.

The function, not its template arguments, identifies what a kernel does: a matrix product whose
layout is `NoPermute` is not a copy. All rules on names match `kernel_function`; `tree` parses the
brackets of a signature for it and for display.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

#: Limits of what is read of a signature.
LONGEST_SIGNATURE = 20_000
DEEPEST_NESTING = 40


@dataclass(slots=True)
class Bracket:
    """A bracket and its content."""

    opening: str
    nodes: list[Node] = field(default_factory=list)


Node = str | Bracket
Nodes = Sequence[Node]

CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}

_SUFFIX = re.compile(r"(?:\.kd| \[clone [^\[\]]*\])+$")
_UNNAMED = re.compile(
    r"(?:\(anonymous namespace\)|\{anonymous\}|`anonymous[ -]namespace'|(?<!\w)<unnamed>"
    r"|(?<![^ ])unnamed>)::"  # ncu on Windows loses the "<"
)
_MEMBER_QUALIFIERS = re.compile(r"\)(?: const| volatile| noexcept| ?&)+(?=::|$)")
_TOKEN = re.compile(
    r"(?<!\w)operator ?(?:\(\)|\[\]|->\*?|<=>|<<=?|>>=?|&&|\|\||\+\+|--|[-+*/%^&|=!<>]=?|[~,])"
    r"(?: (?=<))?"
    r"|->|::|[<>()\[\]{},]| +|[^<>()\[\]{},:\s-]+|."
)


def without_suffix(name: str) -> str:
    """`name` without the suffixes of compilers: ``.kd``, ``[clone …]``."""
    return _SUFFIX.sub("", name)


def plain(name: str) -> str:
    """`name` without unnamed namespaces and the qualifiers of member functions."""
    return _MEMBER_QUALIFIERS.sub(")", _UNNAMED.sub("", name))


def tree(text: str, *, is_cut: bool = False) -> list[Node] | None:
    """The brackets of `text` as a tree; None if they do not match or nest too deep.

    With `is_cut`, open brackets end with the text: reports truncate names.
    """
    stack = [Bracket("")]
    for match in _TOKEN.finditer(text):
        token = match.group()
        inner = stack[-1]
        if _opens(token, text[max(0, match.start() - 1) : match.start()], inner):
            group = Bracket(token)
            inner.nodes.append(group)
            stack.append(group)
        elif token == CLOSING.get(inner.opening):
            stack.pop()
        elif token in CLOSING.values() and not (token == ">" and inner.opening == "("):
            return None
        else:
            inner.nodes.append(" " if token.isspace() else token)
        if len(stack) > DEEPEST_NESTING:
            return stack[0].nodes if is_cut else None
    return stack[0].nodes if len(stack) == 1 or is_cut else None


def _opens(token: str, before: str, inner: Bracket) -> bool:
    """Whether `token` is an opening bracket; a ``<`` that is not after a name compares."""
    if token != "<":
        return token in CLOSING
    previous = inner.nodes[-1] if inner.nodes else ""
    after_operator = isinstance(previous, str) and previous.startswith("operator")
    return after_operator or bool(re.match(r"[\w\]]", before))


def split(nodes: Nodes, separator: str) -> list[list[Node]]:
    """The runs between `separator` tokens, without empty ones."""
    runs: list[list[Node]] = [[]]
    for node in nodes:
        if node == separator:
            runs.append([])
        else:
            runs[-1].append(node)
    return [run for run in runs if run]


# The function of a kernel

#: Functions that run a function named in their template arguments, by the end of their qualified
#: names: PyTorch's loops over elements and its wrappers around an operation, the entry points of
#: CUTLASS, Composable Kernel, Thrust and rocPRIM, and the lambdas of nvcc.
_CARRIERS = re.compile(
    r"(?:^|::)(?:\w*elementwise_kernel\w*|multi_tensor_apply_kernel|kernelPointwiseApply\d"
    r"|gpu_kernel_impl\w*|gpu_kernel_with_scalars|opmath_\w*gpu_kernel\w*|[AB]?UnaryFunctor"
    r"|BinaryFunctor|__nv_h?dl_wrapper_t|__nv_dl_tag|[Kk]ernel2?|device_kernel|enable_sm\w*|kentry"
    r"|_?kernel_agent|trampoline_kernel)$"
)
_SAYS_NOTHING = re.compile(
    r"(?:[-+]?[\d.]+\w*|void|bool|(?:un)?signed|char|short|int|long|float|double|auto|true|false"
    r"|nullptr|const|(?:__)?half2?|Half|_*(?:nv_|hip_)?b?float\d*(?:_t)?|B?Float\w*|complex|u?int\w*"
    r"|[Aa]rray|integral_constant|type|value|TensorListMetadata|gfx\w+|)"
)
_IDENTIFIER = re.compile(r"~?[^\W\d][\w$]*")
_RANGES = re.compile(r"^(?:[\w.: -]+/)+(?=\S)")
#: Triton's suffix for the arguments of a kernel, if there is a name before it: ``_0d1d2de``.
_SPECIALIZED = re.compile(r"(?<=[^_])_(?=\d*[cde])0[cde]*1[cde\d]*$")
_NO_NAME = re.compile(r"operator\b|_$|_GLOBAL__N_")
# Profilers differ in these.
_QUALIFIERS = re.compile(r"\b(?:const|volatile)\b ?| (?=[*&])")
_CALL = re.compile(r"operator ?\(\)")
_FLAGS = {"false": "0", "true": "1"}
_UNSIGNED = re.compile(r"(?<=\d)[uUlL]+$")


@lru_cache(maxsize=1 << 16)
def kernel_function(name: str) -> str:
    """The function in a kernel's name: namespaces and name, without brackets.

    It has no return type, template arguments, parameters, lambdas, unnamed namespaces, compiler
    suffixes or the ranges that a profiler writes before a name (``forward/gemm``).

    If a function only runs one of its template arguments (PyTorch's loops over elements, entry
    points of CUTLASS), the function of the first such argument follows after a space:
    ``at::native::unrolled_elementwise_kernel at::native::CUDAFunctor_add``. Mangled names
    (``_Z…``) are demangled first, even if the end is missing. The last part of Ascend's
    ``aclnnMm_MatMulCommon_MemSet`` is the operator; Triton's ``triton_poi_fused_add_0_0d1d2de``
    loses the divisibility of its arguments. A name that is not a C++ signature is unchanged.
    """
    text = _written(name[:LONGEST_SIGNATURE])
    if _MANGLED.match(text):
        text = _demangled(text)
    if text.startswith("aclnn"):
        return text.rpartition("_")[2]
    if not re.search(r"[<(]|::", text) or re.search(r"\w \((?!anonymous)[^()]*\)$", text):
        return text
    nodes = tree(plain(text), is_cut=True)
    words = split(nodes, " ") if nodes else []
    return " ".join(_functions(_declared(words))) or text


def function_key(name: str) -> str:
    """`kernel_function` without namespaces: the same in each profiler's spelling of a kernel.

    Nsight Compute omits some namespaces, different ones in different names
    (``at::vectorized_elementwise_kernel``, ``native::vectorized_elementwise_kernel``).
    """
    return " ".join(part.rpartition("::")[2] for part in kernel_function(name).split(" "))


@lru_cache(maxsize=1 << 16)
def template_arguments(name: str) -> str:
    """The template arguments of a kernel's function, spelled the same for all profilers.

    ``f<(T)2, ns::g<false>>`` and ``f<2ul, g<0> >`` both have ``2,g<0>``. Namespaces and the types
    of numbers are omitted, because some tools omit them; lambdas have their numbers. Empty if there
    are none, or if the name is truncated.
    """
    text = _written(name) if len(name) <= LONGEST_SIGNATURE else ""
    whole = _whole(text) if _MANGLED.match(text) else text
    nodes = tree(_QUALIFIERS.sub("", plain(whole or "")))
    return ",".join(_instantiated(_declared(split(nodes or [], " "))))


def _written(name: str) -> str:
    """A name without ranges and the suffixes of compilers and Triton."""
    return _SPECIALIZED.sub("", _RANGES.sub("", without_suffix(name)))


def _instantiated(nodes: Nodes) -> Iterator[str]:
    """The template arguments in a word of a signature."""
    for node in nodes:
        if isinstance(node, Bracket) and node.opening == "<":
            yield from (_spelled_alike(run) for run in split(node.nodes, ","))


def _spelled_alike(argument: list[Node]) -> str:
    words = split(argument, " ")
    declared = _declared(words)
    is_called = any(isinstance(node, Bracket) and node.opening == "(" for node in declared)
    *outer, last = split(declared if is_called else argument, "::") or [[]]
    said = [part for part in outer if any(isinstance(node, Bracket) for node in part)]
    return "::".join(filter(None, map(_part, [*said, last])))


def _part(nodes: Nodes) -> str:
    """One part of a qualified name; nothing for the call of an unnamed function."""
    return "" if nodes and _CALL.match(str(nodes[0])) else "".join(map(_node, nodes))


def _node(node: Node) -> str:
    if isinstance(node, str):
        text = node.rpartition("=")[2].lstrip("&").strip()
        return _FLAGS.get(text) or _UNSIGNED.sub("", text)
    if node.opening == "<":
        return f"<{','.join(_instantiated([node]))}>"
    return f"#{_instance(node)}" if node.opening in "[{" else ""


def _instance(bracket: Bracket) -> str:
    """The number of a lambda: of ``{lambda()#4}``, ``[lambda() (instance 4)]``."""
    last = bracket.nodes[-1] if bracket.nodes else ""
    text = _instance(last) if isinstance(last, Bracket) else last
    return text.rpartition("#")[2]


def _declared(words: list[list[Node]]) -> list[Node]:
    """The word of a signature that is its name: the first after the return type."""
    called = [
        word
        for word in words
        if any(isinstance(node, Bracket) and node.opening == "(" for node in word)
        and isinstance(word[0], str)
        and word[0] != "decltype"
    ]
    return called[0] if called else words[-1] if words else []


def _functions(word: Nodes) -> Iterator[str]:
    """The qualified name of a word, then that of the function it runs."""
    parts = [part for part in split(word, "::") if _names(part)]
    if not parts:
        return
    qualified = "::".join(_identifier(part) for part in parts)
    yield qualified
    if _CARRIERS.search(qualified):
        found = next(filter(None, map(_argument, _arguments(parts[-1]))), None)
        yield from found or ()


def _names(part: Nodes) -> bool:
    text = _identifier(part)
    return bool(_IDENTIFIER.fullmatch(text)) and not _NO_NAME.match(text)


def _identifier(part: Nodes) -> str:
    return part[0].lstrip("&*") if isinstance(part[0], str) else ""


def _arguments(part: Nodes) -> list[list[Node]]:
    """Template arguments, addresses of functions before types."""
    groups = [node for node in part if isinstance(node, Bracket) and node.opening == "<"]
    found = [run for group in groups for run in split(group.nodes, ",")]
    return sorted(found, key=lambda run: not any(isinstance(n, str) and n[0] == "&" for n in run))


def _argument(nodes: list[Node]) -> list[str] | None:
    """The functions that a template argument names; None for a number or plain type."""
    found = list(_functions(_declared(split(nodes, " "))))
    last = found[0].rpartition("::")[2] if found else ""
    return None if _SAYS_NOTHING.fullmatch(last) else found


# Mangled names

_MANGLED = re.compile(r"_ZL?[N\d]")
#: For a truncated name, this many starts of template arguments are tried, …
_MAX_TRIALS = 8
#: … each with these ends: of a name without arguments, and of one with an argument or within it.
_ENDS = ("Ev", "EEvv", "EEEvv", "EEEEvv")


def _demangled(name: str) -> str:
    """A mangled name (Itanium C++ ABI) demangled; unchanged if that is impossible.

    A name without its end is read up to the start of template arguments, if that can be completed.
    """
    whole = _whole(name)
    if whole is not None:
        return whole
    # Imported here, because few files have such names.
    from demangle import demangle

    places = [match.start() for match in re.finditer("I", name)][:_MAX_TRIALS]
    trials = [name[:place] + end for place in places for end in _ENDS]
    found = [demangle(trial, language="itanium") for trial in trials]
    read = [text for text, trial in zip(found, trials, strict=True) if text != trial]
    return read[-1] if read else name


def _whole(name: str) -> str | None:
    """A mangled name demangled; unchanged if it is not one; None if its end is missing."""
    from demangle import DemanglingError, TruncatedError, demangle_strict

    try:
        return demangle_strict(name, language="itanium")
    except TruncatedError:
        return None
    except DemanglingError:
        return name
