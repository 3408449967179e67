"""Names and times where people read what a command answers."""

from __future__ import annotations

import time
from typing import Any, cast

import pytest

from bot.commands.slash.table import with_names
from bot.platforms.slack.text.format import Composer, sections
from bot.ports.chat import Chat
from bot.rendering.times import in_zone, local

NAMES = {"U1": "Ann *Lee*", "C1": "#help-me", "U2": "@Bob"}


class Names:
    """Knows how people and channels are called, and counts how often it was asked."""

    name = "slack"

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def name_of(self, to: str) -> str:
        self.asked.append(to)
        return NAMES.get(to, "")


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("`slack:U1` in `slack:C1`: done", "Ann Lee in #help-me: done"),
        ("slack:U1: 5 votes; asked: slack:U1, slack:U2.", "Ann Lee: 5 votes; asked: Ann Lee, Bob."),
        ("by `slack:U1`: `mode slack:C1 off`", "by Ann Lee: `mode #help-me off`"),
        ("`slack:C9` is private, discord:4 is elsewhere", "`slack:C9` is private, discord:4 is elsewhere"),
        ("write `/threadlore forget slack:U1 confirm`", "write `/threadlore forget slack:U1 confirm`"),
        ("slack:C1:17.5, private:slack:C1 and http://x/slack:U1", "slack:C1:17.5, private:slack:C1 and http://x/slack:U1"),
        ("```\nslack:U1\n```", "```\nslack:U1\n```"),
    ],
)  # fmt: skip
async def test_people_and_channels_are_told_by_name(said: str, read: str) -> None:
    names = Names()
    assert await with_names(said, cast(Chat, names)) == read
    assert len(names.asked) == len(set(names.asked))


def test_times_are_written_for_the_reader_but_not_in_code(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "At 1970-01-02 00:01 UTC, `1970-01-02 00:01 UTC`, 1970-13-99 00:00 UTC."
    assert in_zone(said, lambda at, _: str(at)) == "At 86460, `1970-01-02 00:01 UTC`, 1970-13-99 00:00 UTC."
    monkeypatch.setenv("TZ", "XYZ-2")
    time.tzset()
    try:
        assert in_zone(said, local).startswith("At 1970-01-02 02:01 XYZ, `")
    finally:
        monkeypatch.undo()
        time.tzset()


async def test_slack_gets_times_in_sections_and_what_has_none_as_markdown() -> None:
    sent: list[dict[str, Any]] = []

    async def send(payload: dict[str, Any]) -> None:
        sent.append(payload)

    for said in ("Since 1970-01-02 00:01 UTC.", "Since then."):
        await Composer().send(said, (), send, True)
    [dated], [plain] = sent[0]["blocks"], sent[1]["blocks"]
    marked = "Since <!date^86460^{date_num} {time}|1970-01-02 00:01 UTC>."
    assert dated == {"type": "section", "text": {"type": "mrkdwn", "text": marked}}
    assert sent[0]["text"] == "Since 1970-01-02 00:01 UTC." and plain["type"] == "markdown"
    many = sections("\n".join(["- 1970-01-02 00:01 UTC, shown"] * 70), has_times=True)
    assert max(map(len, many)) <= 3_000 and sum(text.count("<!date^86460^") for text in many) == 70
