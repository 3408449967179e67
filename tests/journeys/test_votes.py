"""A vote to what it changes: the next answer to the same question."""

from __future__ import annotations

import asyncio

import pytest

from bot.interactions import reactions
from bot.ports.chat import Reaction
from core.domain import MessageRef
from tests.journeys.fake_stage import FakeStage, person
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.kettle import PORTS
from tests.journeys.stage import EVERYWHERE, ON_EACH_WIRE, Seen, Stage, answer, ask, open_stage, until
from tests.ollama_server import OllamaServer
from tests.patience import PATIENCE

PORT = "Which port does the dashboard listen on?"
REWORDED = "On which port is the dashboard listening?"
"""Cosine .98 to PORT by MiniLM; reuse starts at .84."""
REUSED = "from community memory"


async def voted(stage: Stage, seen: Seen, emoji: str, who: str = "ann", added: bool = True) -> None:
    await stage.react(who, seen, emoji, added)
    await stage.quiet()


@EVERYWHERE
async def test_an_up_voted_answer_is_reused_without_the_model(
    platform: str, writer: Bot, ollama: OllamaServer
) -> None:
    async with open_stage(platform, writer) as stage:
        first = await ask(stage, PORT)
        assert ollama.calls == 1 and PORTS["2.0"] in first.text and REUSED not in first.text
        await voted(stage, first, "👍")
        again = await ask(stage, REWORDED, who="bob")
        assert ollama.calls == 1 and REUSED in again.text and PORTS["2.0"] in again.text
        assert "https://kettle.example/2.0/dashboard" in again.text and "Kettle 2.0" in again.text
        other = await ask(stage, f"{REWORDED[:-1]} in 1.5?", who="bob")
        assert ollama.calls == 2 and REUSED not in other.text and PORTS["1.5"] in other.text


@EVERYWHERE
async def test_a_vote_that_is_taken_back_makes_the_answer_neutral_again(
    platform: str, writer: Bot, ollama: OllamaServer
) -> None:
    async with open_stage(platform, writer) as stage:
        first = await ask(stage, PORT)
        await voted(stage, first, "👍")
        assert (await writer.counts())["high"] == 1
        await voted(stage, first, "👍", added=False)
        counts = await writer.counts()
        assert counts["high"] == counts["low"] == 0
        assert REUSED not in (await ask(stage, REWORDED)).text
        assert ollama.calls == 2


@EVERYWHERE
async def test_a_down_voted_answer_is_named_as_what_not_to_repeat(
    platform: str, writer: Bot, ollama: OllamaServer
) -> None:
    ollama.say("The dashboard listens on port 9090 by default [1].")
    async with open_stage(platform, writer) as stage:
        first = await ask(stage, PORT)
        assert "9090" in first.text and "<rejected>" not in ollama.chats[-1].prompt
        await voted(stage, first, "👎")
        ollama.say("Start it with `kettle dashboard` [1].")
        again = await ask(stage, REWORDED)
        prompt = ollama.chats[-1].prompt
        told = prompt[prompt.index("<rejected>") : prompt.index("</rejected>")]
        assert "9090" in told and PORT in told
        assert "voted down" in again.text and "9090" not in again.text
        await voted(stage, first, "👎", added=False)
        await ask(stage, REWORDED)
        assert "<rejected>" not in ollama.chats[-1].prompt


ENABLE, DISABLE = (f"How do I {what} the dashboard password?" for what in ("enable", "disable"))
"""Cosine .88 by MiniLM, more than δ, and yet two questions."""


@pytest.mark.parametrize("host", ["model", "off"])
async def test_a_down_vote_says_nothing_of_another_question(
    host: str, kettle: Kettle, ollama: OllamaServer
) -> None:
    said = "Protect the dashboard with a password by setting `KETTLE_DASHBOARD_PASSWORD` [1]."
    async with house(kettle, ollama_host=ollama.url if host == "model" else "off") as bot:
        stage = FakeStage(bot)
        ollama.say(said)
        await voted(stage, await ask(stage, ENABLE), "👎")
        ollama.say(said)
        other = await ask(stage, DISABLE)
        assert "KETTLE_DASHBOARD_PASSWORD" in other.text and "voted down" not in other.text


async def test_neither_a_quote_nor_its_reuse_tells_of_a_model_where_there_is_none(bot: Bot) -> None:
    stage = FakeStage(bot)
    first = await ask(stage, PORT)
    assert "language model" not in first.text
    await stage.react("ann", first, "👍")
    again = await ask(stage, REWORDED, who="bob")
    assert REUSED in again.text and PORTS["2.0"] in again.text and "language model" not in again.text


