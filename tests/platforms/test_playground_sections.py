"""Sections that answers cite, opened under their quotes on the playground's page, in Chromium."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.keys import Keys

from tests.platforms.axe import violations
from tests.platforms.browser import Page
from tests.platforms.web_dispatch import FakeDispatch

QUESTION = "How do I test a view that redirects in Flask 2.3?"
MARKED = "return [...document.querySelectorAll('#thread mark')].map((one) => one.textContent).join('')"
SENTENCE = (
    "Call app.test_client() and use it as a context manager, so that the session and request "
    "stay open after the call"
)


@pytest.fixture
def page(page: Page) -> Page:
    page.write(QUESTION)
    page.find("#thread .footer")
    return page


def test_a_citation_opens_its_section_in_place_with_the_sentence_marked(page: Page) -> None:
    page.click("#thread p:has(code) a.citation", "1")
    told = page.text("#thread .section", "closes the rest")
    assert told.startswith("Testing › Sending Requests\nFlask 2.3 · testing.rst")
    assert SENTENCE in page.js(MARKED) and "closes the rest" not in page.js(MARKED)
    before = "return document.querySelector('#thread .section').previousElementSibling.textContent"
    assert page.js(before).startswith("Call app.test_client()"), "under the words that cite it"
    assert page.attribute("#thread p:has(code) a.citation", "aria-expanded") == "true"
    assert page.attribute("#thread .section a", "href").endswith("/testing/")
    page.find("#thread .footer")  # the answer stays where it is
    page.click("#thread .vote.up")
    page.find("#thread .vote.up[aria-pressed=true]")
    assert SENTENCE in page.js(MARKED), "what is open stays open when the message changes"
    page.click("#thread [aria-label='Close the section']")
    page.gone("#thread .section")
    page.until(lambda: page.js("return document.activeElement.matches('#thread a.citation')"))


def test_sections_open_and_close_by_keyboard_and_several_at_once(page: Page) -> None:
    page.js("document.querySelector('#thread p a.citation').focus()")
    page.keys(Keys.ENTER)
    page.find("#thread .section", "closes the rest")
    page.click("#thread li a.citation", "2")
    page.until(lambda: len(page.all("#thread .section .passage")) == 2)
    page.js("document.querySelector('#thread p a.citation').focus()")
    page.keys(Keys.ENTER)
    page.until(lambda: len(page.all("#thread .section")) == 1)
    assert len(page.driver.window_handles) == 1, "the page's own address is a click further"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_open_section_fits_a_phone(page: Page, scheme: str) -> None:
    page.prefer(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
    page.size(390, 844)
    page.click("#thread p:has(code) a.citation", "1")
    page.find("#thread .section", "closes the rest")
    assert page.js("return document.documentElement.scrollWidth") <= 390
    assert violations(page) == []


COMPARED = """\
**Changes › Version 2.0.1 (Flask 2.0)**
> Sessions are loaded before the URL is matched. [1]

**Changes › Version 2.3.2 (Flask 2.3)**
> The header `Vary: Cookie` is set. [2]

```diff
- loaded before
+ loaded after
```"""


@pytest.mark.parametrize("width", [1440, 390])
def test_a_comparison_stands_side_by_side(page: Page, dispatch: FakeDispatch, width: int) -> None:
    page.size(width, 860)
    dispatch.says = ("2.0+2.3", COMPARED)
    page.write("And between 2.0 and 2.3?", where="thread")
    page.until(lambda: len(page.all("#thread .footer")) == 2)  # until then each word makes it anew
    page.find("#thread .compare")
    sides = [side.text.replace("\n", " | ") for side in page.all("#thread .side")]
    assert sides[0].startswith("Flask 2.0 | Changes › Version 2.0.1 | Sessions are loaded")
    assert sides[1].startswith("Flask 2.3 | Changes › Version 2.3.2 | The header")
    tops = "return [...document.querySelectorAll('#thread .side')].map((one) => one.offsetTop)"
    above, below = page.js(tops)
    assert (above == below) == (width == 1440), "on a phone one stands below the other"
    page.find("#thread .compare + .code", "loaded after")
    page.click("#thread .side .open-section")
    page.find("#thread .compare + .section", "closes the rest")
    assert page.js("return document.documentElement.scrollWidth") <= width
    assert violations(page) == []


def test_pills_and_badges_of_releases_do_what_they_look_like(page: Page, dispatch: FakeDispatch) -> None:
    page.click("#releases button", "2.3")
    assert page.attribute("#composer-main", "value") == "In Flask 2.3: "
    page.js("document.querySelector('#composer-main').value = ''")
    page.write("How do I test a view?", send=False)
    page.click("#releases button", "3.1")
    assert page.attribute("#composer-main", "value") == "How do I test a view in Flask 3.1?"
    page.click("#releases button", "2.3")
    assert page.attribute("#composer-main", "value") == "How do I test a view in Flask 2.3?"
    assert "2.0" not in [pill.text for pill in page.all("#releases button")], "it is not indexed"
    page.click("#thread button.release-badge")
    page.click(".popup button", "Flask 3.1")
    page.find("#thread .message", "For 3.1 it is the same.")
    assert dispatch.presses[-1].value.endswith(" 3.1")
