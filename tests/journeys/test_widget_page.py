"""The widget in headless Chromium, on a static site of another origin, with the whole bot behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from bot.platforms.web.platform import WithoutPlayground
from tests.journeys.house import Kettle, house, new_kettle
from tests.journeys.sphinx_site import address, serving, write_site
from tests.ollama_server import OllamaServer
from tests.patience import PATIENCE
from tests.platforms.axe import violations
from tests.platforms.browser import LOOK, Page, in_a_thread
from tests.platforms.widget_client import Reader, widget

PORT = "Which port does the dashboard listen on?"
HOST = "document.querySelector('threadlore-widget')"
ROOT = f"{HOST}?.shadowRoot"


@dataclass
class Site:
    """A documentation site, the bot's address, and the browser that looks at the site."""

    page: Page
    url: str
    bot: str
    folder: Path

    def open(self, path: str = "en/1.5/jobs.html") -> None:
        self.page.driver.get(f"{self.url}/{path}")

    def go(self, path: str) -> None:
        """Go to another page in the same tab, as a link does."""
        self.page.js("location.href = arguments[0]", f"/{path}")
        self.page.until(lambda: self.page.js("return location.pathname") == f"/{path}")

    def look(self, script: str, *arguments: object) -> Any:
        """Look into the widget: `root` is its shadow root, null where there is none."""
        return self.page.js(f"const root = {ROOT} ?? null; {script}", *arguments)

    def all(self, selector: str) -> list[Any]:
        return list(self.look(f"{LOOK} return shown", selector))

    def find(self, selector: str, text: str = "") -> Any:
        return self.page.until(lambda: self.look(f"{LOOK} return shown[0]", selector, text))

    def text(self, selector: str, text: str = "") -> str:
        script = f"{LOOK} return shown.length ? [said(shown[0])] : null"
        return str(self.page.until(lambda: self.look(script, selector, text))[0])

    def click(self, selector: str, text: str = "") -> None:
        self.page.until(lambda: self.find(selector, text).click() or True)

    def gone(self, selector: str) -> None:
        self.page.until(lambda: not self.all(selector))

    def start(self, path: str = "en/1.5/jobs.html") -> None:
        """Open a page and the widget on it."""
        self.open(path)
        self.click(".launcher")
        self.find(".said", "Answers are for")

    def ask(self, text: str, number: int = 1) -> str:
        """Ask, and return the finished answer; `number` is how many questions there are then."""
        self.find("textarea").send_keys(text, Keys.ENTER)
        return self.answer(number)

    def answer(self, number: int = 1) -> str:
        finished = ".exchange .body:not([aria-busy])"

        def last() -> str:
            there = self.look(f"{LOOK} return shown.map(said)", finished)
            return str(there[-1]) if len(there) == number else ""

        return str(self.page.until(last))

    def focus(self) -> str:
        return str(self.look("return root.activeElement?.className || root.activeElement?.tagName || ''"))


@pytest.fixture(scope="module")
def place() -> Iterator[Any]:
    with address() as found:
        yield found


@pytest.fixture(scope="module")
def documented(place: Any, tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path) -> Kettle:
    """Kettle, whose pages are those of the site."""
    _, url = place
    folder = tmp_path_factory.mktemp("documented") / "kettle"
    return asyncio.run(
        new_kettle(folder, encoder_cache, "1.5", "2.0", url=f"{url}/en/{{release}}/{{page}}.html")
    )


@contextmanager
def on_site(
    chromium: webdriver.Chrome, place: Any, kettle: Kettle, folder: Path, more: str = "", **given: Any
) -> Iterator[Site]:
    """Serve bot and site, and look at the site; `more` are attributes of its script."""
    server, url = place
    settings = {"widget_origins": url, "widget_per_minute": 1000, "widget_total_per_minute": 1000, **given}

    @asynccontextmanager
    async def whole() -> AsyncIterator[Any]:
        async with (
            house(kettle, **settings) as bot,
            widget(bot.settings, bot.dispatch, WithoutPlayground) as reader,
        ):
            yield _Served(reader)

    with in_a_thread(whole) as bot, serving(server, folder):
        write_site(folder, bot, more)
        page = Page(chromium, url)
        page.size(1280, 860)
        page.prefer(prefers_color_scheme="light", prefers_reduced_motion="reduce")
        chromium.get_log("browser")
        try:
            yield Site(page, url, bot, folder)
        finally:  # what one test leaves open is open in the next
            chromium.get(f"{url}/_static/doctools.js")
            chromium.execute_script("sessionStorage.clear()")
            chromium.get("about:blank")


