"""Results as HTML: what a browser and a notebook show, and that names act nowhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from tests.render.conftest import HOSTILE
from tracekit.render import RenderOptions, of_suffix
from tracekit.render.html import MOST_ROWS, HtmlRenderer, NotebookResult
from tracekit.result import Result

MakeResult = Callable[..., Result]
OPTIONS = RenderOptions(80, color=False)
KERNELS = {"name": ["gemm", None], "total_ns": [1_500_000, 400_000], "share_ratio": [0.75, None]}


class Elements(HTMLParser):
    """The elements and texts of a document, and what its attributes are."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append(data.strip())


def shown(result: Result) -> Elements:
    return Elements(NotebookResult.of(result)._repr_html_())


def test_a_notebook_shows_human_units(make_result: MakeResult) -> None:
    texts = shown(make_result(KERNELS, notes=["run: a"], heading="Slow.")).texts
    assert texts == [
        "Slow.",
        *("name", "total [ms]", "share [%]"),
        *("gemm", "1.500", "75.0"),
        *("–", "0.4000", "–"),  # noqa: RUF001 - NULL
        "run: a",
    ]


def test_a_long_and_wide_result_is_cut_and_says_so(make_result: MakeResult) -> None:
    columns = {f"c{place}_count": list(range(MOST_ROWS + 1)) for place in range(12)}
    found = shown(make_result(columns))
    assert found.tags.count("tr") == 1 + MOST_ROWS
    assert found.tags.count("th") == 10
    assert found.texts[-2:] == [
        "50 of 51 rows; .df() has all",
        "more columns in .df(): c10_count, c11_count",
    ]


def test_no_rows(make_result: MakeResult) -> None:
    assert "(no rows)" in shown(make_result({"name": [], "total_ns": []})).texts


@pytest.mark.parametrize("kind", HOSTILE)
def test_names_act_nowhere(make_result: MakeResult, kind: str) -> None:
    result = make_result({"name": [HOSTILE[kind]]}, notes=[HOSTILE[kind]], heading=HOSTILE[kind])
    plain = shown(make_result({"name": ["x"]}, notes=["x"], heading="x"))
    found = shown(result)
    assert set(found.tags) <= {*plain.tags, "p", "strong"}
    assert found.attributes <= plain.attributes | {"title"}
    page = HtmlRenderer().render(result, OPTIONS).decode()
    assert page.count("<script") == 1
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)


def test_a_page_needs_no_network(make_result: MakeResult) -> None:
    page = HtmlRenderer().render(make_result(KERNELS, notes=["run: a"]), OPTIONS).decode()
    assert "default-src &#39;none&#39;" in page
    assert Elements(page).texts.count("gemm") == 1
    assert "All rows and columns" not in page  # they are all here
    assert not re.search(r"(src|href)=\"(?!#)", page)


def test_its_files() -> None:
    assert [of_suffix(suffix) for suffix in ("html", "htm")] == ["html", "html"]
