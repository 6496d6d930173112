"""Annotations whose names differ only in numbers: places of a model, or its iterations.

Places stay separate; iterations become one member of a chain.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from tracekit.attribution import names
from tracekit.attribution.columns import (
    NONE,
    Codes,
    IntColumn,
    Ints,
    Texts,
    distinct,
    firsts_of,
    together,
)
from tracekit.attribution.forms import ANNOTATION
from tracekit.attribution.slices import Slices

#: A family with more names than this does not name places of a model.
MOST_NAMES = 256


def fold(found: Slices, step: IntColumn, texts: Texts) -> None:
    """Replace the numbers in names of annotations that number iterations by #.

    A family of names (equal except for their numbers) numbers iterations if it occurs in several
    steps but none of its names in two of them, or if it has more than `MOST_NAMES` names.
    """
    annotations = found.of_kind(ANNOTATION)
    pairs = _distinct_pairs(found.of_form("name", annotations), step[annotations])
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
    folded = found.forms.renamed(renamed, ANNOTATION)
    found.put_forms(annotations, folded[found.form[annotations]])


def _distinct_pairs(names: Codes, steps: Ints) -> np.ndarray:
    first = firsts_of(together(names, distinct(steps)))
    return np.stack((names[first].astype(np.int64), steps[first]))


def _numbers_iterations(members: dict[int, set[int]]) -> bool:
    is_once = all(len(met) <= 1 for met in members.values())
    return len(members) > MOST_NAMES or (is_once and len(set().union(*members.values())) > 1)
