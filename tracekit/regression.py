"""Weights of labels in a linear regression: how much a metric of a sweep depends on each.

Wang Y. E. 2020 (ParaDnn), sect. 2.2 and Fig. 2 d to f: labels and metric are standardized, so the
weights can be compared; they keep their signs. Pure numbers: no tables, no SQL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
#: Unique ids of rows, and a number for each.
Column = tuple[npt.NDArray[np.int64], Numbers]
#: A column is a combination of others if they leave less than this share of it unexplained.
_LEFT = 1e-7
#: A column is named as part of such a combination from this share on.
_SHARE = 1e-6


@dataclass(frozen=True, slots=True)
class Term:
    """A label, or a product of two (``batch*nodes``).

    `weight` is in standard deviations of the metric per standard deviation of the term; None has a
    reason. `standard_error` is None if there are no more rows than terms.
    """

    name: str
    weight: float | None = None
    standard_error: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Fit:
    """The terms, the largest weights first.

    `r2_ratio` is the share of the metric's variance that they explain together, None without
    weights; `row_count` is the number of rows, None if no label was fitted.
    """

    terms: tuple[Term, ...]
    r2_ratio: float | None
    row_count: int | None


def fit(labels: Mapping[str, Numbers], metric: Numbers, *, has_products: bool, is_log: bool) -> Fit:
    """Least squares of a metric on labels, both with mean 0 and standard deviation 1.

    `labels` has a number for each row of `metric`. With `has_products` every product of two
    different labels (each standardized before and after) is a term too. With `is_log`, labels and
    metric are replaced by their logarithms; values not above 0 have none.
    """
    columns, out = {}, []
    for name, values in labels.items():
        column, reason = _standardized(values, is_log=is_log)
        if column is None:
            out.append(Term(name, reason=reason))
        else:
            columns[name] = column
    if has_products:
        products = {f"{a}*{b}": columns[a] * columns[b] for a, b in combinations(columns, 2)}
        for name, values in products.items():
            column, reason = _standardized(values, is_log=False)
            if column is None:
                out.append(Term(name, reason=reason))
            else:
                columns[name] = column
    target, reason = _standardized(metric, is_log=is_log)
    if target is None:
        out += [Term(name, reason=f"the metric {reason}") for name in columns]
        return Fit(tuple(out), None, len(metric))
    found, r2_ratio = _least_squares(columns, target)
    found.sort(key=lambda term: (term.weight is None, -abs(term.weight or 0.0), term.name))
    return Fit((*found, *out), r2_ratio, len(metric))


def fit_by_id(
    labels: Mapping[str, Column],
    metric: Column,
    *,
    must_be_whole: bool,
    has_products: bool,
    is_log: bool,
) -> Fit:
    """Like `fit`, for columns in any order, over the rows whose ids all columns have.

    NaN in a label stands for a word. A label without numbers gets a reason instead of a weight;
    with `must_be_whole`, so does a label that is not a number in every row of the metric. A label
    that no row of the metric has is omitted.
    """
    rows, target = _in_order(metric)
    columns, words = {}, []
    ids, places, is_there = rows, np.arange(len(rows)), np.ones(len(rows), bool)
    for name, column in labels.items():
        own_ids, values = _in_order(column)
        if not np.array_equal(own_ids, ids):  # labels of one table have the same rows
            ids, places = own_ids, np.searchsorted(own_ids, rows)
            places[places == len(ids)] = 0
            is_there = ids[places] == rows if len(ids) else np.zeros(len(rows), bool)
        if not is_there.any():
            continue
        numbers = np.where(is_there, values[places], np.nan)
        counts = len(rows), int(is_there.sum()), int((~np.isnan(numbers)).sum())
        if counts[2] == 0 or (must_be_whole and counts[2] < len(rows)):
            words.append(Term(name, reason=_lacking(*counts)))
        else:
            columns[name] = numbers
    if not columns:
        return Fit(tuple(words), None, None)
    is_whole = ~np.isnan(sum(columns.values()))
    found = fit(
        {name: numbers[is_whole] for name, numbers in columns.items()},
        target[is_whole],
        has_products=has_products,
        is_log=is_log,
    )
    return replace(found, terms=(*found.terms, *words))


def _in_order(column: Column) -> Column:
    ids, values = column
    order = np.argsort(ids, kind="stable")  # fast if parts are already in order
    return ids[order], values[order]


def _lacking(row_count: int, present_count: int, number_count: int) -> str:
    if number_count == 0:
        return "its values are words"
    if number_count < present_count:
        return f"{present_count - number_count} of {present_count} values are words"
    return f"{row_count - present_count} of {row_count} configurations lack it"


def _standardized(values: Numbers, *, is_log: bool) -> tuple[Numbers | None, str | None]:
    """Values with mean 0 and standard deviation 1; None and the reason if impossible."""
    if not len(values):
        return None, "has no values"
    if is_log:
        if values.min() <= 0:
            return None, "has values not above 0, so no logarithm"
        values = np.log(values)
    if values.min() == values.max():
        return None, "has only one value"
    # scaled first: squares of very large or very small values overflow
    centered = values / np.abs(values).max()
    centered -= centered.mean()
    return centered / centered.std(), None


def _least_squares(
    columns: Mapping[str, Numbers], target: Numbers
) -> tuple[list[Term], float | None]:
    """Weights with their standard errors, and R²; no intercept, because all means are 0.

    The triangle of the QR decomposition of the columns, with the target last, has it all: how much
    of each column the columns before it leave, and how much of the target all of them leave.
    """
    if not columns:
        return [], None
    names, count = list(columns), len(columns)
    triangle = np.zeros((count + 1, count + 1))
    found = np.linalg.qr(np.column_stack([*columns.values(), target]), mode="r")
    triangle[: len(found)] = found
    left = np.abs(np.diag(triangle)[:-1]) > _LEFT * np.linalg.norm(triangle[:, :-1], axis=0)
    kept = [place for place in range(count) if left[place]]
    weights, spreads, rest = _solved(triangle[:, kept], triangle[:, -1], len(target))
    terms = [
        Term(names[place], float(weight), None if spread is None else float(spread))
        for place, weight, spread in zip(kept, weights, spreads, strict=True)
    ]
    for place in sorted(set(range(count)) - set(kept)):
        before = [other for other in kept if other < place]
        shares = np.linalg.lstsq(triangle[:, before], triangle[:, place])[0]
        parts = [
            names[other] for other, share in zip(before, shares, strict=True) if abs(share) > _SHARE
        ]
        terms.append(Term(names[place], reason=f"is a combination of {', '.join(parts)}"))
    return terms, 1.0 - rest / float(triangle[:, -1] @ triangle[:, -1])


def _solved(
    columns: Numbers, target: Numbers, row_count: int
) -> tuple[Numbers, Sequence[float | None], float]:
    """Weights, their standard errors, and the residual sum of squares."""
    orthonormal, triangle = np.linalg.qr(columns)
    inverse = np.linalg.inv(triangle)
    weights = inverse @ (orthonormal.T @ target)
    residual = target - columns @ weights
    rest = float(residual @ residual)
    freedom = row_count - columns.shape[1] - 1
    if freedom <= 0:
        return weights, [None] * len(weights), rest
    return weights, np.sqrt((inverse**2).sum(axis=1) * (rest / freedom)).tolist(), rest