async def test_what_is_voted_up_on_one_platform_is_reused_on_the_others(
    writer: Bot, ollama: OllamaServer
) -> None:
    async with open_stage("slack", writer) as slack, open_stage("web", writer) as web:
        await voted(slack, await ask(slack, PORT), "👍")
        assert REUSED in (await ask(web, REWORDED)).text
        assert REUSED in (await ask(FakeStage(writer), REWORDED)).text
        assert ollama.calls == 1


@pytest.mark.parametrize(
    ("platform", "emoji"),
    [
        ("slack", "👍🏽"),
        ("slack", "thumbsup"),
        ("slack", "thumbsup::skin-tone-2"),
        ("discord", "👍🏽"),
        ("web", "+1"),
    ],
)
async def test_every_spelling_of_a_thumb_is_the_same_vote(platform: str, emoji: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        seen = await ask(stage, PORT)
        await voted(stage, seen, emoji)
        assert (await bot.counts())["high"] == 1
        assert REUSED in (await ask(stage, REWORDED)).text


@pytest.mark.parametrize("platform", ["slack", "discord"])
async def test_seeds_other_emoji_and_bots_are_no_votes(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        seen = await ask(stage, PORT)
        await voted(stage, seen, "🎉" if platform == "discord" else "tada")
        await voted(stage, seen, "👍", who="robot")
        counts = await bot.counts()
        assert counts["votes"] == counts["high"] == counts["low"] == 0


@ON_EACH_WIRE
async def test_a_second_vote_of_the_same_person_replaces_the_first(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        seen = await ask(stage, PORT)
        await voted(stage, seen, "👍", who="bob")
        await voted(stage, seen, "👎", who="bob")
        counts = await bot.counts()
        assert (counts["high"], counts["low"]) == (0, 1)
        if platform != "web":  # there the second vote takes the first away
            await voted(stage, seen, "👎", who="bob", added=False)
            counts = await bot.counts()
            assert (counts["high"], counts["low"]) == (1, 0), "the first still stands under the answer"


async def test_the_asker_weighs_more_than_another_person(bot: Bot) -> None:
    stage = FakeStage(bot)
    seen = await ask(stage, PORT)
    await voted(stage, seen, "👎", who="ann")
    await voted(stage, seen, "👍", who="bob")
    counts = await bot.counts()
    assert (counts["high"], counts["low"]) == (0, 1)


async def test_a_vote_on_a_reused_answer_counts_for_what_is_remembered(bot: Bot) -> None:
    stage = FakeStage(bot)
    await voted(stage, await ask(stage, PORT), "👍", who="bob")
    again = await ask(stage, REWORDED)
    assert REUSED in again.text
    for who in ("carol", "dave"):
        await voted(stage, again, "👎", who=who)
    counts = await bot.counts()
    assert (counts["high"], counts["low"], counts["pairs"]) == (0, 1, 1)
    assert REUSED not in (await ask(stage, REWORDED)).text


async def test_without_a_model_a_down_vote_changes_the_next_answer(bot: Bot) -> None:
    stage = FakeStage(bot)
    first = await ask(stage, PORT)
    await voted(stage, first, "👎")
    again = await ask(stage, REWORDED)
    quoted = "listens on port 9090 by default"
    assert quoted in first.text and quoted not in again.text


async def test_a_vote_on_an_answer_that_is_no_answer_is_harmless(bot: Bot) -> None:
    stage = FakeStage(bot)
    await voted(stage, await ask(stage, "How do I bake sourdough bread?"), "👍")
    await voted(stage, await ask(stage, f"{PORT[:-1]} in 3.7?"), "👎")
    await voted(stage, Seen("4711", "not ours"), "👍")
    counts = await bot.counts()
    assert counts["high"] == counts["low"] == 0


@pytest.mark.parametrize("pauses", [reactions.NOTED_SECONDS, (0.0,)])
async def test_a_vote_on_what_was_just_posted_and_is_not_noted_yet_is_counted(
    pauses: tuple[float, ...], bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits for a moment; where that does not suffice it is not acknowledged, so that it comes again."""
    monkeypatch.setattr(reactions, "NOTED_SECONDS", pauses)
    async with open_stage("slack", bot) as stage:
        stage.server.ack_seconds, stage.server.retry_seconds = 0.5, (0.5, 0.5, 0.5)
        seen, conversations = await ask(stage, PORT), bot.app.conversations
        claim = await conversations.claim_of(await conversations.answer_of(f"{stage.key()}:{seen.id}"))
        assert claim is not None and claim.parts
        await conversations.posted(claim.message, ())
        reacting = asyncio.create_task(stage.react("bob", seen, "👍"))
        await until(lambda: stage.server._waiting, "the vote")
        await asyncio.sleep(0.2)
        assert stage.server._waiting, "it is not acknowledged"
        await conversations.posted(claim.message, claim.parts)
        await reacting
        await stage.quiet()
        assert (await bot.counts())["votes"] == 1 and bool(stage.server.late) == (pauses == (0.0,))


async def test_a_vote_on_a_message_that_nobody_notes_is_acknowledged_in_the_end(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reactions, "NOTED_SECONDS", (0.1,))
    monkeypatch.setattr(reactions, "UNNOTED_SECONDS", 0.8)
    async with open_stage("slack", bot) as stage:
        server = stage.server
        server.ack_seconds, server.retry_seconds = 0.5, (0.0, 0.5, 0.5)
        own = server.store("C1", server.bot_user, "What another process wrote", None, bot_id=server.bot_id)
        server.react("U2", "C1", own["ts"], "+1")
        await server.until(lambda: not server._waiting)
        assert server.late and server.acknowledged[-1] == server.envelopes[-1]["envelope_id"]
        assert (await bot.counts())["votes"] == 0


async def test_a_vote_on_the_progress_of_a_command_is_acknowledged_at_once(bot: Bot) -> None:
    async with open_stage("slack", bot) as stage:
        await stage.slash("boss", "threadlore", "reindex 2.0")
        [shown] = await until(lambda: stage.server.said("C1"))
        await stage.react("bob", Seen(shown["ts"], ""), "👍")
        assert not stage.server.late and (await bot.counts())["votes"] == 0


async def test_of_two_thumbs_of_one_person_one_is_enough(bot: Bot) -> None:
    async with open_stage("slack", bot) as stage:
        seen = await ask(stage, PORT)
        answer_id = await bot.app.conversations.answer_of(f"{stage.key()}:{seen.id}")
        for emoji, added, opinion in (
            ("+1", True, 1),
            ("+1::skin-tone-3", True, 1),
            ("+1", False, 1),
            ("+1::skin-tone-3", False, None),
        ):
            await voted(stage, seen, emoji, "bob", added)
            assert await bot.app.engine.opinion(answer_id, stage.account("bob")) == opinion


async def test_votes_that_wait_for_what_is_not_noted_yet_hold_back_no_other(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reactions, "NOTED_SECONDS", (PATIENCE,))
    stage = FakeStage(bot)
    seen, posted = await ask(stage, PORT), MessageRef("fake", "help", "4711")
    waiting = [
        asyncio.create_task(
            bot.dispatch.reaction(
                stage.chat, Reaction(posted, person(f"p{n}"), "👍", True, f"e{n}", just_posted=True)
            )
        )
        for n in range(2 * reactions.AT_ONCE)
    ]
    await asyncio.sleep(0.2)
    async with asyncio.timeout(PATIENCE / 2):
        await voted(stage, seen, "👍")
    assert (await bot.counts())["votes"] == 1 and not any(task.done() for task in waiting)
    for task in waiting:
        task.cancel()


async def test_an_event_that_comes_late_once_more_does_not_bring_a_vote_back(bot: Bot) -> None:
    async with open_stage("slack", bot) as stage:
        seen = await ask(stage, PORT)
        await voted(stage, seen, "👍")
        added = stage.server.envelopes[-1]
        await voted(stage, seen, "👍", added=False)
        stage.server.redeliver(added)
        await stage.quiet()
        assert (await bot.counts())["high"] == 0


@pytest.mark.parametrize("platform", ["slack", "discord", "web"])
async def test_what_was_learnt_in_private_is_recalled_only_there(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, "private", to="bot")
        seen = await answer(stage, said)
        await voted(stage, seen, "👍")
        assert REUSED not in (await ask(stage, REWORDED)).text
        assert REUSED not in (await ask(stage, REWORDED, "direct")).text
        assert REUSED in (await ask(stage, REWORDED, "private")).text


async def test_what_was_learnt_in_public_is_recalled_in_private_and_why_tells_it(
    bot: Bot,
) -> None:
    stage = FakeStage(bot)
    await voted(stage, await ask(stage, PORT), "👍")
    for place in ("private", "direct", "public"):
        seen = await ask(stage, REWORDED, place)
        assert REUSED in seen.text
        answer_id = await bot.app.conversations.answer_of(f"fake:{place}:{seen.id}")
        told = "\n".join((await bot.dispatch.why(answer_id))["sentences"])
        assert "reused; no model was called" in told
        assert "Release 2.0: nothing named one, and it is the latest" in told
        assert PORT in told and "98% similar" in told


async def test_memory_survives_a_restart(kettle: Kettle) -> None:
    async with house(kettle) as bot:
        stage = FakeStage(bot)
        await voted(stage, await ask(stage, PORT), "👍")
    async with house(kettle) as bot:
        assert REUSED in (await ask(FakeStage(bot, stage.chat), REWORDED)).text
