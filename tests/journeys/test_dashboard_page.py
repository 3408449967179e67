"""The dashboard in headless Chromium with the whole bot behind it: figures, keys, on a phone, in the dark."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.keys import Keys

from bot.app.overview import ErrorsSeen, Overview
from core.community.overrides import BOT, EVERYWHERE
from core.domain import Question, Scope, Vote
from tests.journeys.house import Bot, Kettle
from tests.journeys.served import served
from tests.platforms.axe import violations
from tests.platforms.browser import Page, looking

ASKED = (
    "Which port does the dashboard listen on?",
    "On which port is the dashboard listening?",
    "How often is a failed job retried in 1.5?",
    "How do I rotate the log files for zebras?",
)


async def used(bot: Bot) -> None:
    """Let people ask and vote."""
    for number, text in enumerate(ASKED):
        answer = await bot.app.engine.answer(Question(text, f"web:{number}", "web:help"))
        if answer.route != "abstain":
            await bot.app.engine.feedback(Vote(answer.id, "web:hana", 1), helper=True)
    await bot.app.engine.feedback(Vote(answer.id, "web:ben", 0))
    secret = Question(
        "What do zebras whisper?", "web:ada", "web:maintainers", Scope("private", "web:maintainers")
    )
    await bot.app.engine.answer(secret)


async def shown(bot: Bot) -> None:
    """Let a playground be used, and its figures be shown."""
    await used(bot)
    bot.dispatch.overview = Overview(bot.app)


async def prepare(bot: Bot) -> None:
    """Let a playground be used, with an error, a pause and a fallback in its figures."""
    await used(bot)
    errors = ErrorsSeen()
    errors.handle(logging.makeLogRecord({"name": "bot.platforms.slack.platform", "levelno": logging.ERROR}))
    bot.dispatch.overview = Overview(bot.app, errors)
    await bot.app.pauses.begin(EVERYWHERE, 0, "web:chloe", "we move house")
    await bot.app.modes.set_mode("web:general", "mentions", BOT, "too many were not answered")


@pytest.fixture
def page(chromium: webdriver.Chrome, kettle: Kettle) -> Iterator[Page]:
    light = {"network": True, "prefers_color_scheme": "light"}
    with served(kettle, prepare) as url, looking(chromium, url, (1360, 900), **light) as page:
        chromium.get(f"{url}/dashboard")
        page.find("#questions .chart")
        yield page


def table(page: Page, card: str) -> list[list[str]]:
    """Return the rows of a chart's table, as text."""
    rows = """return [...document.querySelectorAll(`#${arguments[0]} ~ .numbers tbody tr`)]
        .map((row) => [...row.children].map((cell) => cell.textContent));"""
    return [[str(cell) for cell in row] for row in page.js(rows, card)]


def query(kettle: Kettle, statement: str) -> list[Any]:
    with closing(sqlite3.connect(kettle.home / "threadlore.sqlite3")) as database:
        return database.execute(statement).fetchall()


def test_every_figure_is_the_databases(page: Page, kettle: Kettle) -> None:
    routes = dict(query(kettle, "select route, count(*) from answers group by route"))
    assert sum(routes.values()) == len(ASKED) + 1
    names = {"reuse": "from memory", "quote": "quoted", "abstain": "“I don’t know”"}
    assert dict(table(page, "routes")) == {names[route]: str(count) for route, count in routes.items()}
    assert page.text("#routes .middle") == str(sum(routes.values()))
    days = table(page, "questions")
    assert [sum(map(int, day[1:])) for day in days] == [0] * 6 + [sum(routes.values())]
    ((day,),) = query(kettle, "select date('now')")
    up, down = (query(kettle, f"select count(*) from votes where value = {value}")[0][0] for value in (1, 0))
    assert table(page, "votes")[-1] == [day, str(up), str(down)]
    ((kept,),) = query(kettle, "select count(*) from pairs p join placements l on l.pair_id = p.id")
    stored = sum(
        int(word) for text in texts(page, "#stores .quiet") for word in text.split() if word.isdigit()
    )
    assert kept and stored <= kept
    assert [row[2] for row in table(page, "topics")] and {row[1] for row in table(page, "topics")} <= {
        "1.5",
        "2.0",
    }
    assert table(page, "times")[-1][1] != "–" and table(page, "first")[0][1] == "–"
    assert texts(page, "#releases h3") == ["2.0\nlatest\nanswers", "1.5\nanswers", "1.0\nanswers"]
    lights = page.text("#lights")
    assert "until somebody resumes it: we move house" in lights and "1 channel fell back" in lights
    assert "1 in 24 hours" in lights and "bot.platforms.slack" in page.text("#errors-last")


def texts(page: Page, selector: str) -> list[str]:
    return page.texts(selector)


def test_nothing_private_is_shown(page: Page) -> None:
    assert "zebras whisper" not in page.driver.page_source
    assert "log files for zebras" in page.text("#gaps")


def test_what_a_proxy_says_in_its_place_is_told_in_words(page: Page) -> None:
    page.js("window.fetch = async () => new Response('<html>Bad gateway</html>', { status: 502 })")
    page.js("document.querySelector('#filters').dispatchEvent(new Event('change'))")
    page.find("#state.bad", "The server answered 502; trying again …")
    assert page.all("#questions .chart"), "the figures stay"


