"""The playground's page in headless Chromium with the whole bot behind it: what people do there in a day."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from selenium import webdriver
from selenium.webdriver.common.keys import Keys

from tests.journeys.house import Kettle
from tests.journeys.kettle import PORTS
from tests.journeys.served import served
from tests.platforms.browser import Page, looking

PORT = "Which port does the dashboard listen on?"
REWORDED = "On which port is the dashboard listening?"
REUSED = "from community memory"
REASONED = {
    "reasoning": "Page [1] says that the dashboard listens on port 9090 by default.",
    "false_premise": False,
    "answerable": True,
    "answer": "The dashboard listens on port 9090 by default [1].",
}
ADVICE = "Put the dough into the lid and press the red button for an hour."
BREAD = "How do I bake sourdough bread with the kettle?"
HANA_IS_ASKED = """
[ask]
people = ["web:hana"]
"""


@pytest.fixture
def page(chromium: webdriver.Chrome, kettle: Kettle) -> Iterator[Page]:
    with kettle.config.open("a") as config:
        config.write(HANA_IS_ASKED)
    with served(kettle) as url, looking(chromium, url, (1280, 860)) as page:
        page.open()
        yield page


def ask(page: Page, text: str, who: str = "ada") -> str:
    """Ask in #help as somebody and return the answer."""
    page.play(who)
    page.write(text)
    page.find("#thread .message:not(.from-bot)", text)
    return answers(page, 1)


def ask_in_help(page: Page, text: str, who: str) -> str:
    """Go to #help, wherever the page is, and ask there as somebody."""
    page.click("#channels a", "help")
    page.until(lambda: page.text("#title") == "help")
    return ask(page, text, who)


def answers(page: Page, count: int) -> str:
    """Wait for so many finished answers in the thread and return the last one."""
    found = "#thread .from-bot:not(.growing):has(.footer)"
    script = (
        "const all = [...document.querySelectorAll(arguments[0])];"
        "return all.length === arguments[1] ? all.at(-1).innerText : ''"
    )
    return str(page.until(lambda: page.js(script, found, count)))


def last(selector: str) -> str:
    return f"#thread .from-bot:last-child {selector}"


def open_thread(page: Page, who: str, text: str) -> None:
    """Play somebody and open the thread of a message in #help."""
    page.play(who)
    page.click("#messages .message", text)
    page.click("#messages .message:focus .thread-link")
    page.find("#thread .message", text)


def react(page: Page, message: str, label: str) -> None:
    page.click("#thread .message", message)
    page.click("#thread .message:focus [data-act^=react-tool]")
    page.click(".popup button", label)


def test_ask_vote_take_back_ask_for_another_release_and_why(page: Page) -> None:
    assert PORTS["2.0"] in ask(page, PORT)
    page.click(last(".open-section"))
    page.find(last(".section mark"))
    marked = "return [...document.querySelectorAll('#thread mark')].map((one) => one.textContent).join('')"
    assert PORTS["2.0"] in page.js(marked)
    page.write("And in 1.5?", where="thread")
    assert PORTS["1.5"] in answers(page, 2)
    page.click(last(".vote.up"))
    page.find(last(".vote.up[aria-pressed=true]"), "1")
    page.find(last(".note"), "Your 👍 counts. This answer is remembered now")
    page.click(last(".vote.up"))
    page.find(last(".vote.up[aria-pressed=false]"))
    page.find(last(".note"), "taken back. This answer is no longer remembered.")
    page.click("#thread .note [aria-label='Put this away']")
    page.gone("#thread .note")
    page.click(last(".control-why"))
    assert "not in memory yet" in page.text(".panel-why", "Votes")
    page.keys(Keys.ESCAPE)
    react(page, PORTS["1.5"], "Helpful")
    page.find(last(".vote.up[aria-pressed=true]"), "1")
    page.click(last(".control-release"))
    page.click(".popup button", "1.0")
    assert PORTS["1.0"] in answers(page, 3)

    assert page.all(".remembered") == []
    page.find(".tour.at-4", "Now become somebody else")
    assert REUSED in ask(page, f"{REWORDED[:-1]} in 1.5?", "noor")
    mark = page.text(last(".remembered"))
    assert re.fullmatch(r"Remembered · found good by 1 person · no model · \d+ ms", mark), mark
    page.find(".tour.at-5", "Answered from memory")
    page.click(last(".control-why"))
    told = page.text(".panel-why", "reused")
    assert "Reused an answer that people voted up" in told and "% similar" in told and "Kettle 1.5" in told
    assert "score" not in told, "that is for admins"
    page.click("[aria-label='Back to the thread']")
    page.click(last(".control-delete"))
    page.click("#confirm button", "Delete")
    page.gone("#thread .from-bot:has(.footer)")