class _Served:
    """What `in_a_thread` asks for the address."""

    def __init__(self, reader: Reader) -> None:
        self.playground = reader


@pytest.fixture
def site(chromium: webdriver.Chrome, place: Any, documented: Kettle, tmp_path: Path) -> Iterator[Site]:
    """A site with the widget; at the end the console must have told of no error."""
    with on_site(chromium, place, documented.copy(tmp_path / "kettle"), tmp_path / "site") as site:
        yield site
        severe = [entry for entry in chromium.get_log("browser") if entry["level"] == "SEVERE"]
    assert severe == []


def test_a_reader_asks_follows_up_votes_and_goes_to_another_release(site: Site) -> None:
    site.open()
    assert site.text(".launcher") == "Ask a question"
    loaded = "return performance.getEntriesByType('resource').filter((one) => /panel/.test(one.name)).length"
    assert site.page.js(loaded) == 0
    site.click(".launcher")
    assert site.text(".said", "1.5") == "Answers are for Kettle 1.5."
    assert site.text("h2") == "Ask about Kettle"
    assert [option.text for option in site.find("select").find_elements(By.TAG_NAME, "option")] == [
        "2.0 (latest)",
        "1.5",
    ]
    site.page.becomes(lambda: (len(site.all(".example")), site.focus()), (2, "TEXTAREA"))
    site.find(".privacy", "without your name")
    said = site.ask(PORT)
    assert "7171" in said and "Sources" in said and "Kettle 1.5" in said
    # the source is a page of this site, and opens in this tab
    link = site.find(".sources a")
    assert link.get_attribute("href").startswith(f"{site.url}/en/1.5/dashboard.html")
    assert link.get_attribute("target") == "" and link.get_attribute("rel") == ""
    assert site.find("a.citation").get_attribute("href").startswith(f"{site.url}/en/1.5/")
    # a follow-up, for the release that it names
    assert "9090" in site.ask("And in 2.0?", 2)
    site.click(".vote.up")
    site.page.until(lambda: site.find(".vote.up").get_attribute("aria-pressed") == "true")
    site.click(".vote.down")
    site.page.until(lambda: site.find(".vote.down").get_attribute("aria-pressed") == "true")
    site.page.becomes(lambda: site.find(".vote.up").get_attribute("aria-pressed"), "false")
    site.page.until(lambda: "Thank you" in site.look("return root.querySelector('[aria-live]').textContent"))
    # another release's page: the conversation is still there, and so is the vote
    site.go("en/stable/dashboard.html")
    assert site.text(".said", "2.0") == "Answers are for Kettle 2.0."
    site.page.until(lambda: len(site.all(".exchange")) == 2)
    site.page.becomes(lambda: site.find(".vote.down").get_attribute("aria-pressed"), "true")
    assert "9090" in site.ask(PORT, 3)


def test_an_answer_grows_before_the_readers_eyes(
    chromium: webdriver.Chrome, place: Any, documented: Kettle, tmp_path: Path
) -> None:
    model: list[OllamaServer] = []

    @asynccontextmanager
    async def ollama() -> AsyncIterator[Any]:
        async with OllamaServer(tokens_per_second=8.0) as server:
            server.say(*["The dashboard listens on port 7171 by default [1]. It shows failed jobs [2]."] * 2)
            server.holds_back = True  # until it was seen growing
            model.append(server)
            yield _Served(server)  # type: ignore[arg-type]

    with (
        in_a_thread(ollama) as url,
        on_site(
            chromium,
            place,
            documented.copy(tmp_path / "kettle"),
            tmp_path / "site",
            ollama_host=url,
            ollama_timeout=PATIENCE,
            fast=True,
        ) as site,
    ):
        site.start()
        site.find("textarea").send_keys(PORT, Keys.ENTER)
        early = site.page.until(lambda: site.text(".body.growing"))
        assert early and site.find(".send").get_attribute("disabled")
        # the page is left while the answer is written, which goes on in the next one
        site.go("en/1.5/dashboard.html")
        site.find(".question", PORT)
        model[0].holds_back = False
        whole = site.answer()
        assert "7171" in whole and len(whole) > len(early) and not site.all(".growing")
        heard = "return root.querySelector('[aria-live]').textContent"
        site.page.until(lambda: "The answer is here" in site.look(heard))


