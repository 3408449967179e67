"""Slack channels as sources: what is read, what is left out, how little is asked for again."""

from __future__ import annotations

import asyncio
import json
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bot.cli.doctor.sources import history
from bot.platforms.slack.history import A_MINUTE, open_reader
from bot.ports.platforms import readers
from core.catalogue import SourceSpec
from core.errors import SourceClosed, SourceError
from core.ingestion.live import reading
from core.ingestion.live.channels import LiveChannels
from core.ingestion.sources.history.source import HistorySource, Options
from core.ports.history import OpenReader
from core.settings import load_settings
from tests.fake_workers import FakeWorkers
from tests.patience import SOON
from tests.platforms.slack_server import SlackServer

pytest_plugins = ["tests.platforms.slack_bot"]

NOW = 1_700_000_000.0 + 30 * 86_400
"""A month after the loopback Slack's messages were written."""
LINK = "https://fake.slack.com/archives/C1/p{}"
AT_ONCE = 60_000.0
"""Calls a minute, where it does not matter how often Slack is called."""


class House:
    """One home with a source of Slack's channels."""

    def __init__(
        self, slack: SlackServer, home: Path, *channels: str, now: float = NOW, **options: Any
    ) -> None:
        self.slack, self.home, self.now = slack, home, now
        slack.limits.minute = 60.0 * A_MINUTE / AT_ONCE
        self.settings = load_settings(
            None,
            slack_bot_token=options.pop("token", slack.bot_token),
            slack_api_url=slack.url,
            helpers="slack:UHAL",
            home=home,
        )
        self.live = LiveChannels(home, self.readers(), lambda: self.now)
        self.options = options | {"channel": list(channels or ("C1",))}
        self.options["channel"] = [f"slack:{c}" for c in self.options["channel"]]
        self.source = self.another()

    def readers(self) -> dict[str, OpenReader]:
        """Return what reads Slack here, without the pauses that spare a Slack of slower minutes."""
        return readers(self.settings) | {"slack": partial(open_reader, self.settings, AT_ONCE)}

    def another(self) -> HistorySource:
        """Return the source as another release has it."""
        spec = SourceSpec("history", Options(**self.options), root=self.home, where="corpora.toml, line 4")
        source = HistorySource(spec, FakeWorkers(), lambda: self.now)
        source.live = self.live
        return source

    async def read(self, source: HistorySource | None = None) -> dict[str, tuple[str, str]]:
        """Read as the bot does, in a thread; return link and text by path."""
        self.now += 60
        found = await asyncio.to_thread(lambda: list((source or self.source).documents()))
        return {d.path: (d.url, d.content.decode()) for d in found}

    def counted(self) -> dict[str, int]:
        """Return how often each method was called since the last time."""
        names = [call.method for call in self.slack.calls]
        self.slack.calls.clear()
        return {name: names.count(name) for name in sorted(set(names))}

    def kept(self) -> str:
        """Return all that lies in the home."""
        return "".join(file.read_text() for file in self.home.rglob("*") if file.is_file())


def link(ts: str) -> str:
    return LINK.format(ts.replace(".", ""))


def talk(slack: SlackServer) -> tuple[str, str]:
    """Let people ask and answer in a thread, in the open channel, and without an end."""
    asked = slack.say("U1", "C1", "How do I descale the *kettle*?")
    slack.say("U3", "C1", "Buy a new one.", asked)
    best = slack.say("U2", "C1", "Boil vinegar in it, see <https://x.example/guide|the guide>.", asked)
    slack.store("C1", slack.bot_user, "I am the bot: beep.", asked, bot_id=slack.bot_id)
    slack.store("C1", "UWEATHER", "Other bots say: rain?", None, bot_id="BWEATHER")
    slack.react("U1", "C1", best, "white_check_mark")
    flat = slack.say("U3", "C1", "Where is the spare lid?")
    slack.say("U2", "C1", "In the lower drawer.")
    slack.say("U3", "C1", "Thanks!")
    unsettled = slack.say("U1", "C1", "Why does it whistle?")
    slack.say("U2", "C1", "Nobody knows.", unsettled)
    return asked, flat