def test_a_helpers_better_answer_is_told_to_the_next_who_asks(page: Page) -> None:
    ask(page, PORT)
    open_thread(page, "hana", PORT)
    page.click(last(".vote.down"))
    page.find("#form[open]")
    page.keys(Keys.ARROW_DOWN)
    page.keys(Keys.TAB, "Port 4711 since the last security release.", Keys.TAB)
    page.keys(Keys.TAB)
    page.becomes(lambda: page.js("return document.activeElement.textContent"), "Send")
    page.keys(Keys.ENTER)
    page.gone("#form[open]")
    page.find(last(".note"))
    page.click(last(".control-why"))
    assert "wrong" in page.text(".panel-why", "Corrections")
    told = ask(page, REWORDED, "noor")
    assert "4711" in told and "Hana" in told and REUSED in told


def test_what_a_helper_marks_is_remembered_until_its_author_objects(page: Page) -> None:
    ask(page, BREAD)
    open_thread(page, "ben", BREAD)
    page.write(ADVICE, where="thread")
    page.find("#thread .message", ADVICE)
    open_thread(page, "hana", BREAD)
    react(page, ADVICE, "This answers it")
    page.find("#thread .reaction.accept[aria-pressed=true]", "1")

    told = ask(page, "How can I bake sourdough bread with the kettle?", "noor")
    assert ADVICE in told and "Answer by Ben" in told
    page.click("#thread .sources a", "Answer by Ben")
    page.find("#thread .message.landed", ADVICE)
    assert page.person() == "noor"

    open_thread(page, "ben", BREAD)
    react(page, ADVICE, "Do not remember this")
    page.find("#thread .reaction.object[aria-pressed=true]", "1")
    assert ADVICE not in ask(page, "How could I bake sourdough bread with the kettle?", "ada")


def test_a_person_is_asked_and_what_they_say_is_told_to_the_next(page: Page) -> None:
    ask(page, BREAD)
    page.click(last(".control-person"))
    page.find("#thread .note", "I have asked Hana")
    page.find("#thread .message", "I have asked Hana for help")
    page.find("#people label:has([value=hana]) .waits")
    page.play("hana")
    page.gone(".waits")
    page.click("#direct a:has(.badge)")
    page.find("#messages .message", BREAD)
    page.click("#messages .message a[href^='#/m/']")
    page.find("#thread .message", BREAD)
    page.write(ADVICE, where="thread")
    react(page, ADVICE, "This answers it")
    page.find("#thread .message", "Resolved by")
    page.click("#direct a")
    page.find("#messages .message", "Resolved by")
    told = ask_in_help(page, "How can I bake sourdough bread with the kettle?", "noor")
    assert ADVICE in told and REUSED in told


def test_a_command_is_completed_and_answered_to_its_caller(page: Page) -> None:
    page.write("/threadlore rel", send=False)
    page.find("#composer-main-options li[aria-selected=true]", "releases")
    page.keys(Keys.TAB, Keys.ENTER)
    told = page.text("#messages .ephemeral:not(.growing)", "1.5")
    assert "Only visible to you" in told and "/threadlore releases" in told
    page.play("noor")
    page.gone("#messages .ephemeral")


def test_a_number_shows_the_words_of_its_page(page: Page) -> None:
    ask(page, PORT)
    page.click(last("a.citation"))
    told = page.text(last(".section"), PORTS["2.0"])
    assert "Kettle 2.0 · dashboard.rst" in told
    assert page.attribute(last(".section > p a"), "href").startswith("https://kettle.example/2.0/dashboard")


def test_on_a_phone_everything_is_in_reach(page: Page) -> None:
    page.size(390, 844)
    page.write(PORT)
    answers(page, 1)
    wide = "return document.documentElement.scrollWidth"
    assert page.js(wide) <= 390
    page.click(last(".vote.up"))
    page.find(last(".vote.up[aria-pressed=true]"), "1")
    page.find(last(".note"), "counts")
    page.click(last(".control-why"))
    assert "remembered as good" in page.text(".panel-why", "Votes")
    page.click("[aria-label='Back to the thread']")
    page.click("[aria-label='Close the panel']")
    page.click("#menu")
    page.click("#people label:has([value=noor])")
    page.until(lambda: page.person() == "noor")
    page.write(REWORDED)
    page.until(lambda: REUSED in answers(page, 1))  # until its thread opens, the one before is there
    assert page.js(wide) <= 390