def test_keys_do_what_people_expect(site: Site) -> None:
    site.open()
    site.find(".launcher")
    site.look("root.querySelector('.launcher').focus()")
    site.page.keys(Keys.ENTER)
    site.find(".said", "Answers are for")
    site.page.becomes(site.focus, "TEXTAREA")
    # the page's own shortcuts hear nothing of what is typed here
    site.find("textarea").send_keys("n/s", Keys.SHIFT, Keys.ENTER)
    assert site.find("textarea").get_property("value") == "n/s\n"
    assert not site.page.js("return document.documentElement.dataset.pressed")
    # Tab stays in the dialog
    seen = []
    for _ in range(12):
        site.page.keys(Keys.TAB)
        seen.append(site.focus())
    assert set(seen) >= {"TEXTAREA", "send", "icon-button", "SELECT", "list", "example"}
    site.find("textarea").clear()
    site.find("textarea").send_keys(Keys.ESCAPE)
    site.gone(".panel")
    site.page.becomes(site.focus, "launcher")
    dialog = site.look("const one = root.querySelector('[role=dialog]'); return [one.ariaModal, one.hidden]")
    assert dialog == ["false", True]


def test_a_chosen_release_holds_until_the_reader_goes_elsewhere(site: Site) -> None:
    site.start()
    site.page.js(
        "arguments[0].value = '2.0'; arguments[0].dispatchEvent(new Event('change'))", site.find("select")
    )
    assert site.text(".said", "2.0") == "Answers are for Kettle 2.0."
    assert "9090" in site.ask(PORT)
    site.go("en/1.5/dashboard.html")
    assert site.text(".said", "2.0") == "Answers are for Kettle 2.0."
    site.go("en/9.9/jobs.html")
    assert site.text(".said", "9.9") == "I have no docs for 9.9. Answers are for Kettle 2.0."
    site.go("en/1.5/jobs.html")
    assert site.text(".said", "1.5") == "Answers are for Kettle 1.5."


def test_starting_again_leaves_nothing(site: Site) -> None:
    site.start()
    site.ask(PORT)
    site.click("[aria-label='Start again']")
    site.gone(".exchange")
    site.find(".example")
    site.go("en/1.5/dashboard.html")
    site.find(".example")
    site.gone(".exchange")
    site.click(".example")
    assert site.answer()
    assert site.page.js("return [document.cookie, localStorage.length]") == ["", 0]
    kept = site.page.js("return JSON.parse(sessionStorage.getItem('threadlore-widget'))")
    assert set(kept) <= {"conversation", "open", "chosen", "on"} and PORT not in str(kept)


def test_what_is_written_from_right_to_left_is_shown_so(site: Site) -> None:
    site.start()
    site.ask("كيف أضبط المنفذ (Kettle 2.0)?")
    ends = """const text = root.querySelector('.question').lastChild, range = document.createRange();
        const left = (at) => { range.setStart(text, at); range.setEnd(text, at + 1);
                               return range.getBoundingClientRect().left; };
        return [left(0), left(text.length - 1)];"""
    first, last = site.look(ends)
    assert last < first, "the question mark stands at the left end"


def test_the_sites_style_and_the_widgets_never_meet(site: Site) -> None:
    site.start()
    style = """const { letterSpacing, textTransform, backgroundColor, borderTopWidth } =
          getComputedStyle(root.querySelector(arguments[0]));
        return [letterSpacing, textTransform, backgroundColor, borderTopWidth];"""
    assert site.look(style, ".send") == ["normal", "none", "rgb(11, 115, 98)", "0px"]
    assert site.look(style, "h2")[:2] == ["-0.08px", "none"]
    outside = site.page.js("return getComputedStyle(document.querySelector('div.body h1')).fontFamily")
    assert "Garamond" in outside
    assert site.page.js("return [document.styleSheets.length, document.adoptedStyleSheets.length]") == [1, 0]
    assert site.page.js("return Object.keys(window).filter((name) => /threadlore|widget/i.test(name))") == []


def test_it_is_dark_where_the_page_is(site: Site) -> None:
    site.start()
    ground = "return getComputedStyle(root.querySelector('.panel')).backgroundColor"
    assert site.look(ground) == "rgb(255, 255, 255)"
    site.page.js("document.body.dataset.theme = 'dark'")
    site.page.until(lambda: site.look(ground) == "rgb(25, 28, 31)")
    site.page.js("document.body.dataset.theme = 'light'")
    site.page.until(lambda: site.look(ground) == "rgb(255, 255, 255)")
    # a dark frame around a light page, as Sphinx's classic theme has it
    site.page.js("document.querySelector('div.body').style.background = '#fff'")
    site.page.js("document.body.dataset.theme = 'dark'")
    site.page.until(
        lambda: site.page.js("return getComputedStyle(document.body).color") == "rgb(214, 217, 220)"
    )
    assert site.look(ground) == "rgb(255, 255, 255)"