async def test_conversations_are_read_with_their_answers_and_links(
    slack: SlackServer, tmp_path: Path
) -> None:
    asked, flat = talk(slack)
    house = House(slack, tmp_path)
    found = await house.read()
    assert found == {
        f"c1/{asked}": (
            link(asked),
            "# How do I descale the **kettle**?\n\n"
            "Boil vinegar in it, see [the guide](https://x.example/guide).\n\nBuy a new one.",
        ),
        f"c1/{flat}": (link(flat), "# Where is the spare lid?\n\nIn the lower drawer."),
    }
    assert [reason for _, reason in house.source.skipped] == [
        "no answer was accepted, voted for or thanked for"
    ], "what the bots wrote is no conversation"
    assert "beep" not in house.kept() and "rain" not in house.kept()
    assert not slack.problems


async def test_the_link_is_slacks_own(slack: SlackServer, tmp_path: Path) -> None:
    asked, _ = talk(slack)
    found = await House(slack, tmp_path).read()
    own = slack.api.call("chat.getPermalink", {"channel": "C1", "message_ts": asked})
    assert found[f"c1/{asked}"][0] == own["permalink"]


async def test_an_unchanged_channel_costs_a_few_calls(slack: SlackServer, tmp_path: Path) -> None:
    for n in range(150):
        asked = slack.say("U1", "C1", f"How do I mend part {n}?")
        slack.react("U1", "C1", slack.say("U2", "C1", f"With glue {n}.", asked), "white_check_mark")
    slack.page_size = 60
    house = House(slack, tmp_path)
    first = await house.read()
    assert len(first) == 150
    assert house.counted() == {
        "auth.test": 1, "conversations.history": 3, "conversations.info": 1, "conversations.replies": 150,
    }  # fmt: skip
    assert await house.read() == first
    assert house.counted() == {
        "auth.test": 1, "conversations.history": 3, "conversations.info": 1,
        "conversations.replies": reading.TURN_THREADS,
    }  # fmt: skip


async def test_what_is_edited_deleted_and_added_follows(slack: SlackServer, tmp_path: Path) -> None:
    asked, flat = talk(slack)
    house = House(slack, tmp_path)
    await house.read()
    answer = next(ts for ts, m in slack.messages["C1"].items() if "vinegar" in m["text"])
    bad = next(ts for ts, m in slack.messages["C1"].items() if "Buy a new" in m["text"])
    slack.edit("C1", answer, "Boil lemon juice in it.")
    slack.delete("C1", bad)
    slack.delete("C1", flat)
    late = slack.say(
        "U2",
        "C1",
        "It whistles as the lid is loose.",
        next(ts for ts, m in slack.messages["C1"].items() if "whistle" in m["text"]),
    )
    slack.react("U1", "C1", late, "+1")
    found = await house.read()
    texts = [text for _, text in found.values()]
    assert "# How do I descale the **kettle**?\n\nBoil lemon juice in it." in texts
    assert any("the lid is loose" in text for text in texts)
    for gone in ("vinegar", "Buy a new", "spare lid"):
        assert gone not in "".join(texts) and gone not in house.kept()
    assert asked in "".join(found)


async def test_a_question_that_was_deleted_takes_its_thread_along(slack: SlackServer, tmp_path: Path) -> None:
    asked, _ = talk(slack)
    house = House(slack, tmp_path)
    await house.read()
    slack.delete("C1", asked)
    assert "vinegar" not in str(await house.read())
    assert any("are left out" in reason for _, reason in house.source.skipped)