def test_a_thumb_down_by_emoji_offers_the_form_and_a_private_channel_stays_private(page: Page) -> None:
    ask(page, PORT)
    react(page, PORTS["2.0"], "Not helpful")
    page.find(last(".note"), "What was wrong")
    page.click(last(".note .control-wrong"))
    page.find("#form[open]")
    page.keys(Keys.SPACE, Keys.ENTER)
    page.gone("#form[open]")
    page.click("#channels a", "maintainers")
    page.write(f"@Threadlore {PORT}")
    answers(page, 1)
    page.click(last(".vote.up"))
    page.find(last(".vote.up[aria-pressed=true]"), "1")
    assert REUSED not in ask(page, REWORDED, "ben")


def test_the_keyboard_alone_is_enough(page: Page) -> None:
    page.js("document.body.tabIndex = -1; document.body.focus()")
    page.keys(Keys.TAB)
    page.keys(Keys.ENTER)
    page.keys(PORT, Keys.ENTER)
    answers(page, 1)

    def walk(selector: str, *keys: str) -> None:
        for _ in range(60):
            if page.js("return document.activeElement.matches(arguments[0])", selector):
                return
            page.keys(*(keys or (Keys.SHIFT, Keys.TAB)))
            page.driver.switch_to.active_element.send_keys(Keys.NULL)
        pytest.fail(f"the keyboard does not reach {selector}")

    walk("#thread .vote.down")
    page.keys(Keys.SPACE)
    page.find("#form[open]")
    page.keys(Keys.ARROW_DOWN, Keys.ENTER)
    page.gone("#form[open]")
    page.find("#thread .vote.down[aria-pressed=true]", "1")
    page.js("document.querySelector('#composer-thread').focus()")
    walk("#thread .control-release")
    page.keys(Keys.ENTER, Keys.ARROW_DOWN, Keys.ENTER)
    answers(page, 2)
    page.js("document.querySelector('#composer-thread').focus()")
    walk("#thread .message")
    page.keys(Keys.END)
    walk("#thread .control-why", Keys.TAB)
    page.keys(Keys.ENTER)
    page.find(".panel-why", "Pages that were read")
    page.until(lambda: page.js("return document.activeElement.matches('.panel-why')"))
    page.keys(Keys.ESCAPE, Keys.ESCAPE)
    page.gone("#panel")
    walk("#people input")
    page.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    page.until(lambda: page.person() == "noor")
    walk("#channels a[aria-current]")
    page.keys(Keys.ENTER)
    page.js("document.body.tabIndex = -1; document.body.focus()")
    page.keys(Keys.TAB)
    page.keys(Keys.ENTER)
    page.keys("/threadlore rel", Keys.ARROW_DOWN, Keys.TAB, Keys.ENTER)
    page.find("#messages .ephemeral", "1.5")


def test_a_message_is_answered_to_one_person_and_shared(page: Page) -> None:
    page.play("ben")
    page.click("#channels a", "general")
    page.write(PORT)
    page.find("#messages .message", PORT)
    page.play("noor")
    page.click("#messages .message", PORT)
    page.click("#messages .message:focus [aria-label='Answer this']")
    page.find("#thread .ephemeral .footer")
    page.click("#thread .ephemeral .vote.up")
    page.find("#thread .ephemeral .vote.up[aria-pressed=true]")
    page.play("ben")
    page.gone("#thread .ephemeral")
    page.play("noor")
    page.click("#messages .message", PORT)
    page.click("#messages .message:focus [aria-label='Reply in thread']")
    page.click("#thread .ephemeral .control-share")
    page.find("#thread .from-bot:not(.ephemeral) .footer")
    page.click("#thread .put-away")
    page.gone("#thread .ephemeral")
    page.play("ben")
    page.click("#messages .message:has(.thread-link) .thread-link")
    assert PORTS["2.0"] in page.text("#thread .from-bot:not(.ephemeral)")


def test_why_thinks_an_answer_through_for_who_presses(chromium: webdriver.Chrome, kettle: Kettle) -> None:
    says = ("The dashboard listens on port 9090 by default [1].", json.dumps(REASONED))
    with served(kettle, says=says) as url, looking(chromium, url, (1280, 860)) as page:
        page.open()
        assert PORTS["2.0"] in ask(page, PORT)
        page.click(last(".control-why"))
        page.click(".panel-why button", "Think it through")
        page.find("#thread .note", "9090")
        page.click("#thread .note .control-reasoning")
        page.find("#thread .note", "says that the dashboard")
