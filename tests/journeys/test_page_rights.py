"""Deleting and forgetting on the playground's page, in Chromium with the whole bot behind it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium import webdriver

from tests.journeys.house import Kettle
from tests.journeys.kettle import PORTS
from tests.journeys.served import served
from tests.journeys.test_page import PORT, answers, ask, open_thread
from tests.platforms.browser import Page, looking

RED = """const style = getComputedStyle(document.querySelector(arguments[0]));
const [red, green] = style.color.match(/\\d+/g).map(Number);
return red > green + 60"""


@pytest.fixture
def page(chromium: webdriver.Chrome, kettle: Kettle) -> Iterator[Page]:
    with served(kettle) as url, looking(chromium, url, (1280, 860)) as page:
        page.open()
        yield page


def test_only_who_asked_and_admins_see_delete_and_it_looks_like_it(page: Page) -> None:
    ask(page, PORT)
    page.find("#thread .control-delete")
    assert page.js(RED, "#thread .control-delete")
    open_thread(page, "noor", PORT)
    page.find("#thread .control-why")
    page.gone("#thread .control-delete")  # who may not delete sees no Delete
    page.click("#thread .control-release")
    page.click(".popup button", "1.5")
    assert PORTS["1.5"] in answers(page, 2)
    page.until(lambda: len(page.all("#thread .control-delete")) == 1)
    second = "document.querySelectorAll('#thread .from-bot')[1]"
    page.until(lambda: page.js(f"return {second}.querySelector('.control-delete') !== null"))
    open_thread(page, "ada", PORT)
    page.until(lambda: len(page.all("#thread .control-delete")) == 1)
    open_thread(page, "chloe", PORT)
    page.until(lambda: len(page.all("#thread .control-delete")) == 2)


def test_what_cannot_be_undone_is_red_and_its_button_goes_after_use(page: Page) -> None:
    ask(page, PORT)
    page.write("/threadlore opt-out", where="main")
    page.find("#messages .ephemeral .control-confirm", "Opt out")
    assert page.js(RED, "#messages .ephemeral .control-confirm")
    page.click("#messages .ephemeral .control-confirm")
    page.until(lambda: "You have opted out" in page.text("#messages"))
    page.gone("#messages .control-confirm")


def test_others_read_that_an_answer_went_with_a_forgotten_person(page: Page) -> None:
    ask(page, PORT)
    page.click("#thread .vote.up")
    page.find("#thread .vote.up[aria-pressed=true]")
    ask(page, "On which port is the dashboard listening?", "noor")
    page.find("#thread .remembered")
    page.play("ada")
    page.write("/threadlore forget me confirm", where="main")
    page.until(lambda: PORT not in page.text("#messages"))
    open_thread(page, "noor", "On which port is the dashboard listening?")
    gone = page.text("#thread .message.gone", "forgotten")
    assert gone.startswith("This answer repeated words of somebody who asked to be forgotten")
