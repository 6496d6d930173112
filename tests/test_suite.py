"""Each test is run by `make test` or by `make test-deep`, and CI runs both."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ALL_TESTS, ROOT


def recipe(target: str) -> str:
    """The commands of a target of the Makefile."""
    found = re.search(rf"^{target}:.*\n((?:\t.*\n)*)", (ROOT / "Makefile").read_text("utf-8"), re.M)
    assert found is not None
    return found[1]


def test_deep_and_not_deep_are_all() -> None:
    assert recipe("pytest") == "\t$(PYTEST) -m 'not deep' $(ARGS)\n"
    assert recipe("test-deep") == "\t$(PYTEST) -m deep $(ARGS)\n"
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert re.search(r"^test: lint pytest smoke  ##", makefile, re.M)
    assert re.search(r"python -m pytest -n auto$", makefile, re.M)


def test_ci_runs_both_and_fails_if_one_fails() -> None:
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert "set -euo pipefail" in lines
    assert lines[-2:] == ["make test", "make test-deep"]


def test_of_what_is_sampled_some_is_quick(pytestconfig: pytest.Config) -> None:
    """Where this module is run with all others; by itself, it has no such test but this."""
    quick: dict[str, bool] = {}
    for name, is_deep, is_sampled in pytestconfig.stash[ALL_TESTS]:
        if is_sampled:
            test = name.partition("[")[0]
            quick[test] = quick.get(test, False) or not is_deep
    assert [test for test, has_quick in quick.items() if not has_quick] == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", range(7))
def test_every_third_parameter_is_quick(request: pytest.FixtureRequest, number: int) -> None:
    tests = request.config.stash[ALL_TESTS]
    name = request.node.nodeid.partition("[")[0]
    places = [number for number, test in enumerate(tests) if test[0].startswith(f"{name}[")]
    if len(places) < 7:
        pytest.skip("only some parameters were asked for")
    assert [n for n, place in enumerate(places) if not tests[place][1]] == [0, 3, 6]
    assert (request.node.get_closest_marker("deep") is not None) == bool(number % 3)
