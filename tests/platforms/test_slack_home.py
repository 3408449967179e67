"""The Home tab on the wire: how strict the loopback is, how often a tab is published, and that it fits."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, NoReturn

import pytest

from bot.platforms.slack import home as home_tabs
from bot.platforms.slack import personal_data
from bot.platforms.slack.api import client
from bot.platforms.slack.home import BLOCKS, LARGEST, HomeTabs, blocks
from bot.ports.chat import Choice, Control
from bot.ports.page import ChannelMenu, Open, Part
from core.errors import StorageUnavailable
from tests.patience import SOON
from tests.platforms.slack_blocks import SlackError, check_view_blocks
from tests.platforms.slack_bot import FASTER, Recorder, dispatch_fixture, serving, slack_fixture
from tests.platforms.slack_server import SlackServer

__all__ = ["dispatch_fixture", "slack_fixture"]

WORD = {"type": "plain_text", "text": "x"}
SECTION = {"type": "section", "text": {"type": "mrkdwn", "text": "x"}}
CHANNELS = {"type": "conversations_select", "action_id": "c", "placeholder": WORD}
MENU = {
    "type": "static_select",
    "action_id": "m",
    "placeholder": WORD,
    "options": [{"text": WORD, "value": "v"}],
}


def home(*laid: dict[str, Any]) -> dict[str, Any]:
    return {"type": "home", "blocks": list(laid)}


@pytest.mark.parametrize(
    ("view", "hash", "code"),
    [
        ({"type": "modal", "blocks": []}, "", "invalid_arguments"),
        (home() | {"title": WORD}, "", "invalid_arguments"),
        (home(*[SECTION] * 101), "", "invalid_arguments"),
        (home({"type": "markdown", "text": "x"}), "", "invalid_arguments"),
        (home({**SECTION, "text": {"type": "mrkdwn", "text": "x" * 3_001}}), "", "invalid_arguments"),
        (home(*[{**SECTION, "text": {"type": "mrkdwn", "text": "x" * 2_900}}] * 90), "", "view_too_large"),
        (home(SECTION), "1.2", "hash_conflict"),
        (home({**SECTION, "accessory": CHANNELS | {"filter": {}}}), "", "invalid_arguments"),
        (
            home({**SECTION, "accessory": CHANNELS | {"filter": {"include": ["all"]}}}),
            "",
            "invalid_arguments",
        ),
        (
            home({**SECTION, "accessory": MENU | {"initial_option": {"text": WORD, "value": "w"}}}),
            "",
            "invalid_arguments",
        ),
    ],
)
async def test_what_is_no_home_tab_is_refused(
    view: dict[str, Any], hash: str, code: str, slack: SlackServer
) -> None:
    with pytest.raises(SlackError) as refused:
        slack.home.publish("U1", view, hash)
    assert refused.value.error == code


async def test_nobody_has_a_tab_of_an_app_without_one(slack: SlackServer) -> None:
    assert slack.home.enabled, "the manifest switches it on"
    slack.home.publish("U1", home(SECTION), "")
    for user, enabled in (("UNOBODY", True), (slack.bot_user, True), ("U1", False)):
        slack.home.enabled = enabled
        with pytest.raises(SlackError):
            slack.home.publish(user, home(SECTION), "")


def test_a_page_becomes_blocks_that_slack_takes() -> None:
    menu = Control("m", "Release", choices=tuple(Choice(f"{n}", f"{n}") for n in range(120)), chosen="3")
    page = (
        Part("**Hello** <!channel> <@U1>", small="2.0 · 2026-03-31 14:05 UTC", beside=menu),
        Part("x " * 4_000, title="T" * 200, beside=Open("Open", "https://a.example/b?c=1&d=2")),
        Part(controls=(Control("a", "A" * 90), ChannelMenu("c", "Choose", "C1"))),
        *(Part("word " * 400) for _ in range(200)),
    )
    laid = blocks(page)
    check_view_blocks(laid)
    assert len(laid) == BLOCKS and len(json.dumps(laid)) < LARGEST
    first, small = laid[0], laid[1]
    assert first["accessory"]["initial_option"]["value"] == "3" and "<!channel" not in first["text"]["text"]
    assert "<!date^" in small["elements"][0]["text"]
    assert laid[2]["type"] == "divider" and len(laid[3]["text"]["text"]) == 150


async def test_a_tab_is_published_for_who_opened_it_and_at_most_every_few_seconds(
    slack: SlackServer, dispatch: Recorder
) -> None:
    async with serving(slack, dispatch) as platform:
        tabs = platform._tabs
        assert isinstance(tabs, HomeTabs)
        tabs._pause = 0.3
        slack.say("U1", "C1", "hello")
        await slack.settled()
        assert not slack.called("views.publish"), "nobody opened it"
        slack.home.open("U1")
        await slack.until(lambda: slack.home.texts("U1") == ["A page"])
        said: list[str] = []
        dispatch.on_page = lambda: (Part(f"{len(said)} messages"),)
        said += [slack.say("U1", "C1", f"more {number}") for number in range(5)]
        await slack.until(lambda: slack.home.texts("U1") == ["5 messages"])
        assert len(slack.called("views.publish")) <= 3
        before = len(slack.called("views.publish"))
        slack.say("U1", "C1", "nothing new")
        await slack.settled()
        await asyncio.sleep(0.5)
        assert len(slack.called("views.publish")) == before, "what shows nothing new is not published"
        read = "the public channels that the person is in, with the bot (C1) and without it (C2)"
        assert dispatch.pages[-1][1] == ("slack:C1", "slack:C2"), read


async def test_channels_of_other_organizations_and_private_ones_are_none_that_others_read(
    slack: SlackServer, dispatch: Recorder
) -> None:
    slack.share("C1", tell=False)
    slack.add_channel("C5", "channel", "U1", slack.bot_user)
    async with serving(slack, dispatch):
        slack.home.open("U1")
        await slack.until(lambda: dispatch.pages)
    assert list(dispatch.pages[-1][1]) == ["slack:C2", "slack:C5"]


async def test_a_tab_that_slack_does_not_take_now_is_published_later(
    slack: SlackServer, dispatch: Recorder
) -> None:
    slack.fail("views.publish", "ratelimited", status=429, retry_after=1)
    async with serving(slack, dispatch):
        slack.home.open("U1")
        await slack.until(lambda: slack.home.texts("U1") == ["A page"])
        assert not slack.late, "the event is acknowledged before"


async def test_pressing_a_link_is_acknowledged_and_nothing_else(
    slack: SlackServer, dispatch: Recorder
) -> None:
    dispatch.on_page = lambda: (Part("Asked", beside=Open("Open", "https://fake.slack.com/archives/C1/p1")),)
    async with serving(slack, dispatch):
        slack.home.open("U1")
        await slack.until(lambda: slack.home.texts("U1"))
        slack.home.press("U1", "open")
        await slack.settled()
        assert dispatch.presses == [] and dispatch.noted == []


async def test_a_press_is_acknowledged_though_nothing_can_be_written_down_nor_read(
    slack: SlackServer, dispatch: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> NoReturn:
        raise StorageUnavailable("The database does not answer.")

    dispatch.on_page = lambda: (Part("A page", controls=(Control("ask", "Ask"),)),)
    async with serving(slack, dispatch):
        slack.home.open("U1")
        await slack.until(lambda: slack.home.texts("U1"))
        dispatch.on_page = fails
        monkeypatch.setattr(dispatch, "take", fails)
        slack.home.press("U1", "ask")
        sent = slack.envelopes[-1]["envelope_id"]
        await slack.until(lambda: sent in slack.acknowledged, SOON)
        assert dispatch.presses == []


async def test_of_many_tabs_all_lose_what_is_forgotten_and_keep_the_channels(
    slack: SlackServer, dispatch: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time passes faster for Slack's limits, and as much faster for the bot."""
    for name in ("SPREAD", "PAUSE", "AGAIN_SECONDS"):
        monkeypatch.setattr(home_tabs, name, getattr(home_tabs, name) / FASTER)
    monkeypatch.setattr(client, "PATIENT", 2.0)
    slack.limits.minute = 60 / FASTER
    users = [f"U{number}X" for number in range(70)]
    for user in users:
        slack.add_user(user)
        slack.channels["C1"]["members"].add(user)
    personal_data.write(tmp_path, users)
    said = ["what ann asked"]
    dispatch.on_page = lambda: (Part(said[0]),)
    async with serving(slack, dispatch, home=tmp_path) as platform:
        await slack.until(lambda: len(slack.home.views) == len(users))
        assert all(channels for _, channels, _ in dispatch.pages), "Slack tells them of 50 people a minute"
        said[0] = "nothing"
        assert isinstance(platform._tabs, HomeTabs)
        for user in users[:3]:
            await platform._tabs.forget([f"slack:{user}"], [])
        await slack.until(lambda: all(slack.home.texts(user) == ["nothing"] for user in users))
        assert "views.publish" not in slack.limits.refused


