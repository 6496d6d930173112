"""Shortens C++ signatures as written by demanglers.

`tracekit.render.names` documents the rules. Nothing here raises: a name that is not a signature
stays as it is.
"""

from __future__ import annotations

import enum
import re
from functools import lru_cache

from tracekit.render.text import inert
from tracekit.signatures import (
    CLOSING,
    LONGEST_SIGNATURE,
    Bracket,
    Node,
    Nodes,
    plain,
    split,
    tree,
    without_suffix,
)


class Detail(enum.Enum):
    """How much of a signature to show."""

    SHORT = enum.auto()
    ARGUMENTS = enum.auto()
    PARAMETERS = enum.auto()
    FULL = enum.auto()


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


@lru_cache(maxsize=1 << 12)
def reading(name: str, detail: Detail) -> str:
    """`name` as inert text of any width; a C++ signature is reduced to `detail`."""
    name = inert(name)
    if detail is Detail.FULL:
        return name
    bare = without_suffix(name)
    if len(bare) > LONGEST_SIGNATURE:
        return bare
    text = plain(bare)
    nodes = tree(text)
    words = split(nodes, " ") if nodes else []
    if not words or not _is_signature(words, text):
        return bare
    return _qualified(words[-1], detail, with_parentheses=detail is Detail.PARAMETERS)


def _is_signature(words: list[list[Node]], text: str) -> bool:
    *return_type, name = words
    parts = split(name, "::")
    return (
        bool(parts)
        and all(_is_name_part(part) for part in parts)
        and all(_is_type_word(word) for word in return_type)
        and _ends_in_types(parts[-1])
        and bool(_CPP_SIGN.search(text))
    )


def _is_name_part(part: list[Node]) -> bool:
    first, *groups = part
    if isinstance(first, Bracket):
        return first.opening == "{" and not groups
    named = first.startswith("operator") or _IDENTIFIER.fullmatch(first)
    return bool(named) and all(isinstance(group, Bracket) for group in groups)


def _is_type_word(word: list[Node]) -> bool:
    if isinstance(word[0], Bracket) or not _IDENTIFIER.match(word[0]) or word[-1] == ":":
        return False
    texts = [node for node in word if isinstance(node, str)]
    return all(_TYPE_TEXT.fullmatch(text) and text != "operator" for text in texts)


def _ends_in_types(part: list[Node]) -> bool:
    """Whether `part` ends in template arguments, or in parameters that are types, not values."""
    group = part[-1]
    if isinstance(group, str) or group.opening not in "<(":
        return False
    return group.opening == "<" or all(map(_is_parameter, split(group.nodes, ",")))


def _is_parameter(nodes: Nodes) -> bool:
    """Whether the text outside the brackets in `nodes` is a type."""
    outside = "".join(node if isinstance(node, str) else "()" for node in nodes)
    return bool(_PARAMETER.fullmatch(outside.strip()))


# Writing


def _qualified(word: Nodes, detail: Detail, *, with_parentheses: bool = True) -> str:
    """A qualified name without its namespaces."""
    *before, last = split(word, "::") or [[]]
    kept = [_part(last, detail, with_parentheses=with_parentheses)]
    while before and _SAYS_NOTHING.match(kept[0]):
        part = _part(before.pop(), detail, with_parentheses=False)
        while before and _BETWEEN[detail].match(part):
            part = _part(before.pop(), detail, with_parentheses=False)
        kept.insert(0, part)
    return "::".join(kept)


def _part(part: Nodes, detail: Detail, *, with_parentheses: bool) -> str:
    """One part of a qualified name, with its template arguments."""
    is_lambda = bool(part) and isinstance(part[0], str) and part[0].startswith("'lambda")
    return "".join(
        node if isinstance(node, str) else _group(node, detail)
        for node in part
        if isinstance(node, str) or with_parentheses or is_lambda or node.opening != "("
    )


def _group(group: Bracket, detail: Detail) -> str:
    if group.opening == "<":
        return _template_arguments(group, detail)
    if group.opening == "[" and detail is Detail.SHORT:
        return ""
    inside = ", ".join(_type(nodes, detail) for nodes in split(group.nodes, ","))
    return group.opening + inside + CLOSING[group.opening]


def _template_arguments(group: Bracket, detail: Detail) -> str:
    arguments = split(group.nodes, ",")
    if detail is Detail.SHORT:
        arguments = [nodes for nodes in arguments if not _TRIVIAL.fullmatch(_text(nodes).strip())]
    texts = [_type(nodes, detail) for nodes in arguments]
    if detail is Detail.SHORT:
        texts = [text for text, before in zip(texts, ["", *texts], strict=False) if text != before]
    return f"<{', '.join(texts)}>" if texts else ""


def _type(nodes: Nodes, detail: Detail) -> str:
    return " ".join(_qualified(word, detail) for word in split(nodes, " "))


def _text(nodes: Nodes) -> str:
    """`nodes` as they were written."""
    return "".join(
        node if isinstance(node, str) else node.opening + _text(node.nodes) + CLOSING[node.opening]
        for node in nodes
    )
