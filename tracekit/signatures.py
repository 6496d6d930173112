"""Names of C++ functions, as demanglers write them, and the function that a kernel is of.

What a kernel does is told by its function, not by what the function is instantiated with: a
product of matrices whose layout is `NoPermute` is no copy. `kernel_function` is what all rules on
names are held against; `tree` reads the brackets of a signature for it and for display.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

#: Signatures longer than this are not read further, and no deeper.
LONGEST_SIGNATURE = 20_000
DEEPEST_NESTING = 40


@dataclass(slots=True)
class Bracket:
    """A bracket and what stands in it."""

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
    """`name` without what compilers add: ``.kd``, ``[clone …]``."""
    return _SUFFIX.sub("", name)


def plain(name: str) -> str:
    """`name` without unnamed namespaces and the qualifiers of member functions."""
    return _MEMBER_QUALIFIERS.sub(")", _UNNAMED.sub("", name))


def tree(text: str, *, is_cut: bool = False) -> list[Node] | None:
    """The brackets of `text` as a tree; None where they do not match or nest too deep.

    With `is_cut` what is not closed ends with the text: reports leave out the ends of names.
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
    """The runs between `separator` tokens; empty ones are left out."""
    runs: list[list[Node]] = [[]]
    for node in nodes:
        if node == separator:
            runs.append([])
        else:
            runs[-1].append(node)
    return [run for run in runs if run]


# The function of a kernel

#: Functions that run what their template arguments name, by the end of their qualified names: the
#: loops of PyTorch over elements and what they wrap around an operation, the entries of CUTLASS,
#: Composable Kernel, Thrust and rocPRIM, and the lambdas of nvcc.
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
#: What Triton writes of the arguments of a kernel, if there is a name before it: ``_0d1d2de``.
_SPECIALIZED = re.compile(r"(?<=[^_])_(?=\d*[cde])0[cde]*1[cde\d]*$")
_NO_NAME = re.compile(r"operator\b|_$|_GLOBAL__N_")
# What profilers spell in two ways.
_QUALIFIERS = re.compile(r"\b(?:const|volatile)\b ?| (?=[*&])")
_CALL = re.compile(r"operator ?\(\)")
_FLAGS = {"false": "0", "true": "1"}
_UNSIGNED = re.compile(r"(?<=\d)[uUlL]+$")


@lru_cache(maxsize=1 << 16)
def kernel_function(name: str) -> str:
    """The function that a kernel's name is of: namespaces and name, and nothing in brackets.

    Gone are the return type, template arguments, parameters, lambdas, unnamed namespaces, what
    compilers add and the ranges that a profiler writes before a name (``forward/gemm``).

    A function that only runs what its template arguments name (a loop of PyTorch over elements,
    an entry of CUTLASS) is followed, after a space, by the function of the first that names one:
    ``at::native::unrolled_elementwise_kernel at::native::CUDAFunctor_add``. Mangled names
    (``_Z…``) are demangled first, and of one whose end is missing the function is still read; of
    Ascend's ``aclnnMm_MatMulCommon_MemSet`` the last part is the operator; of Triton's
    ``triton_poi_fused_add_0_0d1d2de`` what the arguments are divided by is left out. What is no
    C++ signature stays as it is.
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
    """`kernel_function` without namespaces: the same in each profiler's spelling of one kernel.

    Nsight Compute leaves out some namespaces, and which ones changes from name to name
    (``at::vectorized_elementwise_kernel``, ``native::vectorized_elementwise_kernel``).
    """
    return " ".join(part.rpartition("::")[2] for part in kernel_function(name).split(" "))


@lru_cache(maxsize=1 << 16)
def template_arguments(name: str) -> str:
    """What a kernel's function is instantiated with, spelled alike for all profilers.

    ``f<(T)2, ns::g<false>>`` and ``f<2ul, g<0> >`` both have ``2,g<0>``. Namespaces and the types
    of numbers are left out, as some tools do that; lambdas have their numbers. Empty where there
    are none, or where the name is cut and does not say.
    """
    text = _written(name) if len(name) <= LONGEST_SIGNATURE else ""
    whole = _whole(text) if _MANGLED.match(text) else text
    nodes = tree(_QUALIFIERS.sub("", plain(whole or "")))
    return ",".join(_instantiated(_declared(split(nodes or [], " "))))


def _written(name: str) -> str:
    """A name without ranges, suffixes and what Triton adds."""
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
    """The word of a signature that is its name: behind the return type, before anything else."""
    called = [
        word
        for word in words
        if any(isinstance(node, Bracket) and node.opening == "(" for node in word)
        and isinstance(word[0], str)
        and word[0] != "decltype"
    ]
    return called[0] if called else words[-1] if words else []


def _functions(word: Nodes) -> Iterator[str]:
    """The qualified name of a word, then that of what it runs."""
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
    """Template arguments; those that are the address of a function before the types."""
    groups = [node for node in part if isinstance(node, Bracket) and node.opening == "<"]
    found = [run for group in groups for run in split(group.nodes, ",")]
    return sorted(found, key=lambda run: not any(isinstance(n, str) and n[0] == "&" for n in run))


def _argument(nodes: list[Node]) -> list[str] | None:
    """The functions that one template argument names; None where it is a number or plain type."""
    found = list(_functions(_declared(split(nodes, " "))))
    last = found[0].rpartition("::")[2] if found else ""
    return None if _SAYS_NOTHING.fullmatch(last) else found


# Mangled names

_MANGLED = re.compile(r"_ZL?[N\d]")
#: Of a name that is cut so many beginnings of template arguments are tried, …
_MOST_TRIALS = 8
#: … and of each these ends: of a name without arguments, and of one with an argument or within it.
_ENDS = ("Ev", "EEvv", "EEEvv", "EEEEvv")


def _demangled(name: str) -> str:
    """A mangled name (Itanium C++ ABI) as `demangle` reads it; as it is where that reads nothing.

    One whose end is missing is read up to where template arguments begin, if that can be completed.
    """
    whole = _whole(name)
    if whole is not None:
        return whole
    # Imported here, as few files have such names.
    from demangle import demangle

    places = [match.start() for match in re.finditer("I", name)][:_MOST_TRIALS]
    trials = [name[:place] + end for place in places for end in _ENDS]
    found = [demangle(trial, language="itanium") for trial in trials]
    read = [text for text, trial in zip(found, trials, strict=True) if text != trial]
    return read[-1] if read else name


def _whole(name: str) -> str | None:
    """A mangled name demangled, as it is where it is none; None where its end is missing."""
    from demangle import DemanglingError, TruncatedError, demangle_strict

    try:
        return demangle_strict(name, language="itanium")
    except TruncatedError:
        return None
    except DemanglingError:
        return name