async def test_old_messages_that_changed_are_read_when_the_bot_heard_of_it(slack, tmp_path) -> None:
    """Beyond what is read again each time: 10 threads and 3 pages a reading, in turn."""
    threads = []
    for n in range(40):
        asked = slack.say("U1", "C1", f"How do I mend part {n}?")
        threads.append((asked, slack.say("U2", "C1", f"With glue {n}.", asked)))
        slack.react("U1", "C1", threads[-1][1], "+1")
    slack.page_size = 5
    house = House(slack, tmp_path)
    await house.read()
    await house.read()
    reply, old = threads[30][1], threads[2][0]
    slack.edit("C1", reply, "With tape.")
    slack.edit("C1", old, "How do I mend the handle?")
    assert "With tape" not in str(await house.read()), "its turn has not come"
    house.live.changed("slack:C1", reply)
    house.live.changed("slack:C1", old, old)
    found = str(await house.read())
    assert "With tape" in found and "mend the handle" in found
    assert "glue 30" not in house.kept() and "part 2?" not in house.kept()


async def test_edits_of_old_messages_are_found_in_turn(slack: SlackServer, tmp_path: Path) -> None:
    asked = [slack.say("U1", "C1", f"How do I mend part {n}?") for n in range(40)]
    for ts in asked:
        slack.react("U3", "C1", slack.say("U2", "C1", "With glue.", ts), "+1")
    slack.page_size = 5
    house = House(slack, tmp_path)
    await house.read()
    slack.edit("C1", asked[0], "How do I mend the handle?")
    readings = 0
    while "handle" not in str(await house.read()):
        readings += 1
        assert readings < 4, "3 pages of 5 a reading, of 8 pages"


async def test_who_opted_out_is_nowhere_and_who_asks_to_be_forgotten_goes(slack, tmp_path) -> None:
    talk(slack)
    house = House(slack, tmp_path, answers="any")
    house.source.is_out = lambda account: account == "slack:U3"
    found = str(await house.read())
    assert "vinegar" in found and "Buy a new" not in found and "spare lid" not in found
    for words in ("Buy a new", "spare lid", "U3"):
        assert words not in house.kept()
    [(_, reason)] = [s for s in house.source.skipped if "left out" in s[1]]
    assert reason.startswith("4 messages are left out")
    house.slack.calls.clear()
    house.source.forgotten = lambda account: float(NOW) if account == "slack:U2" else 0.0
    house.source.asks = False
    assert "vinegar" not in str(await house.read()) and house.counted() == {}
    assert "vinegar" not in house.kept() and "U2" not in house.kept()
    assert house.source.asks, "the next reading asks Slack again"
    house.source.forgotten = lambda account: 1_700_000_000.0 if account == "slack:U2" else 0.0
    assert "lower drawer" not in str(await house.read()), "no answer without its question"


async def test_a_channel_of_which_there_is_no_copy_is_not_taken_for_an_empty_one(
    slack: SlackServer, tmp_path: Path
) -> None:
    talk(slack)
    house = House(slack, tmp_path / "restored", answers="any")
    house.source.forgotten = lambda account: float(NOW) if account == "slack:U2" else 0.0
    house.source.asks = False
    assert "Buy a new" in str(await house.read()), "a backup has no copies, and somebody was forgotten again"


async def test_what_goes_on_still_is_left_for_later(slack: SlackServer, tmp_path: Path) -> None:
    asked = slack.say("U1", "C1", "How do I descale it?")
    slack.say("U2", "C1", "Boil vinegar in it.", asked)
    to_bot = slack.say("U1", "C1", "<@UBOT> where is the lid?")
    slack.store("C1", slack.bot_user, "In the manual.", to_bot, bot_id=slack.bot_id)
    slack.react("U1", "C1", slack.say("U2", "C1", "It is in the drawer.", to_bot), "white_check_mark")
    house = House(slack, tmp_path, now=1_700_000_000.0 + 3_600, answers="any")
    assert await house.read() == {}
    assert [reason for _, reason in house.source.skipped] == [
        "people are at it still; it is read when they have done"
    ] * 2
    house.now += 7 * 3_600
    found = str(await house.read())
    assert "vinegar" in found and "in the drawer" in found and "In the manual" not in found