@pytest.mark.parametrize("dark", [False, True])
def test_it_can_be_heard_and_seen_by_everybody(site: Site, dark: bool) -> None:
    site.start()
    if dark:
        site.page.js("document.body.dataset.theme = 'dark'")
        site.page.until(lambda: site.page.js(f"return {HOST}.getAttribute('theme')") == "dark")
    site.ask(PORT)
    site.click(".vote.up")
    site.page.until(lambda: site.find(".vote.up").get_attribute("aria-pressed") == "true")
    found = [one for one in violations(site.page) if "threadlore-widget" in one]
    assert found == []


def test_on_a_phone_it_takes_the_whole_screen(site: Site) -> None:
    site.page.size(390, 780)
    site.start()
    box = site.look(
        """const { left, top, width, height } = root.querySelector(".panel").getBoundingClientRect();
        return [left, top, width, height];"""
    )
    assert box == [0, 0, 390, 780]
    assert site.look("return root.querySelector('.panel').ariaModal") == "true"
    assert "7171" in site.ask(PORT)
    assert site.look(
        "return root.querySelector('.list').scrollWidth <= root.querySelector('.list').clientWidth"
    )
    # the page that was cited is not hidden behind it
    site.click(".sources a")
    site.page.until(lambda: "dashboard.html" in site.page.js("return location.href"))
    site.find(".launcher")
    site.gone(".panel")


def test_attributes_say_how_it_looks_and_what_it_answers(
    chromium: webdriver.Chrome, place: Any, documented: Kettle, tmp_path: Path
) -> None:
    more = (
        'data-label="Fragen?" data-language="de" data-color="#ffd23f" data-position="left" '
        'data-theme="dark" data-release="2.0" data-shortcut="ctrl+k"'
    )
    with on_site(chromium, place, documented.copy(tmp_path / "kettle"), tmp_path / "site", more) as site:
        site.open()
        assert site.text(".launcher") == "Fragen?"
        assert site.find(".launcher").rect["x"] == 20
        colours = site.look(
            """const one = getComputedStyle(root.querySelector(".launcher"));
            return [one.backgroundColor, one.color];"""
        )
        assert colours == ["rgb(255, 210, 63)", "rgb(16, 23, 26)"]
        site.page.keys(Keys.CONTROL, "k")
        assert site.text(".said", "2.0") == "Die Antworten gelten für Kettle 2.0."
        assert site.text("h2") == "Fragen zu Kettle"
        assert site.page.js(f"return {HOST}.getAttribute('theme')") == "dark"
        assert "9090" in site.ask(PORT)


def test_a_site_that_is_not_listed_sees_nothing_but_a_message_in_the_console(
    chromium: webdriver.Chrome, place: Any, documented: Kettle, tmp_path: Path
) -> None:
    kettle = documented.copy(tmp_path / "kettle")
    with on_site(
        chromium, place, kettle, tmp_path / "site", widget_origins="https://docs.kettle.example"
    ) as site:
        site.open()
        site.page.until(lambda: _warned(chromium, "is not shown", "WIDGET_ORIGINS"))
        assert site.page.js(f"return {HOST} === null")
        assert site.page.js("return document.querySelector('h1').textContent").startswith("Jobs and retries")


def test_it_says_when_the_bot_is_away_and_asks_again(
    chromium: webdriver.Chrome, place: Any, documented: Kettle, tmp_path: Path
) -> None:
    kettle = documented.copy(tmp_path / "kettle")
    with on_site(chromium, place, kettle, tmp_path / "site", widget_per_minute=0.1) as site:
        site.start()
        # every way to the bot is cut
        chromium.execute_cdp_cmd("Network.enable", {})
        chromium.execute_cdp_cmd("Network.setBlockedURLs", {"urls": [f"{site.bot}/*"]})
        site.find("textarea").send_keys(PORT, Keys.ENTER)
        assert site.text(".error", "Try again") == "The bot is unreachable. Try again in a moment."
        chromium.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
        site.click(".quiet-button", "Try again")
        assert "7171" in site.answer()
        for number in range(2, 6):
            site.ask(PORT, number)
        site.find("textarea").send_keys(PORT, Keys.ENTER)
        site.find(".error", "Please ask again in")


def _warned(chromium: webdriver.Chrome, *words: str) -> bool:
    told = [entry["message"] for entry in chromium.get_log("browser")]
    return any(all(word in message for word in words) for message in told)
