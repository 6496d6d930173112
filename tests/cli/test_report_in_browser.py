"""The page of a report as people use it, in headless Chromium: sort, filter, zoom, read, print."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Locator, Page, sync_playwright

from tests.ingested import opened
from tests.pages import value_of
from tracekit.render.page import render_page
from tracekit.report import report
from tracekit.session import Session

pytestmark = pytest.mark.deep

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_WIDE, _NARROW = {"width": 1280, "height": 900}, {"width": 400, "height": 800}
#: Relative luminance, and the contrast of two colors that CSS gives (WCAG 2.1).
_CONTRAST = """
([front, back]) => {
  const light = (color) => {
    const [r, g, b] = color.match(/\\d+/g).slice(0, 3).map((part) => {
      const c = part / 255;
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [low, high] = [light(front), light(back)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip("no Chromium here; on Debian: apt-get install chromium")
    options = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=options)
        yield started
        started.close()


@pytest.fixture(scope="module")
def address(lstm: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a real run, as a file."""
    file = tmp_path_factory.mktemp("page") / "lstm.html"
    file.write_bytes(render_page(report(Session(opened(lstm)), ["lstm"])))
    return file.as_uri()


@dataclass
class Seen:
    """An open page, with what it asked for and complained about."""

    page: Page
    troubles: list[str] = field(default_factory=list)

    def table(self, caption: str) -> Locator:
        return self.page.get_by_role("table", name=caption, exact=True)

    def box(self, caption: str) -> Locator:
        return self.page.locator(".table", has=self.table(caption))

    def cells(self, caption: str, name: str) -> list[str]:
        """The cells of a column that are seen, from the top down."""
        place = (
            self.table(caption)
            .locator("th")
            .evaluate_all(
                "(heads, name) => heads.findIndex((head) => head.dataset.name === name)", name
            )
        )
        rows = self.table(caption).locator("tbody tr:visible")
        script = "(rows, i) => rows.map((row) => row.cells[i].textContent)"
        found: list[str] = rows.evaluate_all(script, place)
        return found


@pytest.fixture
def at(browser: Browser, address: str) -> Iterator[Callable[..., Seen]]:
    """Opens the page; at the end, it must have asked for nothing and complained about nothing."""
    opened_pages: list[Seen] = []

    def visit(size: dict[str, int] = _WIDE, **options: Any) -> Seen:
        page = browser.new_context(viewport=size, **options).new_page()  # type: ignore[arg-type]
        seen = Seen(page)
        page.on("console", lambda message: seen.troubles.append(message.text))
        page.on("pageerror", lambda error: seen.troubles.append(str(error)))
        page.on("request", lambda request: seen.troubles.append(request.url))
        page.goto(address)
        seen.troubles.remove(address)
        opened_pages.append(seen)
        return seen

    yield visit
    for seen in opened_pages:
        assert seen.troubles == []
        seen.page.context.close()


def numbers(texts: list[str]) -> list[float]:
    """Numbers of cells that are known."""
    found = [value_of(text.strip(), 1.0) for text in texts]
    return [value for value in found if isinstance(value, float)]


# -- tables ---------------------------------------------------------------------------------------


def test_a_click_sorts_and_another_turns_it_round(at: Callable[..., Seen]) -> None:
    seen = at()
    head = seen.table("Kernels").locator("th[data-name=launch_count]")
    seen.box("Kernels").get_by_role("button", name="Show 20 rows").click()
    before = numbers(seen.cells("Kernels", "launch_count"))
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert numbers(seen.cells("Kernels", "launch_count")) == sorted(before, reverse=True)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert numbers(seen.cells("Kernels", "launch_count")) == sorted(before)
    names = seen.table("Kernels").locator("th[data-name=name]")
    names.get_by_role("button").click()
    assert head.get_attribute("aria-sort") is None
    assert names.get_attribute("aria-sort") == "ascending"


def test_unknown_values_come_last_both_ways(at: Callable[..., Seen]) -> None:
    seen = at()
    head = seen.table("Operators").locator("th[data-name=intensity_flop_per_byte]")
    for _ in range(2):
        head.get_by_role("button").click()
        cells = [cell.strip() for cell in seen.cells("Operators", "intensity_flop_per_byte")]
        assert cells[-1] == "\u2013"
        assert cells[0] != "\u2013"


def test_the_keyboard_sorts(at: Callable[..., Seen]) -> None:
    seen = at()
    button = seen.table("Steps").locator("th[data-name=elapsed_ns]").get_by_role("button")
    button.focus()
    seen.page.keyboard.press("Enter")
    found = numbers(seen.cells("Steps", "elapsed_ns"))
    assert found == sorted(found, reverse=True)
    assert len(found) > 1


def test_a_filter_keeps_rows_with_the_text(at: Callable[..., Seen]) -> None:
    seen = at()
    box = seen.box("Kernels")
    assert box.get_by_role("status").text_content() == "15 of 20 rows"
    box.get_by_role("searchbox").fill("LSTM")
    names = seen.cells("Kernels", "name")
    assert names
    assert all("lstm" in name.lower() for name in names)
    assert box.get_by_role("status").text_content() == f"{len(names)} of {len(names)} matching rows"
    box.get_by_role("searchbox").fill("no such kernel")
    assert seen.cells("Kernels", "name") == []


def test_more_columns(at: Callable[..., Seen]) -> None:
    seen = at()
    head = seen.table("Kernels").locator("th[data-name=total_flop]")
    assert not head.is_visible()
    seen.box("Kernels").get_by_role("checkbox", name="All columns").check()
    assert head.is_visible()


# -- the timeline ---------------------------------------------------------------------------------


def test_the_timeline_zooms_by_buttons_and_back(at: Callable[..., Seen]) -> None:
    seen = at()
    said = seen.page.locator(".range")
    whole = said.text_content()
    assert whole == "0 ns to 30.94 ms of 30.94 ms"
    seen.page.get_by_role("button", name="Zoom in").click()
    assert said.text_content() == "7.734 ms to 23.2 ms of 30.94 ms"
    seen.page.get_by_role("button", name="Later").click()
    assert said.text_content() == "11.6 ms to 27.07 ms of 30.94 ms"
    seen.page.get_by_role("button", name="All", exact=True).click()
    assert said.text_content() == whole


def test_dragging_zooms_to_what_was_chosen(at: Callable[..., Seen]) -> None:
    seen = at()
    strip = seen.page.locator(".strip").nth(1)
    strip.scroll_into_view_if_needed()
    place = strip.bounding_box()
    assert place is not None
    y, left, width = place["y"] + 10, place["x"], place["width"]
    mouse = seen.page.mouse
    mouse.move(left + 0.25 * width, y)
    mouse.down()
    mouse.move(left + 0.4 * width, y)
    mouse.move(left + 0.5 * width, y)
    mouse.up()
    found = (seen.page.locator(".range").text_content() or "").split(" ms")
    # a quarter and a half of 30.94 ms, to a pixel
    assert float(found[0]) == pytest.approx(7.734, abs=0.06)
    assert float(found[1].removeprefix(" to ")) == pytest.approx(15.47, abs=0.06)
    strip.dblclick()
    assert seen.page.locator(".range").text_content() == "0 ns to 30.94 ms of 30.94 ms"


def test_a_pointer_over_a_track_says_what_is_there(at: Callable[..., Seen]) -> None:
    seen = at()
    seen.page.locator(".strip").nth(1).hover()
    tip = seen.page.get_by_role("tooltip").text_content() or ""
    assert tip.startswith("waits for ")
    assert " ms + " in tip
    seen.page.mouse.move(0, 0)
    assert not seen.page.get_by_role("tooltip").is_visible()


def test_the_keyboard_goes_from_piece_to_piece(at: Callable[..., Seen]) -> None:
    seen = at()
    seen.page.locator(".strip").nth(2).focus()
    said = seen.page.locator(".piece")
    texts = []
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"):
        seen.page.keyboard.press(key)
        texts.append(said.text_content() or "")
    assert len(set(texts)) == 3
    assert texts[3] == texts[1]
    assert all(text.startswith(("compute: ", "memory sets: ")) for text in texts)
    seen.page.keyboard.press("+")
    assert (seen.page.locator(".range").text_content() or "") != "0 ns to 30.94 ms of 30.94 ms"
    seen.page.keyboard.press("0")
    assert seen.page.locator(".range").text_content() == "0 ns to 30.94 ms of 30.94 ms"


def test_the_share_of_the_pixels_is_the_share_of_the_time(at: Callable[..., Seen]) -> None:
    """The area that a stream fills, over that of the strip, is how busy it is: 12.3 %."""
    seen = at()
    share = (
        seen.page.locator(".strip")
        .nth(2)
        .evaluate(
            """(strip) => {
          const { width, height } = strip.viewBox.baseVal;
          let area = 0;
          for (const path of strip.querySelectorAll("path")) {
            const parts = path.getAttribute("d").matchAll(/M(\\S+) (.+?)V(.+?)H(.+?)V/g);
            for (const [, x, low, high, end] of parts) area += (end - x) * (low - high);
          }
          return area / (width * height);
        }"""
        )
    )
    # a column with any work is at least one pixel of 22
    assert 0.12 < share < 0.17


# -- pictures -------------------------------------------------------------------------------------


def test_a_point_of_the_roofline_says_what_it_is(at: Callable[..., Seen]) -> None:
    seen = at()
    point = seen.page.locator("#roofline .mark:has(circle)").first
    point.hover()
    tip = seen.page.get_by_role("tooltip").text_content() or ""
    assert "39.4 % of the time" in tip
    assert "FLOP/byte" in tip
    assert "latency-bound, 3.1 % of its roof" in tip


def test_the_keyboard_goes_from_mark_to_mark(at: Callable[..., Seen]) -> None:
    seen = at()
    marks = seen.page.locator("#roofline .mark")
    assert marks.evaluate_all("(m) => m.filter((x) => x.tabIndex === 0).length") == 1
    marks.first.focus()
    tip = seen.page.get_by_role("tooltip")
    first = tip.text_content()
    seen.page.keyboard.press("ArrowRight")
    assert tip.text_content() != first
    seen.page.keyboard.press("Escape")
    assert not tip.is_visible()


# -- how it looks ---------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [_WIDE, _NARROW], ids=["1280", "400"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_can_be_read(
    at: Callable[..., Seen], size: dict[str, int], scheme: str
) -> None:
    seen = at(size, color_scheme=scheme)
    page = seen.page
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    is_dark = sum(map(int, ground.removeprefix("rgb(").removesuffix(")").split(","))) < 3 * 128
    assert is_dark == (scheme == "dark")
    for selector, least in (("body", 7), (".says", 4.5), ("nav a", 4.5)):
        color = page.locator(selector).first.evaluate("(e) => getComputedStyle(e).color")
        assert page.evaluate(_CONTRAST, [color, ground]) >= least, selector
    for name in ("compute", "host", "launch", "c0", "c9", "b-latency"):
        color = page.evaluate(
            """(name) => {
              const part = document.createElementNS("http://www.w3.org/2000/svg", "rect");
              part.setAttribute("class", name);
              document.querySelector(".plot").append(part);
              const found = getComputedStyle(part).fill;
              part.remove();
              return found;
            }""",
            name,
        )
        assert page.evaluate(_CONTRAST, [color, ground]) >= 2.9, name
    page.locator("footer").scroll_into_view_if_needed()
    assert page.locator("footer").is_visible()


def test_what_a_screen_reader_needs(at: Callable[..., Seen]) -> None:
    page = at().page
    levels = page.locator("h1, h2, h3, h4").evaluate_all("(h) => h.map((x) => +x.tagName[1])")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for role, name in (("navigation", "Sections"), ("main", None), ("contentinfo", None)):
        assert page.get_by_role(role, name=name).count() == 1  # type: ignore[arg-type]
    unnamed = page.evaluate(
        """[...document.querySelectorAll("button, input, svg[role], [role=region]")].filter((e) =>
          !(e.getAttribute("aria-label") || e.textContent.trim() || e.closest("label"))).length"""
    )
    assert unnamed == 0
    assert page.locator("table:not(:has(caption))").count() == 0
    assert page.locator("th:not([scope=col])").count() == 0
    ids = page.locator("[id]").evaluate_all("(e) => e.map((x) => x.id)")
    assert len(ids) == len(set(ids))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"


def test_it_prints(at: Callable[..., Seen]) -> None:
    seen = at(_WIDE, color_scheme="dark")
    content = seen.page.pdf(format="A4", print_background=True)
    assert content.startswith(b"%PDF")
    assert 3 <= content.count(b"/Type /Page\n") + content.count(b"/Type /Page ") <= 60
    # definitions are printed, too
    assert seen.page.locator("details:not([open])").count() == 0
    seen.page.emulate_media(media="print")
    assert not seen.page.locator("nav").is_visible()
    ground = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(255, 255, 255)"


def test_no_other_script_runs(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(address)
    page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.harm = 1";
          document.body.append(script);
          const image = document.createElement("img");
          image.setAttribute("onerror", "window.harm = 2");
          image.src = "x.png";
          document.body.append(image);
        }"""
    )
    page.wait_for_timeout(200)
    assert page.evaluate("window.harm") is None
    with pytest.raises(Error):
        page.evaluate("fetch('https://localhost:1/')")
    page.close()