async def test_a_mark_counts_by_who_made_it(slack: SlackServer, tmp_path: Path) -> None:
    def asks(marker: str) -> str:
        asked = slack.say("U1", "C1", "Which plug fits?")
        slack.say("U3", "C1", "Any plug.", asked)
        slack.react(marker, "C1", slack.say("U2", "C1", "The round one.", asked), "white_check_mark")
        slack.react("U2", "C1", asked, "eyes")
        return asked

    asker, helper, other, own = asks("U1"), asks("UHAL"), asks("U3"), asks("U2")
    found = await House(slack, tmp_path).read()
    for ts in (asker, helper, other):
        assert found[f"c1/{ts}"][1].split("\n\n")[1] == "The round one."
    assert f"c1/{own}" not in found, "nobody accepts an answer of their own"


@pytest.mark.parametrize(
    ("channel", "said"),
    [
        ("G1", "#g1 is private, and private messages are never used in public"),
        ("D1", "D1 are direct messages, which are never read"),
        ("M1", "M1 are direct messages"),
        ("C2", "The bot is not in #c2: type /invite @Threadlore there"),
        ("C404", "Slack says channel_not_found of C404: correct the id, or type /invite"),
    ],
)
async def test_what_is_not_public_is_refused(slack, tmp_path, channel: str, said: str) -> None:
    for there in ("G1", "D1", "M1", "C2"):
        slack.store(there, "U1", "A secret?", None)
    house = House(slack, tmp_path, channel)
    with pytest.raises(SourceClosed, match=f"{said}.*line 4"):
        await house.read()
    assert house.kept() == "" and not slack.called("conversations.history")
    talk(slack)
    both = House(slack, tmp_path, "C1", channel)
    assert len(await both.read()) == 2
    assert any(said in reason for _, reason in both.source.skipped)


async def test_a_channel_that_became_private_is_told_of_no_more(slack: SlackServer, tmp_path: Path) -> None:
    talk(slack)
    house = House(slack, tmp_path)
    assert await house.read()
    slack.convert("U1", "C1", "group")
    with pytest.raises(SourceClosed, match="private"):
        await house.read()
    assert house.kept() == ""
    slack.convert("U1", "C1", "channel")
    assert await house.read()
    house.live.became_private("slack:C1")
    slack.fail("conversations.info", "internal_error", status=500, times=9)
    with pytest.raises(SourceClosed, match="private"):
        await house.read()
    assert house.kept() == "", "though Slack does not answer just now"


@pytest.mark.parametrize(
    ("fail", "said"),
    [
        ({"method": "conversations.history", "error": "missing_scope"}, "paste slack-manifest.yaml"),
        ({"method": "conversations.history", "error": "fatal_error"}, "fatal_error"),
        ({"method": "auth.test", "error": "token_revoked"}, "SLACK_BOT_TOKEN"),
    ],
)
async def test_what_slack_refuses_is_told_and_what_was_read_stays(slack, tmp_path, fail, said: str) -> None:
    talk(slack)
    house = House(slack, tmp_path)
    found = await house.read()
    slack.fail(fail["method"], fail["error"], times=1)
    with pytest.raises(SourceError, match=f"{said}.*line 4") as caught:
        await house.read()
    assert not isinstance(caught.value, SourceClosed)
    assert await house.read() == found


async def test_without_a_token_the_source_says_which(slack: SlackServer, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"SLACK_BOT_TOKEN is missing.*line 4"):
        await House(slack, tmp_path, token="").read()


async def test_slacks_limits_are_waited_out(slack: SlackServer, tmp_path: Path) -> None:
    talk(slack)
    slack.fail("conversations.history", "ratelimited", status=429, retry_after=1)
    slack.fail("conversations.replies", "ratelimited", status=429, retry_after=1)
    began = asyncio.get_running_loop().time()
    assert len(await House(slack, tmp_path).read()) == 2
    assert asyncio.get_running_loop().time() - began >= 2


