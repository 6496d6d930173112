"""Annotations whose names differ in numbers only: places of a model, or its iterations.

Places are kept apart; iterations become one member of a chain.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from tracekit.attribution import names
from tracekit.attribution.columns import NONE, Ints, Texts
from tracekit.attribution.slices import ANNOTATION, Slices

#: More names than that in a family are no places of a model.
MOST_NAMES = 256


def fold(found: Slices, step: Ints, texts: Texts) -> None:
    """Put # for the numbers in names of annotations that number iterations.

    A family of names (alike but for their numbers) does that where it is met in several steps and
    none of its names in two of them; or where it has more than `MOST_NAMES` names.
    """
    is_annotation = found.kind == ANNOTATION
    pairs = np.unique(
        np.stack((found.name[is_annotation].astype(np.int64), step[is_annotation])), axis=1
    )
    families: dict[str, dict[int, set[int]]] = defaultdict(dict)
    for code, number in zip(*pairs.tolist(), strict=True):
        name = texts.values[code] or ""
        common = names.family(name)
        if common != name and not names.is_step_mark(name):
            met = families[common].setdefault(code, set())
            if number != NONE:
                met.add(number)
    renamed = np.arange(len(texts.values), dtype=np.int32)
    for common, members in families.items():
        if _numbers_iterations(members):
            renamed[list(members)] = texts.code(common)
    found.name = np.where(is_annotation, renamed[found.name], found.name)


def _numbers_iterations(members: dict[int, set[int]]) -> bool:
    is_once = all(len(met) <= 1 for met in members.values())
    return len(members) > MOST_NAMES or (is_once and len(set().union(*members.values())) > 1)
