"""The tour of the playground's page in Chromium: what it says next, and that it is never in the way."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.keys import Keys

from tests.platforms.axe import violations
from tests.platforms.browser import Page
from tests.platforms.web_dispatch import FakeDispatch

QUESTION = "How do I test a view that redirects in Flask 2.3?"


def step(page: Page, number: int, title: str) -> str:
    """Wait for a step and return what it says."""
    found = page.text(f".tour.at-{number} .tour-text", title)
    assert f"Tour, step {number} of 5: " in page.js("return document.querySelector('.tour-text').textContent")
    return found


def test_the_tour_leads_from_a_question_to_somebody_else(page: Page, dispatch: FakeDispatch) -> None:
    assert "question above" in step(page, 1, "Ask something")
    page.click("#channels a", "general")
    page.write("Good morning")
    page.until(lambda: len(page.all("#tour .chip")) == 3)  # where no questions stand above it, it offers them
    page.click("#tour .chip", "install")
    page.until(lambda: page.text("#title") == "help")
    page.find("#thread .footer")
    step(page, 2, "Follow up")
    page.gone(".follow-box")  # the same is not said twice
    page.click("#tour .chip", "And in 2.3?")
    page.until(lambda: len(page.all("#thread .footer")) == 2)
    step(page, 3, "Vote")
    page.click("#tour .chip", "Show me")
    page.until(lambda: page.js("return document.activeElement.matches('#thread .vote.up.pointed-at')"))
    page.keys(Keys.ENTER)
    step(page, 4, "become somebody else")
    page.click("#tour .chip", "Become Noor")
    page.until(lambda: page.person() == "noor")
    assert "You are Noor" in step(page, 4, "in other words")
    page.click("#tour .chip")
    page.find("#thread .footer")
    assert dispatch.messages[-1].author.id == "web:noor"
    assert dispatch.messages[-1].text == "What is the best way to install Flask 2.3?"
    assert "taken for another question" in step(page, 4, "in other words"), "this dispatch remembers nothing"


def test_the_tour_is_put_away_by_keyboard_for_good_and_comes_back_when_it_is_asked_for(page: Page) -> None:
    step(page, 1, "Ask")
    page.js("document.querySelector('[data-act=tour-close]').focus()")
    page.keys(Keys.ESCAPE)
    page.gone("#tour")
    page.becomes(lambda: page.js("return document.activeElement.id"), "composer-main")
    page.driver.refresh()
    page.find(".welcome")
    assert page.all("#tour") == []
    page.write(QUESTION)
    page.find("#thread .footer")
    page.click("[data-act=take-tour]")
    step(page, 1, "Ask")  # what was there before is no part of it


def test_the_tour_covers_no_message(page: Page) -> None:
    page.click("#channels a", "general")
    page.until(lambda: page.text("#title") == "general")
    for number in range(30):
        page.write(f"Message {number}")
    page.find("#messages .message", "Message 29")
    page.driver.refresh()
    page.find("#tour .chip")
    left = """const list = document.querySelector("#messages");
        return list.scrollHeight - list.scrollTop - list.clientHeight"""
    page.until(lambda: page.js(left) < 2)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_tour_stands_beside_an_open_thread_on_every_screen(page: Page, width: int, scheme: str) -> None:
    page.prefer(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
    page.size(width, 800)
    page.write(QUESTION)
    page.find("#thread .footer")
    step(page, 2, "Follow up")
    assert len(page.all(".tour")) == 1
    assert page.js("return document.documentElement.scrollWidth") <= width
    room = "return document.querySelector('#thread').clientHeight"
    page.until(lambda: page.js(room) > 400)  # most of the screen is the thread's
    assert violations(page) == []
