# ruff: noqa: RUF001 - NULL is shown as an en dash

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from tracekit.render import RenderOptions
from tracekit.render.markdown import MarkdownRenderer, escaped_markdown
from tracekit.result import Result

MakeResult = Callable[..., Result]


def written(result: Result, *, full_names: bool = False) -> str:
    options = RenderOptions(80, color=True, full_names=full_names)
    return MarkdownRenderer().render(result, options).decode()


def test_a_table(make_result: MakeResult) -> None:
    result = make_result(
        {
            "name": ["void ns::f<float>(int)", None],
            "total_ns": [1_500_000, None],
            "ok": [True, None],
        },
        notes=["run a|b"],
    )
    assert written(result) == (
        "| name | total \\[ms\\] | ok |\n"
        "| --- | ---: | --- |\n"
        "| f&lt;float&gt; | 1.500 | true |\n"
        "| – | – | – |\n"
        "\n"
        "- run a\\|b\n"
    )
    assert "| void ns::f&lt;float&gt;(int) | 1.500 |" in written(result, full_names=True)


def test_a_heading_stands_above(make_result: MakeResult) -> None:
    result = make_result({"name": ["f"]}, heading="B is *slower*")
    assert written(result) == "B is \\*slower\\*\n\n| name |\n| --- |\n| f |\n"


def test_without_columns_it_says_the_rest(make_result: MakeResult) -> None:
    assert written(make_result({}, notes=["n"], heading="Nothing.")) == "Nothing.\n\n- n\n"


def test_no_rows(make_result: MakeResult) -> None:
    result = make_result({"name": pa.array([], pa.string())})
    assert written(result) == "| name |\n| --- |\n\n(no rows)\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a|b", r"a\|b"),
        ("a`b`", r"a\`b\`"),
        ("*a* _b_ ~c~", r"\*a\* \_b\_ \~c\~"),
        ("[a](b)", r"\[a\](b)"),
        ("![a](b)", r"!\[a\](b)"),
        ("\\", r"\\"),
        ("<b>&amp;", "&lt;b&gt;&amp;amp;"),
        ("a\nb", r"a\\nb"),
        ("\x1b", r"\\x1b"),
        ("http://x.org", r"http:\//x.org"),
        ("www.x.org", r"www\.x.org"),
        ("a@b $x$", r"a\@b \$x\$"),
        ("std::f", "std::f"),
    ],
)
def test_nothing_is_markup(text: str, expected: str) -> None:
    assert escaped_markdown(text) == expected


def test_hostile_text_stays_in_its_cell(
    make_result: MakeResult, hostile_names: dict[str, str]
) -> None:
    names = list(hostile_names.values())
    for full_names in (False, True):
        lines = written(make_result({"name": names, "x": names}), full_names=full_names).split("\n")
        assert len(lines) == 2 + len(names) + 1
        for line in lines[:-1]:
            assert line.isprintable()
            assert line.replace(r"\|", "").count("|") == 3
            assert not set("<>") & set(line)
