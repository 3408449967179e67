"""Places of the page: what is new where, posts of a forum, and commands as they are typed."""

from __future__ import annotations

from selenium.webdriver.common.keys import Keys

from tests.platforms.browser import Page
from tests.platforms.web_dispatch import FakeDispatch

QUESTION = "How do I test a view that redirects in Flask 2.3?"
SEND = """const [person, channel, text, done] = arguments;
fetch("/api/messages", { method: "POST", headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ person, channel, text }) }).then(() => done(true), (e) => done(`${e}`));"""


def said(page: Page, person: str, channel: str, text: str) -> None:
    """Let somebody say something elsewhere, as another browser would."""
    assert page.driver.execute_async_script(SEND, person, channel, text) is True


def badge(page: Page, channel: str) -> str:
    shown = page.js(
        "return document.querySelector(arguments[0])?.textContent", f"[data-act={channel}] .badge"
    )
    return str(shown or "")


def test_what_is_new_is_counted_for_each_person_until_they_look(page: Page) -> None:
    said(page, "ben", "general", "Morning")
    said(page, "ben", "general", "Anybody here?")
    page.until(lambda: badge(page, "general") == "2")
    page.play("noor")
    page.until(lambda: badge(page, "general") == "2")
    page.play("ben")
    page.until(lambda: badge(page, "general") == "")
    page.play("ada")
    page.click("#channels a", "general")
    page.until(lambda: badge(page, "general") == "")
    page.gone(".day.new")
    page.click("#channels a", "help")
    said(page, "ben", "general", "Still nobody?")
    page.until(lambda: badge(page, "general") == "1")
    page.click("#channels a", "general")
    assert page.text(".day.new") == "New"
    after = "return document.querySelector('.day.new').nextElementSibling.innerText"
    page.until(lambda: "Still nobody?" in page.js(after))
    page.click("#channels a", "help")
    page.click("#channels a", "general")
    page.find("#messages .message", "Morning")
    page.gone(".day.new")
    page.driver.refresh()
    page.find("#messages .message", "Morning")
    page.becomes(lambda: badge(page, "general"), "")


def test_a_dot_says_that_the_bot_wrote_to_somebody(page: Page) -> None:
    said(page, "hana", "dm-hana", QUESTION)
    page.find("#people label:has([value=hana]) .waits")
    page.play("hana")
    page.until(lambda: badge(page, "dm-hana") == "1")
    page.click("#direct a")
    page.find("#messages .footer")
    page.play("ada")
    page.gone(".waits")


def test_a_fresh_page_says_what_is_read_and_shows_its_questions_before_one_reloads(
    page: Page, dispatch: FakeDispatch
) -> None:
    dispatch.is_read, dispatch.pages.asked = False, ("How do I add a cup?", "Is the lid still there?")
    dispatch.running = [{"release": "3.1", "source": "docs", "stage": "embedding", "done": 4, "total": 9}]
    page.driver.refresh()
    page.find(".welcome", "is reading the documentation")
    page.becomes(lambda: page.texts(".examples button")[:2], list(dispatch.pages.asked))
    dispatch.running = []
    dispatch.pages.asked = ("How do I boil water?", "Is the lid still there?")
    dispatch.is_read = True  # last: the server, in a thread of its own, looks at this first
    page.find(".examples button", "boil water")
    page.find(".welcome", "The answer comes in a thread")


def test_a_follow_up_is_offered_once_when_the_tour_is_over(page: Page, dispatch: FakeDispatch) -> None:
    page.click("[data-act=tour-close]")
    page.write("How do I install Flask 3.1?")
    page.find("#thread .footer")
    page.click("#thread ~ .follow-box .chip", "And in 2.3?")
    page.until(lambda: len(page.all("#thread .footer")) == 2)
    assert [message.text for message in dispatch.messages] == ["How do I install Flask 3.1?", "And in 2.3?"]
    page.gone(".follow-box")


def test_a_forum_shows_posts_with_titles(page: Page) -> None:
    page.click("#channels a", "forum")
    page.until(lambda: page.text("#title") == "forum")
    page.find("#topic", "answers every new post")
    page.write("Sessions are lost", send=False)
    page.keys(Keys.SHIFT, Keys.ENTER)
    page.driver.switch_to.active_element.send_keys(Keys.NULL)
    page.keys("I run two servers.", Keys.ENTER)
    assert page.text("#messages .post-title") == "Sessions are lost"
    page.find("#messages .card-post", "I run two servers.")
    page.find("#thread .message", "Sessions are lost")
    page.write("Me, too", where="thread")
    page.find("#messages .thread-link", "1 reply")


def test_how_a_channel_is_served_changes_before_ones_eyes(page: Page, dispatch: FakeDispatch) -> None:
    page.click("#channels a", "general")
    page.find("#topic", "answers when it is mentioned")
    dispatch.pages.served["web:general"] = "questions"
    page.find("#topic", "answers what looks like a question")


def options(page: Page) -> list[str]:
    return [row.text.split("\n")[1] for row in page.all("#composer-main-options li")]


def test_commands_come_from_the_bots_own_table(page: Page, dispatch: FakeDispatch) -> None:
    page.write("/", send=False)
    page.until(
        lambda: (
            options(page) == ["ask QUESTION", "threadlore status", "threadlore releases", "threadlore help"]
        )
    )
    page.keys("thr", Keys.ARROW_DOWN, Keys.ENTER)
    assert page.attribute("#composer-main", "value") == "/threadlore releases"
    page.keys(Keys.ENTER)
    page.find("#messages .ephemeral", "You asked for releases.")
    page.play("chloe")
    page.write("/threadlore m", send=False)
    page.until(lambda: options(page) == ["threadlore mode [off|forum]"])
    assert "ADMIN" in page.text("#composer-main-options")
    page.keys(Keys.TAB)
    page.until(lambda: options(page) == ["off", "forum"])
    page.keys("f", Keys.TAB, Keys.ENTER)
    page.find("#messages .ephemeral", "You asked for mode forum.")
    assert [command.text for command in dispatch.commands] == ["releases", "mode forum"]


def test_a_whole_command_is_sent_by_enter_whatever_is_suggested(page: Page, dispatch: FakeDispatch) -> None:
    page.play("chloe")
    page.write("/threadlore mode ", send=False)
    page.until(lambda: options(page) == ["off", "forum"])
    page.keys(Keys.ENTER)
    page.find("#messages .ephemeral", "You asked for mode.")


def test_the_line_on_privacy_writes_its_commands(page: Page) -> None:
    page.click("#privacy .command", "/threadlore help")
    assert page.attribute("#composer-main", "value") == "/threadlore help"
    assert page.js("return document.activeElement.id") == "composer-main"
    page.size(390, 844)
    page.gone("#privacy")
    page.click("#menu")
    page.find("#privacy-drawer", "I keep what you ask.")


def test_an_admin_adds_documentation_by_its_address(page: Page, dispatch: FakeDispatch) -> None:
    page.find(".welcome")
    assert page.all(".add-docs") == page.all("[data-act=add-docs]") == []
    page.play("chloe")
    page.click(".add-docs input")
    page.until(lambda: page.js("return document.activeElement.matches('.add-docs input')"))
    page.keys("https://docs.example.org/", Keys.ENTER)
    page.until(lambda: dispatch.commands)
    given = dispatch.commands[-1]
    assert (given.text, given.person.id) == ("sources add https://docs.example.org/", "web:chloe")
    page.click("[data-act=add-docs]")
    page.until(lambda: page.js("return document.activeElement.value") == "/threadlore sources add ")
