"""The tour of the playground as a film in pictures: what a newcomer without a model gets.

    python -m tests.screens.tour HOME [FOLDER]

HOME holds Flask's index, such as `.threadlore/bench` after `make bench`; it is copied, not changed. The
pictures go to FOLDER, `docs/tour` where none is named. It also prints what somebody waits for. Needs chromium
and chromedriver, and the package index.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from selenium.webdriver.common.keys import Keys

from tests.platforms.browser import Page, start
from tests.screens.page_use import DATABASE, emptied
from tests.screens.pictures import keep, served

QUESTION = "How do I limit the size of an upload?"
COMPARED = "Compare 2.0 and 3.1: which Python versions are supported?"
PACKAGE = "itsdangerous==2.2.0"
READY = """return [...document.querySelectorAll("#releases .pill.ready:not(.busy)")]
    .some((one) => one.textContent.includes(arguments[0]))"""
FINISHED = "#thread .from-bot:not(.growing):has(.footer)"
LIGHT, DARK = "light", "dark"
DESKTOP, PHONE = (1440, 900), (390, 844)
ANSWER_SECONDS, READ_SECONDS = 60.0, 180.0


class Film:
    """Plays the tour and takes a picture of each step."""

    def __init__(self, page: Page, folder: Path) -> None:
        self._page, self._folder, self._taken = page, folder, 0

    def play(self) -> None:
        """Take all pictures, in the order in which a newcomer sees this."""
        page = self._page
        self._look(DESKTOP, LIGHT)
        page.open("ada")
        page.find(".tour.at-1")
        self._take("first-page")
        self._timed(
            "ask to the whole answer", lambda: (page.click(".examples button", QUESTION), self._answers(1))
        )
        page.find(".tour.at-2")
        page.click("#thread .from-bot .open-section")
        page.find("#thread .section mark")
        self._take("answer", "#thread .from-bot")
        page.click("#thread [aria-label='Close the section']")
        page.click("#tour .chip, .tour .chip", "And in")
        self._answers(2)
        page.click(".tour .chip", "Show me")
        page.find("#thread .vote.up.pointed-at")
        begun = time.monotonic()
        page.keys(Keys.ENTER)
        page.find("#thread .note", "remembered")
        print(f"vote to remembered: {time.monotonic() - begun:.2f} s")
        self._take("vote", "#thread .from-bot:last-of-type")
        page.click(".tour .chip", "Become")
        page.until(lambda: page.person() != "ada")
        self._timed("the same in other words", lambda: (page.click(".tour .chip"), self._answers(1)))
        page.find("#thread .remembered")
        self._take("remembered", "#thread .message")
        self._look(PHONE, LIGHT)
        self._take("phone", "#thread .message")
        self._look(PHONE, DARK)
        self._take("phone-dark", "#thread .message")
        page.click(".tour .chip", "Finish")
        self._look(DESKTOP, DARK)
        page.click("#thread .from-bot .control-why")
        page.find(".panel-why", "similar to")
        self._take("why-dark")
        page.open("ada")
        page.write(COMPARED)
        self._answers(1)
        page.find("#thread .compare")
        self._take("compare-dark", "#thread .message")
        self._look(DESKTOP, LIGHT)
        self._add_docs()

    def _add_docs(self) -> None:
        page = self._page
        page.open("chloe")
        page.click("[data-act=add-docs]")
        page.until(lambda: page.js("return document.activeElement.value") == "/threadlore sources add ")
        page.keys(PACKAGE)
        begun = time.monotonic()
        page.keys(Keys.ENTER)
        page.find("#progress [role=progressbar]")
        self._take("your-docs")
        page.until(lambda: page.js(READY, "itsdangerous"), READ_SECONDS)
        print(f"your documentation added to ready: {time.monotonic() - begun:.0f} s")

    def _look(self, size: tuple[int, int], scheme: str) -> None:
        self._page.size(*size)
        self._page.prefer(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")

    def _answers(self, count: int) -> None:
        found = self._page.driver.find_elements
        self._page.until(lambda: len(found("css selector", FINISHED)) == count, ANSWER_SECONDS)

    def _timed(self, what: str, act: Callable[[], object]) -> None:
        begun = time.monotonic()
        act()
        print(f"{what}: {time.monotonic() - begun:.2f} s")

    def _take(self, name: str, top: str = "") -> None:
        """Save a picture, with the first such element at the top."""
        self._taken += 1
        script = "document.querySelector(arguments[0])?.scrollIntoView({ block: 'start' })"
        keep(
            self._page,
            self._folder / f"{self._taken}-{name}.png",
            lambda page: page.js(script, top) if top else None,
        )


def main(home: Path, folder: Path) -> None:
    """Take every picture."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (binary and driver):
        sys.exit("Chromium is missing: apt-get install chromium chromium-driver")
    if not (home / DATABASE).is_file():
        sys.exit(f"{home} holds no index of Flask; make one with `threadlore index --home {home}`.")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "home"
        shutil.copytree(home, copy, ignore=shutil.ignore_patterns("*.lock", "*.sock", "playground.jsonl"))
        emptied(copy)
        browser = start(binary, driver, Path(temporary) / "profile")
        try:
            with served(copy) as url:
                Film(Page(browser, url), folder).play()
        finally:
            browser.quit()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "docs/tour"))
