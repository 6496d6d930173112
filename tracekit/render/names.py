"""Shortens names of kernels for display; stored and exported names are always full.

The rules, for a C++ signature (other names are only cut):

1. Remove the return type, the parameter list, ``.kd`` and ``[clone …]``, ``[…]`` tags, unnamed
   namespaces, and the namespaces of the function and of the types in its template arguments.
2. From the template arguments, remove numbers, booleans, casts such as ``(int)4``, array types, and
   arguments that repeat the previous one.
3. A last part that means nothing alone (a lambda, an operator, a destructor, ``kernel``) keeps the
   part before it; lambdas and ``operator()`` between a function and its last lambda are removed.
4. A name that is still too wide is cut in the middle, with ``…``.
5. If two names in a column would look the same, more is shown: first all template arguments, then
   also the parameters, then the full names. A cut moves to the place where they differ. If that
   does not help, a number is added: ``…#2``.

A name counts as a C++ signature only if its brackets match, it ends in template arguments or in
a list of types, and something in it is clearly C++ (``::``, ``<``, ``*``, a built-in type):
operators (``aten::add``), Python frames, copies and annotations stay as they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from rich.cells import cell_len

from tracekit.render.cells import ELLIPSIS, cluster_start, cut, head
from tracekit.render.signatures import Detail, reading

#: Minimum width for names that must stay distinct.
LEAST_WIDTH = 12

_ROUNDS = 8


def short_name(name: str, limit: int) -> str:
    """`name` for display in at most `limit` columns of the terminal (at least one)."""
    return cut(reading(name, Detail.SHORT), limit)


def display_names(names: Sequence[str], limit: int) -> list[str]:
    """`names` for display, in order: equal names look the same, distinct ones differ.

    They are no wider than `limit` columns, or LEAST_WIDTH if that is more.
    """
    limit = max(limit, LEAST_WIDTH)
    readings = _readings(names)
    cuts = _cut_apart(list(dict.fromkeys(readings.values())), limit)
    shown: dict[str, str] = {}
    taken: dict[str, int] = {}
    for name, text in readings.items():
        shown[name] = _numbered(cuts[text], limit, taken)
    return [shown[name] for name in names]


# Distinguishing names


def _readings(names: Iterable[str]) -> dict[str, str]:
    """Each distinct name with its shortest unique reading."""
    readings = {name: reading(name, Detail.SHORT) for name in dict.fromkeys(names)}
    for group in _alike(readings):
        readings.update(_told_apart(group))
    return readings


def _alike(texts: Mapping[str, str]) -> list[list[str]]:
    """Groups of keys that share a text; keys with a unique text are omitted."""
    groups: dict[str, list[str]] = {}
    for key, text in texts.items():
        groups.setdefault(text, []).append(key)
    return [group for group in groups.values() if len(group) > 1]


def _told_apart(names: list[str]) -> dict[str, str]:
    """`names`, which read the same when short, in the least detail that distinguishes them."""
    for detail in Detail:
        readings = {name: reading(name, detail) for name in names}
        if not _alike(readings):
            return readings
    return {}


def _cut_apart(texts: list[str], limit: int) -> dict[str, str]:
    """`texts` with their cuts, which differ wherever a cut can show a difference."""
    cuts = {text: cut(text, limit) for text in texts}
    for _ in range(_ROUNDS):  # cuts of different groups may fall together again
        for group in _alike(cuts):
            cuts.update(_at_difference(group, limit))
    return cuts


def _at_difference(texts: list[str], limit: int) -> dict[str, str]:
    """`texts` cut where they agree, so that the place where they differ is seen."""
    front = head(texts[0], limit // 4)
    room = limit - cell_len(front) - 1
    agreed = len(os.path.commonprefix(texts))  # noqa: RUF071 - of names, not of paths
    start = _telling_start(texts[0], agreed, room * 3 // 5)
    if start <= len(front) + 1:
        return {text: cut(text, limit, head_share=0.8) for text in texts}
    return {text: front + ELLIPSIS + cut(text[start:], room, head_share=0.8) for text in texts}


def _telling_start(text: str, index: int, reach: int) -> int:
    """Where to begin to show what is at `index`: its argument, or as far before as `reach`."""
    lowest = max(0, index - reach)
    argument = max(text.rfind(mark, lowest, index) for mark in "<, ") + 1
    return cluster_start(text, argument or lowest)


def _numbered(text: str, limit: int, taken: dict[str, int]) -> str:
    """`text`, or with the next number if it is taken; `taken` has the last number of each text."""
    number, candidate = taken.get(text, 1), text
    while candidate in taken:
        number += 1
        mark = f"{ELLIPSIS}#{number}"
        candidate = head(text, limit - len(mark)).rstrip(ELLIPSIS) + mark
    taken[text] = number
    taken.setdefault(candidate, 1)
    return candidate