async def test_fewer_calls_are_made_than_slack_allows(slack: SlackServer, tmp_path: Path) -> None:
    asked = [slack.say("U1", "C1", f"How do I mend part {n}?") for n in range(70)]
    for ts in asked:
        slack.react("U1", "C1", slack.say("U2", "C1", "With glue.", ts), "+1")
    house = House(slack, tmp_path)
    slack.limits.minute = 1.5
    pace = partial(open_reader, house.settings, A_MINUTE * 60 / slack.limits.minute)
    house.source.live = LiveChannels(tmp_path, {"slack": pace}, lambda: NOW)
    assert len(await house.read()) == 70
    assert slack.limits.refused == [] and len(slack.calls) > 70


async def test_a_reading_that_is_cut_goes_on_where_it_was(slack: SlackServer, tmp_path: Path) -> None:
    asked = [slack.say("U1", "C1", f"How do I mend part {n}?") for n in range(20)]
    for ts in asked:
        slack.react("U1", "C1", slack.say("U2", "C1", "With glue.", ts), "+1")
    slack.page_size = 4
    house = House(slack, tmp_path)
    slack.fail("conversations.history", "fatal_error", after=2)
    with pytest.raises(SourceError):
        await house.read()
    assert house.counted()["conversations.history"] == 3
    assert len(await house.read()) == 20
    assert house.counted()["conversations.history"] == 7, "1 of what is new, 3 that were missing, 3 in turn"


async def test_the_time_of_a_reading_is_bounded(slack: SlackServer, tmp_path: Path) -> None:
    asked = [slack.say("U1", "C1", f"How do I mend part {n}?") for n in range(12)]
    for ts in asked:
        slack.react("U1", "C1", slack.say("U2", "C1", "With glue.", ts), "+1")
    house = House(slack, tmp_path, minutes=1.0)
    ticks = iter(range(10_000))
    house.live = LiveChannels(tmp_path, house.readers(), lambda: NOW + 10 * next(ticks))
    house.source.live = house.live
    readings = [await house.read()]
    assert len(readings[0]) < 12
    assert ("c1", "not all of it is read yet; the next reading goes on") in house.source.skipped
    while len(readings[-1]) < 12:
        readings.append(await house.read())
        assert len(readings) < 12 and len(readings[-1]) > len(readings[-2])


async def test_a_process_that_ends_waits_for_no_limit(slack: SlackServer, tmp_path: Path) -> None:
    talk(slack)
    house = House(slack, tmp_path)
    house.live.stop()
    slack.fail("conversations.replies", "ratelimited", status=429, retry_after=60, after=1)
    began = asyncio.get_running_loop().time()
    reading = asyncio.create_task(house.read())
    await slack.until(lambda: house.slack.calls and house.slack.calls[-1].error == "ratelimited")
    house.live.stop()
    with pytest.raises(SourceError, match="This process ends"):
        await reading
    assert asyncio.get_running_loop().time() - began < SOON
    assert len(await house.read()) == 2, "the next one goes on"


async def test_a_channel_that_was_empty_is_read_once_people_write(slack: SlackServer, tmp_path: Path) -> None:
    house = House(slack, tmp_path)
    assert await house.read() == {}
    talk(slack)
    assert len(await house.read()) == 2


async def test_only_the_newest_and_nothing_before_a_day(slack: SlackServer, tmp_path: Path) -> None:
    asked = [slack.say("U1", "C1", f"How do I mend part {n}?") for n in range(9)]
    for ts in asked:
        slack.react("U1", "C1", slack.say("U2", "C1", "With glue.", ts), "+1")
    house = House(slack, tmp_path, newest=3)
    assert sorted(await house.read()) == [f"c1/{ts}" for ts in asked[-3:]]
    assert ("c1", "only its newest 3 messages are read") in house.source.skipped
    assert "part 2" not in house.kept()
    late = House(slack, tmp_path / "late", since=date(2023, 12, 1))
    assert await late.read() == {}
    assert ("c1", "nothing before 2023-12-01 is read") in late.source.skipped