def test_every_picture_is_one_stop_and_told_by_arrow_keys(page: Page) -> None:
    stops = """return [...document.querySelectorAll("svg.chart")]
        .map((chart) => chart.querySelectorAll('.stop[tabindex="0"]').length)"""
    assert set(page.js(stops)) == {1}
    page.js("document.querySelector('#questions .stop[tabindex=\"0\"]').focus()")
    page.find(".tip", "from memory")
    assert "quoted" in page.text(".tip")
    page.keys(Keys.ARROW_LEFT)
    page.find(".tip", "nothing")
    name = "return document.activeElement.getAttribute('aria-label')"
    assert str(page.js(name)).endswith(": nothing")
    page.keys(Keys.HOME)
    first = page.js(name)
    page.keys(Keys.ARROW_LEFT)
    assert page.js(name) == first
    page.keys(Keys.TAB)
    assert page.js("return document.activeElement.closest('#questions')") is None
    page.gone(".tip")


def test_what_has_no_colour_of_its_own_has_the_accent(page: Page) -> None:
    colours = """const [key, shown] = ["key", ""].map((name) => {
            const made = document.body.appendChild(document.createElement("i"));
            made.className = name;
            return made;
        });
        shown.style.backgroundColor = "var(--accent)";
        return [key, shown].map((one) => getComputedStyle(one).backgroundColor)"""
    key, accent = page.js(colours)
    assert key == accent, "and not that of marked sentences"


def test_a_chart_says_its_numbers_as_a_table(page: Page) -> None:
    page.click("#questions ~ .numbers summary")
    assert page.text("#questions ~ .numbers th", "quoted") == "quoted"
    page.js("document.querySelector('#votes ~ .numbers summary').focus()")
    page.keys(Keys.ENTER)
    page.find("#votes ~ .numbers td")


def test_the_keyboard_reaches_everything_and_what_is_focused_stays(page: Page) -> None:
    page.js("document.body.tabIndex = -1; document.body.focus()")
    page.keys(Keys.TAB)
    assert page.js("return document.activeElement.className") == "skip"
    page.keys(Keys.ENTER)
    assert page.js("return document.activeElement.id") == "main"
    seen = set()
    for _ in range(60):
        page.keys(Keys.TAB)
        place = page.js("return document.activeElement.closest('section')?.getAttribute('aria-labelledby')")
        if place is None and seen:
            break
        seen.add(place)
    assert {"questions-title", "votes-title", "times-title", "topics-title", "gaps-title"} <= seen


def test_one_day_is_a_point_and_no_wedge(page: Page) -> None:
    page.find("#times circle.end")
    assert page.driver.find_elements("css selector", "#times .area, #times .line") == []
    assert page.driver.find_elements("css selector", "#tiles .area") == []
    assert len(page.all("#routes .arc:not(.none)")) == 3


def total(page: Page) -> int:
    return int(page.text("#routes .middle"))


def test_figures_are_narrowed_to_days_a_release_and_a_channel(page: Page) -> None:
    asked = len(ASKED) + 1
    assert total(page) == asked
    page.click("#days option", "7")
    page.click("#release option", "1.5")
    page.until(lambda: total(page) == 1)
    assert texts(page, "#releases h3")[0].startswith("2.0"), "all releases are still there"
    page.click("#release option", "all")
    page.until(lambda: total(page) == asked)
    assert texts(page, "#channel option") == ["all", "#help"], "private ones are no choice"
    page.click("#channel option", "help")
    page.until(lambda: total(page) == len(ASKED))


def test_gaps_say_why_they_are_there_and_lead_to_their_threads(
    chromium: webdriver.Chrome, kettle: Kettle
) -> None:
    with served(kettle, shown) as url, looking(chromium, url, (1360, 900)) as page:
        page.open()
        page.write(ASKED[0])
        page.find("#thread .footer")
        page.click("#thread .vote.down")
        page.find("#thread .vote.down[aria-pressed=true]")
        page.driver.get(f"{url}/dashboard")
        lacking = "return [...document.querySelectorAll('#gaps tbody tr')].map((row) => row.innerText)"
        rows = page.until(lambda: page.js(lacking))
        assert any("missing in the docs" in row and "zebras" in row for row in rows), rows
        assert any("answered badly" in row and "1 voted down" in row for row in rows), rows
        badly = next(at for at, row in enumerate(rows, 1) if "answered badly" in row)
        page.click(f"#gaps tbody tr:nth-child({badly}) summary", "Threads")
        assert page.text("#gaps details[open] a") == ASKED[0]
        assert page.attribute("#gaps details[open] a", "href").startswith(url)
        assert "Most cited" in page.text("#pages")
        page.click("#pages summary", "Threads")
        assert page.text("#pages details[open] a") == ASKED[0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1360])
def test_a_phone_and_the_dark(page: Page, scheme: str, width: int) -> None:
    page.prefer(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
    page.size(width, 844)
    page.until(lambda: page.js("return document.documentElement.scrollWidth") <= width)
    out = """return [...document.querySelectorAll(".card, .tile, .chart, .ring")]
        .filter((one) => one.getBoundingClientRect().right > innerWidth + 1).length"""
    page.until(lambda: page.js(out) == 0)
    ink, paper = page.js(
        "const s = getComputedStyle(document.querySelector('.card')); return [s.color, s.backgroundColor];"
    )
    assert ink != paper
    assert violations(page) == []
