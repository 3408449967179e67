"""Buttons, menus, forms, emoji and links of the playground's page, in headless Chromium."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.keys import Keys

from tests.platforms.browser import Page
from tests.platforms.web_dispatch import FakeDispatch

QUESTION = "How do I test a view that redirects in Flask 2.3?"
FOCUSED = "return document.activeElement.matches(arguments[0])"


@pytest.fixture
def page(page: Page) -> Page:
    page.write(QUESTION)
    page.find("#thread .footer")
    return page


def focused(page: Page, selector: str) -> None:
    page.until(lambda: page.js(FOCUSED, selector))


def react(page: Page, message: str, label: str) -> None:
    """Put an emoji on the last message of the thread that holds a text, by the menu."""
    page.click("#thread .message", message)
    page.click("#thread .message:focus [data-act^=react-tool], #thread .message:hover [data-act^=react-tool]")
    page.click(".popup button", label)


def test_form_is_a_window_that_keeps_the_focus_and_goes_away_by_escape(
    page: Page, dispatch: FakeDispatch
) -> None:
    page.click("#thread .vote.down")
    page.find("#form[open]")
    focused(page, "#form [value=release]")
    assert page.js("return document.querySelector('#form').matches(':modal')")
    named = "return document.getElementById(document.querySelector('#form').getAttribute('aria-labelledby'))"
    assert page.js(f"{named}.textContent") == "What was wrong?"
    unnamed = """return [...document.querySelectorAll("#form button, #form input, #form textarea")]
        .filter((e) => !(e.ariaLabel || e.textContent.trim() || e.labels?.length)).length"""
    assert page.js(unnamed) == 0
    stops = []
    for _ in range(7):
        page.keys(Keys.TAB)
        stops.append(page.js("return document.activeElement.closest('#form') !== null"))
    assert all(stops)
    page.keys(Keys.ESCAPE)
    page.gone("#form[open]")
    focused(page, "#thread .vote.down")
    assert page.all("#thread"), "Escape closed the window and nothing else"
    assert [press.name for press in dispatch.presses] == ["down"]


def test_form_is_filled_by_keyboard_and_complains_before_it_is_sent(
    page: Page, dispatch: FakeDispatch
) -> None:
    page.click("#thread .vote.down")
    focused(page, "#form [value=release]")
    page.keys(Keys.TAB, "Use `follow_redirects`.")
    page.click("#form button", "Send")
    page.find("#form [role=alert]", "fill in")
    assert len(dispatch.presses) == 1
    page.keys(Keys.ESCAPE)
    page.gone("#form[open]")
    page.click("#thread .vote.down")  # takes the vote back
    page.find("#thread .vote.down[aria-pressed=false]")
    page.click("#thread .vote.down")
    page.find("#form[open]")
    assert page.attribute("#form textarea", "value") == "Use `follow_redirects`.", "nothing typed is lost"
    focused(page, "#form [value=release]")
    page.keys(Keys.ARROW_DOWN)
    page.keys(Keys.TAB, Keys.CONTROL + Keys.ENTER)
    page.gone("#form[open]")
    assert page.text("#thread .note .body", "Noted") == "Noted: wrong."
    assert dict(dispatch.presses[-1].fields) == {"what": "wrong", "better": "Use `follow_redirects`."}
    page.click("#thread .note [aria-label='Put this away']")
    page.gone("#thread .note")


def test_what_is_said_to_one_person_stands_under_the_message_for_them_alone(
    page: Page, dispatch: FakeDispatch
) -> None:
    page.play("ben")
    page.click("#messages .thread-link")
    page.find("#thread .vote.up")
    page.gone("#thread .control-delete")  # who may not delete sees no Delete
    for pressed in ("true", "false"):
        page.click("#thread .vote.up")
        page.find(f"#thread .vote.up[aria-pressed={pressed}]")
    page.find("#thread .from-bot .note", "It is taken back.")
    assert page.text("#thread .day").startswith("1 reply")
    page.play("ada")
    page.find("#thread .footer")
    page.gone("#thread .note")
    page.click("#thread .control-delete")
    page.click("#confirm button", "Keep it")
    page.gone("#confirm[open]")
    assert [press.name for press in dispatch.presses] == ["up", "up"]
    page.click("#thread .control-delete")
    page.click("#confirm button", "Delete")
    page.gone("#thread .from-bot")


def test_menu_of_releases_by_keyboard(page: Page, dispatch: FakeDispatch) -> None:
    page.js("document.querySelector('#thread .control-release').focus()")
    page.keys(Keys.ENTER)
    focused(page, ".popup [role=menuitem]")
    page.becomes(lambda: page.attribute("#thread .control-release", "aria-expanded"), "true")
    page.keys(Keys.ESCAPE)
    page.gone(".popup")
    focused(page, "#thread .control-release")
    assert page.all("#thread"), "Escape closed the menu and nothing else"
    page.keys(Keys.SPACE)
    page.find(".popup")
    page.click("#thread .message", QUESTION)
    page.gone(".popup")
    page.click("#thread .control-release")
    focused(page, ".popup [role=menuitem]")
    page.keys(Keys.ARROW_UP, Keys.ENTER)
    page.find("#thread .message", "For 3.1 it is the same.")
    assert [press.value for press in dispatch.presses] == ["a0000001 3.1"]


def test_emoji_on_a_persons_message(page: Page, dispatch: FakeDispatch) -> None:
    page.play("hana")
    page.click("#messages .thread-link")
    page.write("Use the test client.", where="thread")
    page.find("#thread .message", "Use the test client.")
    react(page, "Use the test client.", "This answers it")
    page.find("#thread .reaction.accept[aria-pressed=true]", "1")
    react(page, "Use the test client.", "Helpful")
    page.find("#thread .reaction.up[aria-pressed=true]", "1")
    page.play("ben")
    page.click("#messages .thread-link")
    page.find("#thread .reaction.accept[aria-pressed=false]", "1")
    page.click("#thread .reaction.accept")
    page.find("#thread .reaction.accept[aria-pressed=true]", "2")
    page.click("#thread .reaction.accept")
    page.find("#thread .reaction.accept[aria-pressed=false]", "1")
    wanted = [
        ("web:hana", True, "✅", True),
        ("web:hana", True, "👍", True),
        ("web:ben", False, "✅", True),
        ("web:ben", False, "✅", False),
    ]
    page.becomes(
        lambda: [(r.person.id, r.person.helper, r.emoji, r.added) for r in dispatch.reactions], wanted
    )


FAINT = """
  const parts = (text) => { const all = text.match(/[\\d.]+/g).map(Number); return [...all, 1].slice(0, 4); };
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((one) => one / 255)
      .map((one) => (one <= .03928 ? one / 12.92 : ((one + .055) / 1.055) ** 2.4));
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const over = (top, below) => below.map((one, i) => top[i] * top[3] + one * (1 - top[3]));
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(getComputedStyle(at).backgroundColor);
    return layers.reverse().map(parts).reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.offsetParent || element.closest(".hidden-text")) continue;
    const ground = behind(element);
    const two = [light(ground), light(over(parts(getComputedStyle(element).color), ground))];
    const ratio = (Math.max(...two) + .05) / (Math.min(...two) + .05);
    if (ratio < 4.5) found.push(`${element.className} ${walker.currentNode.data} ${ratio}`);
  }
  return found;"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(page: Page, scheme: str) -> None:
    page.prefer(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
    page.play("ben")
    page.click("#messages .thread-link")
    react(page, "Call app.test_client()", "This answers it")
    page.find("#thread .reaction.accept")
    page.click("#thread .vote.down")
    page.find("#form[open]")
    page.click("#form button", "Send")
    assert page.js(FAINT) == []
    page.click("#form label", "It is not right")
    page.click("#form button", "Send")
    page.find("#thread .note")
    page.click("#thread .control-release")
    assert page.js(FAINT) == []
    page.keys(Keys.ESCAPE)
    page.click("#thread .control-why")
    page.find(".panel-why .steps")
    assert page.js(FAINT) == []


def test_emoji_and_button_are_one_vote(page: Page) -> None:
    react(page, "Call app.test_client()", "Helpful")
    page.find("#thread .vote.up[aria-pressed=true]", "1")
    page.gone("#thread .reaction")
    page.click("#thread .vote.up")
    page.find("#thread .vote.up[aria-pressed=false]")


def test_link_opens_the_message_where_it_stands(page: Page) -> None:
    key = page.attribute("#thread .from-bot", "data-id")
    page.play("ben")
    page.click("#channels a", "general")
    page.write(f"Look: {page.url}/#/m/{key} and [there](http://127.0.0.1:9/#/m/{key})")
    link = page.find("#messages .body a", "there")
    assert link.get_attribute("target") == "" and str(link.get_attribute("href")).startswith(page.url)
    link.click()
    focused(page, f"#thread [data-id='{key}']")
    page.becomes(lambda: (page.person(), page.text("#title")), ("ben", "help"))
    page.until(lambda: "/m/" not in page.driver.current_url)
    page.driver.get("about:blank")
    page.driver.get(f"{page.url}/#/m/{key}")
    focused(page, f"#thread [data-id='{key}']")
    page.js("location.hash = '#/m/12345'")
    page.find("#toast", "gone")


def test_tall_answer_is_read_from_its_question_on(page: Page) -> None:
    page.size(420, 500)
    page.write("And in 3.1?", where="thread")
    page.until(lambda: len(page.driver.find_elements("css selector", "#thread .footer")) == 2)
    seen = """const box = document.querySelector("#thread").getBoundingClientRect();
        const asked = [...document.querySelectorAll("#thread .message:not(.from-bot)")].at(-1);
        return Math.abs(asked.getBoundingClientRect().top - box.top);"""
    page.until(lambda: page.js(seen) < 8)
    page.js("document.querySelector('#thread').scrollTop = 1e6")
    at = page.js("return document.querySelector('#thread').scrollTop")
    page.click("#thread .message:last-child .vote.up")
    page.find("#thread .message:last-child .vote.up[aria-pressed=true]", "1")
    assert page.js("return document.querySelector('#thread').scrollTop") >= at - 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_controls_on_a_narrow_screen(page: Page, scheme: str) -> None:
    page.prefer(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
    page.size(390, 844)
    row = """return new Set([...document.querySelectorAll("#thread .footer > *")]
        .map((e) => Math.round(e.getBoundingClientRect().top + e.offsetHeight / 2))).size"""
    page.becomes(lambda: page.js(row), 1)
    small = """return [...document.querySelectorAll("#thread .footer > *")]
        .filter((e) => e.offsetHeight < 28).length"""
    assert page.js(small) == 0
    page.click("#thread .control-release")
    page.find(".popup")
    focused(page, ".popup [role=menuitem]")
    out = """return [...document.querySelectorAll(arguments[0])].map((e) => e.getBoundingClientRect())
        .filter((box) => box.left < 0 || box.top < 0 || box.right > innerWidth || box.bottom > innerHeight)
        .length"""
    assert page.js(out, ".popup") == 0
    page.keys(Keys.ESCAPE)
    page.click("#thread .vote.down")
    page.find("#form[open]")
    assert page.js(out, "#form, #form button, #form textarea") == 0
    assert page.js("return document.documentElement.scrollWidth") <= 390


def test_answer_this_asks_with_the_words_of_a_message(page: Page, dispatch: FakeDispatch) -> None:
    page.click("#thread .message", QUESTION)
    page.js("document.querySelector('#thread [data-act^=answer-tool]').click()")
    page.find("#thread .ephemeral", f"You asked for {QUESTION}.")
    assert page.text("#thread .ephemeral .only code") == "Answer this"
    assert [command.text for command in dispatch.commands] == [QUESTION]