async def test_several_releases_read_a_channel_once(slack: SlackServer, tmp_path: Path) -> None:
    talk(slack)
    house = House(slack, tmp_path)
    other = house.another()
    first = await house.read()
    house.counted()
    assert await house.read(other) == first and house.counted() == {}
    slack.say("U1", "C1", "New?")
    await house.read()
    assert house.counted()["conversations.history"] == 1
    await house.read(other)
    assert house.counted() == {}
    await house.read(other)
    assert house.counted()["conversations.history"] == 1, "read alone, it asks for itself"


async def test_copies_of_channels_that_no_source_names_go(slack: SlackServer, tmp_path: Path) -> None:
    talk(slack)
    house = House(slack, tmp_path)
    await house.read()
    house.live.sweep([("slack:C1", house.source.extent)])
    assert house.kept()
    house.live.sweep([])
    assert house.kept() == ""


def test_a_source_names_a_channel_or_an_export() -> None:
    for wrong in ({}, {"path": "a.zip", "channel": "slack:C1"}, {"channel": "general"}, {"channel": []}):
        with pytest.raises(ValueError, match="slack:C0123"):
            Options(**wrong)
    assert Options(channel="slack:C1").channel == ["slack:C1"]


CATALOGUE = """
[product]
name = "Kettle"
[[release]]
name = "1"
[[release.source]]
kind = "history"
channel = ["slack:C1", "slack:C2", "slack:G1", "discord:5", "slak:C1"]
"""


async def test_the_doctor_tries_each_channel(slack: SlackServer, tmp_path: Path) -> None:
    (tmp_path / "corpora.toml").write_text(CATALOGUE)
    settings = House(slack, tmp_path / "home").settings.model_copy(
        update={"config": tmp_path / "corpora.toml"}
    )
    found = {finding.what: finding for finding in await history(settings)}
    assert {what: (f.state, f.said) for what, f in found.items()} == {
        "History of slack:C1": ("good", "#c1 can be read"),
        "History of slack:C2": ("bad", "The bot is not in #c2"),
        "History of slack:G1": ("bad", "#g1 is private, and private messages are never used in public"),
        "History of discord:5": ("bad", "DISCORD_TOKEN is missing"),
        "History of slak:C1": ("bad", "there is no history of slak to read"),
    }
    assert '"slack:…"' in found["History of slak:C1"].advice
    assert found["History of slack:C2"].advice == "type /invite @Threadlore there"
    slack.fail("conversations.history", "missing_scope")
    [first, *_] = await history(settings)
    assert first.state == "bad" and "slack-manifest.yaml" in first.advice


async def test_what_may_not_be_kept_goes_from_the_copy_at_once(slack: SlackServer, tmp_path: Path) -> None:
    talk(slack)
    house = House(slack, tmp_path)
    pages = await house.read()
    people = [d.people for d in await asyncio.to_thread(lambda: list(house.source.documents()))]
    assert people and not any(any(some) for some in people), (
        "who is told of by no one-way name is not told of"
    )
    before, (file,) = house.kept(), list((tmp_path / "sources" / "history").iterdir())
    source, gone = house.source, "slack:U1"
    source.one_way = lambda account: f"~{account}"
    first, *_ = await asyncio.to_thread(lambda: list(source.documents()))
    assert "~slack:U1" in first.people and len(first.people) > 1
    source.is_out = lambda account: account == gone
    slack.calls.clear()
    house.live.withhold(source.channels, source.extent, source.leaves_out)
    assert '"U1"' in before and '"U1"' not in house.kept() and not slack.calls and pages
    file.write_text(json.dumps(json.loads(before) | {"version": 0}))
    house.live.withhold(source.channels, source.extent, source.leaves_out)
    assert not file.exists(), "what an older version wrote cannot be cleaned, so it is read anew"
    house.live.withhold(source.channels, source.extent, source.leaves_out)