async def test_what_is_forgotten_leaves_a_tab_that_slack_did_not_take_at_first(
    slack: SlackServer, dispatch: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home_tabs, "PAUSE", 0.1)
    monkeypatch.setattr(home_tabs, "AGAIN_SECONDS", 0.1)
    dispatch.on_page = lambda: (Part("what ann asked"),)
    async with serving(slack, dispatch) as platform:
        slack.home.open("U2")
        await slack.until(lambda: slack.home.texts("U2") == ["what ann asked"])
        dispatch.on_page = lambda: (Part("nothing"),)
        slack.fail("views.publish", "internal_error", times=2)
        assert isinstance(platform._tabs, HomeTabs)
        await platform._tabs.forget(["slack:U1"], [])
        await slack.until(lambda: slack.home.texts("U2") == ["nothing"])


async def test_a_tab_whose_turn_is_late_is_published_when_its_person_says_something(
    slack: SlackServer, dispatch: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home_tabs, "SPREAD", 600.0)
    personal_data.write(tmp_path, ["U1", "U2"])
    async with serving(slack, dispatch, home=tmp_path):
        await slack.until(lambda: slack.home.texts("U2"))
        assert not slack.home.texts("U1")
        slack.say("U1", "C1", "hello")
        await slack.until(lambda: slack.home.texts("U1"))
