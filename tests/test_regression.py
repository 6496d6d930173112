"""Weights of a linear regression, beside numpy's least squares on columns made here."""

from __future__ import annotations

import numpy as np
import pytest

from tracekit.regression import Numbers, Term, fit, fit_by_id

RANDOM = np.random.default_rng(7)
A, B, C = RANDOM.normal(size=(3, 60)) * np.array([[3.0], [200.0], [0.01]])
Y = 2 * A - 0.1 * B + RANDOM.normal(size=60)


def scaled(values: Numbers) -> Numbers:
    return np.asarray((values - values.mean()) / values.std())


def by_numpy(columns: list[Numbers], metric: Numbers) -> Numbers:
    matrix = np.column_stack([*map(scaled, columns), np.ones(len(metric))])
    return np.asarray(np.linalg.lstsq(matrix, scaled(metric))[0][:-1])


def test_two_points_a_line() -> None:
    found = fit({"x": np.array([1.0, 3.0])}, np.array([5.0, 4.0]), has_products=False, is_log=False)
    (term,) = found.terms
    assert term.weight == pytest.approx(-1)
    assert (term.standard_error, term.reason, found.row_count) == (None, None, 2)
    assert found.r2_ratio == pytest.approx(1)


def test_by_hand() -> None:
    # around their mean 2: x is -1, 0, 1 and y -1, 1, 0, so r = 1 / (2 · 2)^½
    found = fit(
        {"x": np.array([1.0, 2.0, 3.0])},
        np.array([1.0, 3.0, 2.0]),
        has_products=False,
        is_log=False,
    )
    (term,) = found.terms
    assert term.weight == pytest.approx(0.5)
    # (1 - r²) / (n - 2) = 0.75 / 1, of a column with length² 3 and a metric of the same
    assert term.standard_error == pytest.approx((3 * 0.75 / 1 / 3) ** 0.5)
    assert found.r2_ratio == pytest.approx(0.25)


def test_as_numpy() -> None:
    found = fit({"a": A, "b": B, "c": C}, Y, has_products=False, is_log=False)
    expected = dict(zip("abc", by_numpy([A, B, C], Y), strict=True))
    assert {term.name: term.weight for term in found.terms} == pytest.approx(expected, rel=1e-12)
    names = [term.name for term in found.terms]
    assert names == sorted(names, key=lambda name: -abs(expected[name]))


def test_standard_errors_as_the_covariance_matrix_says() -> None:
    found = fit({"a": A, "b": B, "c": C}, Y, has_products=False, is_log=False)
    matrix = np.column_stack([*map(scaled, (A, B, C)), np.ones(60)])
    rest = np.linalg.lstsq(matrix, scaled(Y))[1][0]
    errors = np.sqrt(np.diag(np.linalg.inv(matrix.T @ matrix)) * rest / (60 - 4))
    assert {term.name: term.standard_error for term in found.terms} == pytest.approx(
        dict(zip("abc", errors[:-1], strict=True)), rel=1e-9
    )
    assert found.r2_ratio == pytest.approx(1 - rest / 60, rel=1e-12)


def test_products_are_of_standardized_labels() -> None:
    found = fit({"a": A, "b": B}, Y, has_products=True, is_log=False)
    expected = by_numpy([A, B, scaled(A) * scaled(B)], Y)
    assert {term.name: term.weight for term in found.terms} == pytest.approx(
        dict(zip(("a", "b", "a*b"), expected, strict=True)), rel=1e-10
    )


def test_logarithms() -> None:
    x, y = np.exp(A), np.exp(Y)
    found = fit({"x": x, "signed": B}, y, has_products=False, is_log=True)
    assert found.terms[0].weight == pytest.approx(by_numpy([A], Y)[0], rel=1e-12)
    assert found.terms[1] == Term("signed", reason="has values not above 0, so no logarithm")


def test_labels_that_do_not_vary_or_follow_from_others_are_named() -> None:
    labels = {"a": A, "b": B, "same": np.full(60, 4.0), "sum": 3 * A + B + 9, "twice": 2 * A}
    found = fit(labels, Y, has_products=False, is_log=False)
    assert [term for term in found.terms if term.weight is None] == [
        Term("sum", reason="is a combination of a, b"),
        Term("twice", reason="is a combination of a"),
        Term("same", reason="has only one value"),
    ]
    expected = by_numpy([A, B], Y)
    assert {t.name: t.weight for t in found.terms if t.weight is not None} == pytest.approx(
        dict(zip("ab", expected, strict=True)), rel=1e-12
    )


def test_what_is_nearly_a_combination_is_fitted() -> None:
    found = fit({"a": A, "near": A + 1e-4 * C}, Y, has_products=False, is_log=False)
    assert all(term.weight is not None for term in found.terms)


def test_a_metric_that_does_not_vary() -> None:
    found = fit({"a": A}, np.full(60, 2.0), has_products=False, is_log=False)
    assert found.terms == (Term("a", reason="the metric has only one value"),)
    assert found.r2_ratio is None


def test_more_labels_than_rows() -> None:
    labels = {"a": A[:3], "b": B[:3], "c": C[:3]}
    found = fit(labels, Y[:3], has_products=False, is_log=False)
    assert [term.standard_error for term in found.terms] == [None] * 3
    assert sum(term.weight is None for term in found.terms) == 1
    assert found.terms[-1].reason == "is a combination of a, b"


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_very_small_and_very_large_values(size: float) -> None:
    found = fit({"a": A * size}, Y / size, has_products=False, is_log=False)
    assert found.terms[0].weight == pytest.approx(by_numpy([A], Y)[0], rel=1e-12)


def test_no_rows() -> None:
    found = fit({"a": A[:0]}, Y[:0], has_products=False, is_log=False)
    assert found.terms == (Term("a", reason="has no values"),)
    assert found.row_count == 0


def test_rows_by_id_are_those_that_all_have() -> None:
    ids = np.arange(60)
    mixed = RANDOM.permutation(60)
    lacking = RANDOM.permutation(np.arange(7, 60))
    labels = {"a": (mixed, A[mixed]), "b": (lacking, B[lacking])}
    found = fit_by_id(
        labels, (ids[::-1], Y[::-1]), must_be_whole=False, has_products=False, is_log=False
    )
    expected = by_numpy([A[7:], B[7:]], Y[7:])
    assert {term.name: term.weight for term in found.terms} == pytest.approx(
        dict(zip("ab", expected, strict=True)), rel=1e-12
    )
    assert found.row_count == 53


def test_labels_that_not_every_row_has_as_a_number() -> None:
    nan = np.nan
    labels = {
        "words": (np.array([1, 2, 3]), np.array([nan, nan, nan])),
        "some": (np.array([3, 1, 2, 4]), np.array([1.0, nan, 2.0, 3.0])),
        "few": (np.array([1, 2]), np.array([1.0, 2.0])),
        "others": (np.array([9]), np.array([1.0])),
        "none": (np.array([], np.int64), np.array([])),
    }
    metric = np.array([2, 1, 3]), np.array([5.0, 4.0, 7.0])
    found = fit_by_id(labels, metric, must_be_whole=True, has_products=False, is_log=False)
    assert {term.name: term.reason for term in found.terms} == {
        "words": "its values are words",
        "some": "1 of 3 values are words",
        "few": "1 of 3 configurations lack it",
    }
    assert (found.r2_ratio, found.row_count) == (None, None)
    few = {"few": labels["few"]}
    found = fit_by_id(few, metric, must_be_whole=False, has_products=False, is_log=False)
    assert found.row_count == 2
    assert found.terms[0].weight == pytest.approx(1)
