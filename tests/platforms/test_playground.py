"""The playground's page in headless Chromium, used like a person uses it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.keys import Keys

from tests.platforms.browser import Page, playground
from tests.platforms.web_dispatch import FakeDispatch

QUESTION = "How do I test a view that redirects in Flask 2.3?"
WORK = {
    "release": "2.0",
    "source": "sdist:flask==2.0.3/docs",
    "stage": "embedding",
    "doing": "indexing",
    "unit": "passages",
    "done": 412,
    "total": 900,
    "rate": 38.2,
    "eta_s": 12.8,
}


@pytest.fixture
def dispatch() -> FakeDispatch:
    return FakeDispatch(pace=0.002)


@pytest.fixture
def page(chromium: webdriver.Chrome, tmp_path: Path, dispatch: FakeDispatch) -> Iterator[Page]:
    with playground(tmp_path, dispatch) as url:
        page = Page(chromium, url)
        page.size(1440, 900)
        page.prefer(prefers_color_scheme="light", prefers_reduced_motion="no-preference")
        chromium.get_log("browser")
        page.open()
        yield page
        errors = [
            entry
            for entry in chromium.get_log("browser")
            if entry["level"] == "SEVERE" and entry["source"] != "network"
        ]
        chromium.get("about:blank")
    assert errors == []


def ask(page: Page, text: str = QUESTION) -> None:
    page.write(text)
    page.find("#thread .footer")


def test_answer_streams_into_the_thread_with_release_sources_and_code(
    page: Page, dispatch: FakeDispatch
) -> None:
    dispatch.pace = 1.0  # slow until it was seen growing
    page.write(QUESTION)
    page.find("#thread .growing .working")
    early = page.text("#thread .growing .body", "Call")
    dispatch.pace = 0.0
    page.find("#thread .footer")
    page.gone("#thread .growing")
    whole = page.text("#thread .from-bot .body")
    assert whole.startswith(early.rstrip("… ")[:20]) and len(early) < len(whole)
    assert page.text("#thread .release-badge") == "Flask 2.3"
    assert page.text("#thread .from-bot .app-badge") == "APP"
    link = "#thread .sources a"
    assert page.attribute(link, "href").endswith("/testing/#sending-requests")
    assert (page.attribute(link, "target"), page.attribute(link, "rel")) == ("_blank", "noopener noreferrer")
    assert page.attribute("#thread a.citation", "href").endswith("/testing/#sending-requests")
    assert page.text("#thread .code pre").startswith("@pytest.fixture()\ndef client(app):")
    assert page.text("#messages .thread-link").startswith("1 reply")


def test_follow_up_goes_on_in_the_thread(page: Page, dispatch: FakeDispatch) -> None:
    ask(page)
    page.find("#composer-thread:focus")
    page.keys("And in 3.1?", Keys.ENTER)
    page.find("#thread .from-bot .release-badge", "Flask 3.1")
    page.until(lambda: len(page.all("#thread .footer")) == 2)
    assert [turn.role for turn in dispatch.histories[1]] == ["user", "assistant"]
    page.click("#thread .control-release")
    page.find(".popup button:focus", "Flask 3.1")
    page.keys(Keys.ENTER)
    page.find("#thread .message", "For 3.1 it is the same.")
    assert dispatch.presses[-1].value.endswith(" 3.1")


def test_votes_of_two_people(page: Page, dispatch: FakeDispatch) -> None:
    ask(page)
    up = "#thread .vote.up"
    assert page.text(up) == ""
    page.click(up)
    page.find(f"{up}[aria-pressed=true]", "1")
    page.click(up)
    page.find(f"{up}[aria-pressed=false]")
    page.until(lambda: page.text(up) == "")
    page.click(up)
    page.find(f"{up}[aria-pressed=true]", "1")
    page.play("ben")
    page.find(f"{up}[aria-pressed=false]", "1")
    page.click(up)
    page.find(f"{up}[aria-pressed=true]", "2")
    page.click("#thread .vote.down")
    page.find("#thread .vote.down[aria-pressed=true]", "1")
    page.find(f"{up}[aria-pressed=false]", "1")
    page.becomes(lambda: [(r.person.id, r.added) for r in dispatch.reactions], [("web:ben", False)])
    pressed = [
        ("web:ada", "up", False),
        ("web:ada", "up", True),
        ("web:ada", "up", False),
        ("web:ben", "up", False),
        ("web:ben", "down", False),
    ]
    page.becomes(lambda: [(p.person.id, p.name, p.again) for p in dispatch.presses], pressed)


def test_private_channel_is_for_members_only(page: Page) -> None:
    page.click("#channels a", "maintainers")
    page.write("The release is on Friday")
    page.find("#messages .message", "Friday")
    page.play("ben")
    page.find("#title", "help")
    page.becomes(lambda: page.texts("#channels a"), ["help", "general", "forum"])
    assert "Friday" not in page.driver.page_source
    page.play("chloe")
    page.click("#channels a", "maintainers")
    page.find("#messages .message", "Friday")


def test_people_talk_and_mention_the_bot_when_they_want_it(page: Page, dispatch: FakeDispatch) -> None:
    page.click("#channels a", "general")
    page.until(lambda: "mention @Threadlore" in page.attribute("#composer-main", "placeholder"))
    page.becomes(lambda: len(page.all(".examples button")), 3)
    page.write("Morning!\nall", send=False)
    page.keys(Keys.SHIFT, Keys.ENTER)
    page.keys(Keys.ENTER)
    page.write("@thr", send=False)
    page.find("#composer-main-options li[aria-selected=true]", "Threadlore")
    page.keys(Keys.ENTER, "how do I test?", Keys.ENTER)
    page.find("#thread .footer")
    assert [m.mentions_bot for m in dispatch.messages][-2:] == [False, True]
    page.play("ben")
    page.click("#channels a", "help")
    page.play("ada")
    page.write("Anybody?")
    page.play("ben")
    page.click("#direct a")
    assert page.text(".welcome", "Just the two").startswith("Just the two of you")


def test_example_question_is_asked_with_a_click(page: Page, dispatch: FakeDispatch) -> None:
    page.click(".examples button", "install")
    page.find("#thread .footer")
    assert dispatch.messages[0].text == "How do I install Flask 3.1?"


def test_own_message_is_edited_and_deleted(page: Page, dispatch: FakeDispatch) -> None:
    ask(page)
    page.click("#messages .message")
    page.click("#messages [aria-label=Edit]")
    page.find("#messages .editor textarea:focus")
    page.keys(" And sessions?", Keys.ENTER)
    page.find("#messages .head", "(edited)")
    page.find("#thread .footer")
    page.becomes(lambda: [edited.text for edited in dispatch.edits], [f"{QUESTION} And sessions?"])
    page.click("#messages .message")
    page.click("#messages [aria-label=Delete]")
    page.click("#confirm button", "Delete")
    page.gone("#panel")
    page.find(".welcome")
    assert page.all("#messages .message") == []


def test_command_is_answered_to_its_caller_alone(page: Page) -> None:
    page.click("#channels a", "general")
    page.write("/thr", send=False)
    page.keys(Keys.ARROW_DOWN, Keys.TAB)
    page.keys(Keys.ENTER)
    told = page.find("#messages .ephemeral", "You asked for releases.")
    assert "Only visible to you" in told.text and "/threadlore releases" in told.text
    page.write("/remind me")
    page.find("#toast", "/ask and /threadlore")
    assert page.attribute("#composer-main", "value") == "/remind me"
    page.play("ben")
    page.find(".welcome")


def test_a_slip_in_a_command_is_told_beside_what_one_types_into(page: Page) -> None:
    page.write("/threadlroe releases")
    toast, box = page.find("#toast", "Did you mean /threadlore?").rect, page.find("#composer-main").rect
    assert toast["y"] + toast["height"] < box["y"]


def test_why_opens_beside_and_goes_back_to_the_thread(page: Page) -> None:
    ask(page)
    page.click("#thread .control-why")
    shown = page.text(".panel-why", "No language model is connected")
    assert QUESTION in shown and "Quoted from the documentation" in shown
    page.keys(Keys.ESCAPE)
    page.find("#thread .footer")
    page.keys(Keys.ESCAPE)
    page.gone("#panel")


def test_index_work_and_releases_are_shown(page: Page, dispatch: FakeDispatch) -> None:
    pills = ["2.0", "2.3", "3.1"]
    page.becomes(lambda: [text.split("\n")[0] for text in page.texts(".pill")], pills)
    page.becomes(lambda: len(page.all(".pill.ready")), 2)
    dispatch.running = [WORK]
    told = "Flask 2.0: indexing, 412 of 900 passages, 38/s, 13 s left"
    assert page.text("#progress .work-text", "412") == told
    page.becomes(lambda: page.attribute(".work", "aria-valuenow"), "46")
    dispatch.running = []
    page.gone("#progress")


def test_a_release_that_still_learns_its_sentences_says_so(page: Page, dispatch: FakeDispatch) -> None:
    dispatch.is_learning = True
    work = {"stage": "sentences", "doing": "learning its sentences", "unit": "sentences"}
    dispatch.running = [WORK | work | {"release": "3.1", "eta_s": 300.0}]
    said = "still learning its sentences: answers get better in 5 min"
    page.find("#progress .work-text", f"412 of 900 sentences: {said.partition(': ')[2]}")
    page.find(".pill.ready .learning", "still learning")
    page.until(lambda: said in page.attribute("[data-act='pill-3.1']", "title"))
    dispatch.is_learning, dispatch.running = False, []
    page.gone(".pill .learning")


@pytest.mark.parametrize("width", [360, 800])
def test_narrow_screen(page: Page, width: int) -> None:
    page.size(width, 740)
    page.write(QUESTION)
    page.find("#thread .footer")
    page.gone("#composer-main")  # the thread takes over
    page.until(lambda: page.js("return document.documentElement.scrollWidth") <= width)
    wide = (
        "return [...document.querySelectorAll('.body')].filter((e) => e.scrollWidth > e.clientWidth).length"
    )
    assert page.js(wide) == 0
    page.click("[aria-label='Close the panel']")
    page.find("#composer-main")
    if width < 720:
        assert page.all("#sidebar a") == []
        page.click("#menu")
        page.click("#channels a", "general")
        page.until(lambda: page.text("#title") == "general")
        page.until(lambda: page.all("#sidebar a") == [])


def test_dark_and_reduced_motion(page: Page, dispatch: FakeDispatch) -> None:
    dispatch.open.clear()  # the answer stays unfinished for as long as it is looked at
    look = """const { backgroundColor, color } = getComputedStyle(document.body);
        return [backgroundColor, color].map((one) => one.match(/\\d+/g).reduce((a, b) => a + +b, 0));"""
    paper, ink = page.js(look)
    assert paper > 700 and ink < 200
    page.prefer(prefers_color_scheme="dark", prefers_reduced_motion="reduce")
    paper, ink = page.js(look)
    assert paper < 150 and ink > 600
    page.write(QUESTION)
    page.find(".working")
    assert (
        float(page.js("return getComputedStyle(document.querySelector('.dots i')).animationDuration")[:-1])
        < 0.01
    )


def test_keyboard_alone_is_enough(page: Page) -> None:
    page.js("document.body.tabIndex = -1; document.body.focus()")
    page.keys(Keys.TAB)
    assert page.js("return document.activeElement.className") == "skip"
    page.keys(Keys.ENTER)
    page.keys(QUESTION, Keys.ENTER)
    page.find("#thread .footer")
    for _ in range(40):
        if page.js("return document.activeElement.matches('#thread .vote.up')"):
            break
        page.keys(Keys.SHIFT, Keys.TAB)
        page.driver.switch_to.active_element.send_keys(Keys.NULL)
    outline = "return getComputedStyle(document.activeElement).outlineStyle"
    assert page.js(outline) == "solid"
    page.keys(Keys.SPACE)
    page.find("#thread .vote.up[aria-pressed=true]", "1")
    assert page.js("return document.activeElement.matches('#thread .vote.up')"), "focus stays where it was"
    unnamed = """return [...document.querySelectorAll("button, a, textarea, input")]
        .filter((e) => e.offsetParent && !(e.ariaLabel || e.textContent.trim() || e.labels?.length))
        .map((e) => e.outerHTML);"""
    assert page.js(unnamed) == []


def test_tabs_that_nobody_looks_at_keep_none_from_being_used(page: Page) -> None:
    """A browser has six connections to a server, and a page that follows what happens holds one."""
    first, driver = page.driver.current_window_handle, page.driver
    driver.get("about:blank")
    try:
        for _ in range(7):
            driver.switch_to.new_window("tab")
            page.open(channel="general")
        page.write("Seven tabs are open")
        page.find("#messages .message", "Seven tabs")
        driver.switch_to.window(driver.window_handles[1])
        page.find("#messages .message", "Seven tabs")
        page.write("What happened meanwhile is told")
        page.find("#messages .message", "meanwhile")
    finally:
        for tab in driver.window_handles:
            if tab != first:
                driver.switch_to.window(tab)
                driver.close()
        driver.switch_to.window(first)


@pytest.mark.parametrize("players", [("ada",), ("ada", "ben", "noor", "hana", "chloe")])
def test_more_windows_than_a_browser_has_connections_follow_what_happens(
    page: Page, players: tuple[str, ...]
) -> None:
    """Windows side by side, all of them looked at, share one stream for each person."""
    first, driver = page.driver.current_window_handle, page.driver
    driver.get("about:blank")
    try:
        for number in range(8):
            driver.switch_to.new_window("window")
            page.open(players[number % len(players)], channel="general")
            assert not page.js("return document.hidden")
        page.write("Eight windows are open")
        for window in driver.window_handles:
            if window != first:
                driver.switch_to.window(window)
                assert not page.js("return document.hidden")
                page.find("#messages .message", "Eight windows")
        page.write("The last but one says so, too")
        driver.switch_to.window(driver.window_handles[1])
        page.find("#messages .message", "The last but one")
    finally:
        for window in driver.window_handles:
            if window != first:
                driver.switch_to.window(window)
                driver.close()
        driver.switch_to.window(first)


@pytest.mark.parametrize(
    "worker",
    [
        "undefined",
        "class { port = { postMessage() {}, close() {} }; }",
        "class { constructor() { throw new Error(); } }",
    ],
)
def test_a_window_without_the_worker_that_others_share_has_a_stream_of_its_own(
    page: Page, worker: str
) -> None:
    source = {"source": f"window.SharedWorker = {worker};"}
    made = page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", source)
    try:
        page.open(channel="general")
        page.write("Heard all the same")
        page.find("#messages .message", "Heard all the same")
    finally:
        page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", made)


def test_a_window_keeps_no_way_to_the_worker_from_an_earlier_look(page: Page) -> None:
    counted = """
        window.ports = { open: 0, closed: new Set() };
        const Shared = window.SharedWorker, close = MessagePort.prototype.close;
        window.SharedWorker = class extends Shared {
          constructor(...given) { super(...given); window.ports.open += 1; }
        };
        MessagePort.prototype.close = function () { window.ports.closed.add(this); close.call(this); };
    """
    made = page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": counted})
    try:
        page.open(channel="general")
        page.js("""
            let hidden = false;
            Object.defineProperty(document, "hidden", { get: () => hidden });
            for (let n = 0; n < 20; n += 1) {
              hidden = !hidden;
              document.dispatchEvent(new Event("visibilitychange"));
            }
        """)
        page.write("Heard all the same")
        page.find("#messages .message", "Heard all the same")
        assert page.js("return [window.ports.open, window.ports.closed.size]") == [11, 10]
    finally:
        page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", made)


def test_a_list_of_messages_is_one_tab_stop_and_arrow_keys_go_through_it(page: Page) -> None:
    page.open(channel="general")
    for number in range(30):
        page.write(f"Message {number}")
        page.find("#messages .message", f"Message {number}")
    stops = """
        return [...document.querySelectorAll('#messages .message, #messages .message *')]
          .filter((one) => one.tabIndex >= 0)
          .map((one) => one.closest('.message').innerText.match(/Message \\d+/)[0])
    """
    assert set(page.js(stops)) == {"Message 29"}, "the latest is what Tab goes to"
    page.js("document.querySelector('#messages .message:last-child').focus()")
    page.keys(Keys.ARROW_UP, Keys.ARROW_UP)
    focused = "return document.activeElement.innerText.match(/Message \\d+/)?.[0]"
    assert page.js(focused) == "Message 27" and set(page.js(stops)) == {"Message 27"}
    assert page.js("return document.activeElement.getAttribute('aria-label')").startswith("Ada")
    page.keys(Keys.HOME)
    assert page.js(focused) == "Message 0"
    page.keys(Keys.TAB)
    assert page.js("return document.activeElement.closest('.message').innerText.includes('Message 0')")
    assert page.js("return document.activeElement.matches('button')"), "what can be done with it follows"
    page.js("document.querySelector('#messages .message').focus()")
    page.keys(Keys.END)
    assert page.js(focused) == "Message 29"


def test_a_window_that_was_away_hears_what_it_missed_while_another_follows(page: Page) -> None:
    first, driver = page.driver.current_window_handle, page.driver
    page.open(channel="general")
    try:
        driver.switch_to.new_window("tab")  # the first one is hidden
        page.open(channel="general")
        page.write("Said meanwhile")
        page.find("#messages .message", "Said meanwhile")
        driver.switch_to.window(first)
        page.find("#messages .message", "Said meanwhile")
        page.write("And this after it")
        page.becomes(lambda: page.texts("#messages .body"), ["Said meanwhile", "And this after it"])
    finally:
        for window in driver.window_handles:
            if window != first:
                driver.switch_to.window(window)
                driver.close()
        driver.switch_to.window(first)


@pytest.mark.parametrize("address", ["#/ada/100%", "#/%/help", "#/ada/help/50%25%"])
def test_an_address_that_is_no_place_opens_the_page(page: Page, address: str) -> None:
    page.driver.get("about:blank")
    page.driver.get(f"{page.url}/{address}")
    page.becomes(lambda: (page.person(), page.text("#title")), ("ada", "help"))


def test_escape_closes_the_thread_after_the_edited_message_was_deleted_elsewhere(page: Page) -> None:
    page.click("#channels a", "general")
    page.write("One")
    page.find("#messages .message", "One")
    page.write("Another")
    key = page.attribute("#messages .message:has(.body):last-of-type", "data-id")
    page.js("document.querySelector('#messages [data-act^=thread-tool-]').click()")
    page.find("#composer-thread")
    page.js(f"document.querySelector('#messages [data-act=edit-tool-{key}]').click()")
    page.find("#messages .editor")
    page.js(
        f"""return fetch("/api/messages/{key}", {{
          method: "DELETE", headers: {{ "Content-Type": "application/json" }}, body: '{{"person": "ada"}}',
        }})"""
    )
    page.gone("#messages .editor")
    page.keys(Keys.ESCAPE)
    page.gone("#panel")


def test_escape_ends_an_edit_and_leaves_the_thread_open(page: Page) -> None:
    page.write(QUESTION)
    page.find("#thread .footer")
    page.js("document.querySelector('#thread [data-act^=edit-tool-]').click()")
    page.find("#thread .editor")
    page.keys(Keys.ESCAPE)
    page.gone(".editor")
    page.find("#thread .footer")
    page.until(lambda: page.js("return document.activeElement.id") == "composer-thread")
    page.keys(Keys.ESCAPE)
    page.gone("#panel")


def test_a_message_that_is_too_long_is_kept_and_says_by_how_much(page: Page) -> None:
    page.js(
        """const field = document.querySelector("#composer-main");
        field.value = "word ".repeat(4000);
        field.dispatchEvent(new Event("input"));
        field.focus();"""
    )
    page.find(".left-over", "8000 too many")
    page.keys(Keys.ENTER)
    page.find("#toast", "The message is too long")
    assert page.js("return document.querySelector('#composer-main').value.length") == 20_000


def test_a_long_answer_fits_a_small_phone(page: Page, dispatch: FakeDispatch) -> None:
    page.size(320, 568)
    dispatch.says = ("3.1", "word " * 2000 + "x" * 10_000)
    page.write(QUESTION)
    page.find("#thread .footer")
    wide = "return [...document.querySelectorAll('html, #thread .body, #thread')].map((e) => e.scrollWidth)"
    assert max(page.js(wide)) <= 320


def test_on_a_small_phone_the_welcome_is_read_from_its_beginning(page: Page) -> None:
    page.size(320, 568)
    page.open()
    page.find("#tour .tour")
    page.find(".welcome")
    above = """const top = (selector) => document.querySelector(selector).getBoundingClientRect().top;
        return top("#messages") - top(".welcome");"""
    assert page.js(above) <= 1


def test_lists_from_right_to_left_have_their_marks_at_the_right(page: Page, dispatch: FakeDispatch) -> None:
    dispatch.says = ("3.1", "يمكنك:\n\n- نقطة\n- نقطة\n\n1. واحد\n\n> اقتباس\n\n- left to right")
    page.write(QUESTION)
    page.find("#thread .footer")
    sides = """return [...document.querySelectorAll("#thread .body > :is(ul, ol, blockquote)")].map((e) => {
        const style = getComputedStyle(e);
        return [e.tagName, style.direction, parseInt(style.paddingLeft), parseInt(style.paddingRight)];
    })"""
    assert page.js(sides) == [
        ["UL", "rtl", 0, 24],
        ["OL", "rtl", 0, 24],
        ["BLOCKQUOTE", "rtl", 0, 14],
        ["UL", "ltr", 24, 0],
    ]


def test_page_finds_back_after_the_server_was_restarted(
    chromium: webdriver.Chrome, tmp_path: Path, dispatch: FakeDispatch
) -> None:
    page = Page(chromium, "")
    with playground(tmp_path, dispatch) as page.url:
        page.open(channel="general")
        page.write("Before")
        page.find("#messages .message", "Before")
    page.find("#lost")
    with playground(tmp_path, FakeDispatch(), port=int(page.url.rpartition(":")[2])):
        page.gone("#lost")
        page.write("After")
        page.find("#messages .message", "After")
        page.becomes(lambda: page.texts("#messages .body"), ["Before", "After"])
        chromium.get("about:blank")
