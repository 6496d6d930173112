"""C++ signatures, as demanglers write them, read and written again with less in them.

What goes is said in `tracekit.render.names`. Nothing here raises: what cannot be read as a
signature is left as it is.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tracekit.render.text import inert


class Detail(enum.Enum):
    """How much of a signature is shown."""

    SHORT = enum.auto()
    ARGUMENTS = enum.auto()
    PARAMETERS = enum.auto()
    FULL = enum.auto()


@dataclass(slots=True)
class _Group:
    """A bracket and what stands in it."""

    opening: str
    nodes: list[_Node] = field(default_factory=list)


_Node = str | _Group
_Nodes = Sequence[_Node]

_LONGEST_SIGNATURE = 20_000
_DEEPEST_NESTING = 40

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
_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}
_IDENTIFIER = re.compile(r"~?[^\W\d][\w$]*|\$_\d+|'lambda\d*'")
_TYPE_TEXT = re.compile(r"[\w$:*&,'~ #-]*")
_CPP_SIGN = re.compile(
    r"::|[<*&]|\b(?:void|bool|char|short|int|long|float|double|unsigned|signed|\w+_t)\b"
)
_PARAMETER = re.compile(r"[^\W\d][\w :*&$,()]*|\(\)[()]*|\.\.\.")
_TRIVIAL = re.compile(
    r"(?:\([^()]*\))*(?:[-+]?(?:\d[\w.]*|true|false|nullptr)|(?:\w+::)*[Aa]rray<.*>)"
)
_SAYS_NOTHING = re.compile(r"\{|'lambda|\$_|operator|~|kernel\b")
_BETWEEN = {
    Detail.SHORT: re.compile(r"\{|'lambda|\$_|operator\(\)"),
    Detail.ARGUMENTS: re.compile(r"operator\(\)"),
    Detail.PARAMETERS: re.compile(r"(?!)"),
}


def reading(name: str, detail: Detail) -> str:
    """`name` as inert text of any width: a C++ signature with no more than `detail` says."""
    name = inert(name)
    if detail is Detail.FULL:
        return name
    bare = _SUFFIX.sub("", name)
    if len(bare) > _LONGEST_SIGNATURE:
        return bare
    plain = _MEMBER_QUALIFIERS.sub(")", _UNNAMED.sub("", bare))
    nodes = _tree(plain)
    words = _split(nodes, " ") if nodes else []
    if not words or not _is_signature(words, plain):
        return bare
    return _qualified(words[-1], detail, with_parentheses=detail is Detail.PARAMETERS)


def _tree(text: str) -> list[_Node] | None:
    """The brackets of `text` as a tree; None where they do not match."""
    stack = [_Group("")]
    for match in _TOKEN.finditer(text):
        token = match.group()
        inner = stack[-1]
        if _opens(token, text[max(0, match.start() - 1) : match.start()], inner):
            group = _Group(token)
            inner.nodes.append(group)
            stack.append(group)
        elif token == _CLOSING.get(inner.opening):
            stack.pop()
        elif token in _CLOSING.values() and not (token == ">" and inner.opening == "("):
            return None
        else:
            inner.nodes.append(" " if token.isspace() else token)
        if len(stack) > _DEEPEST_NESTING:
            return None
    return stack[0].nodes if len(stack) == 1 else None


def _opens(token: str, before: str, inner: _Group) -> bool:
    """Whether `token` is an opening bracket; a ``<`` that is not after a name compares."""
    if token != "<":
        return token in _CLOSING
    previous = inner.nodes[-1] if inner.nodes else ""
    after_operator = isinstance(previous, str) and previous.startswith("operator")
    return after_operator or bool(re.match(r"[\w\]]", before))


def _split(nodes: _Nodes, separator: str) -> list[list[_Node]]:
    """The runs between `separator` tokens; empty ones are left out."""
    runs: list[list[_Node]] = [[]]
    for node in nodes:
        if node == separator:
            runs.append([])
        else:
            runs[-1].append(node)
    return [run for run in runs if run]


def _is_signature(words: list[list[_Node]], text: str) -> bool:
    *return_type, name = words
    parts = _split(name, "::")
    return (
        bool(parts)
        and all(_is_name_part(part) for part in parts)
        and all(_is_type_word(word) for word in return_type)
        and _ends_in_types(parts[-1])
        and bool(_CPP_SIGN.search(text))
    )


def _is_name_part(part: list[_Node]) -> bool:
    first, *groups = part
    if isinstance(first, _Group):
        return first.opening == "{" and not groups
    named = first.startswith("operator") or _IDENTIFIER.fullmatch(first)
    return bool(named) and all(isinstance(group, _Group) for group in groups)


def _is_type_word(word: list[_Node]) -> bool:
    if isinstance(word[0], _Group) or not _IDENTIFIER.match(word[0]) or word[-1] == ":":
        return False
    texts = [node for node in word if isinstance(node, str)]
    return all(_TYPE_TEXT.fullmatch(text) and text != "operator" for text in texts)


def _ends_in_types(part: list[_Node]) -> bool:
    """Whether `part` ends in template arguments, or in parameters that are types, not values."""
    group = part[-1]
    if isinstance(group, str) or group.opening not in "<(":
        return False
    return group.opening == "<" or all(map(_is_parameter, _split(group.nodes, ",")))


def _is_parameter(nodes: _Nodes) -> bool:
    """Whether a type is what stands outside of the brackets in `nodes`."""
    outside = "".join(node if isinstance(node, str) else "()" for node in nodes)
    return bool(_PARAMETER.fullmatch(outside.strip()))


# Writing it again


def _qualified(word: _Nodes, detail: Detail, *, with_parentheses: bool = True) -> str:
    """A name with its namespaces, without them."""
    *before, last = _split(word, "::") or [[]]
    kept = [_part(last, detail, with_parentheses=with_parentheses)]
    while before and _SAYS_NOTHING.match(kept[0]):
        part = _part(before.pop(), detail, with_parentheses=False)
        while before and _BETWEEN[detail].match(part):
            part = _part(before.pop(), detail, with_parentheses=False)
        kept.insert(0, part)
    return "::".join(kept)


def _part(part: _Nodes, detail: Detail, *, with_parentheses: bool) -> str:
    """One part of a qualified name, with its template arguments."""
    is_lambda = bool(part) and isinstance(part[0], str) and part[0].startswith("'lambda")
    return "".join(
        node if isinstance(node, str) else _group(node, detail)
        for node in part
        if isinstance(node, str) or with_parentheses or is_lambda or node.opening != "("
    )


def _group(group: _Group, detail: Detail) -> str:
    if group.opening == "<":
        return _template_arguments(group, detail)
    if group.opening == "[" and detail is Detail.SHORT:
        return ""
    inside = ", ".join(_type(nodes, detail) for nodes in _split(group.nodes, ","))
    return group.opening + inside + _CLOSING[group.opening]


def _template_arguments(group: _Group, detail: Detail) -> str:
    arguments = _split(group.nodes, ",")
    if detail is Detail.SHORT:
        arguments = [nodes for nodes in arguments if not _TRIVIAL.fullmatch(_text(nodes).strip())]
    texts = [_type(nodes, detail) for nodes in arguments]
    if detail is Detail.SHORT:
        texts = [text for text, before in zip(texts, ["", *texts], strict=False) if text != before]
    return f"<{', '.join(texts)}>" if texts else ""


def _type(nodes: _Nodes, detail: Detail) -> str:
    return " ".join(_qualified(word, detail) for word in _split(nodes, " "))


def _text(nodes: _Nodes) -> str:
    """`nodes` as they were written."""
    return "".join(
        node if isinstance(node, str) else node.opening + _text(node.nodes) + _CLOSING[node.opening]
        for node in nodes
    )
