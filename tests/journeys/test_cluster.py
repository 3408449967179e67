"""Two bots on one PostgreSQL: what one of them changes holds in the other, and each event has one answer."""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from bot.conversation.answering import Answering
from bot.conversation.desk import WAIT
from bot.operations.following import Following, carry_over, following
from bot.ports.chat import Reaction
from bot.privacy.exports import note
from core.domain import MessageRef, Question, Scope, Vote
from core.errors import StorageUnavailable, UsageError, WordsGone
from core.pipeline.context import Silence
from core.ports import Claim
from core.ports.channels import Moved
from core.ports.cluster import MEMORY
from tests.databases import postgres_schema
from tests.journeys.fake_stage import FakeStage, person
from tests.journeys.house import Bot, house, new_folder
from tests.journeys.stage import answer
from tests.journeys.test_forgetting import rows_with
from tests.patience import PATIENCE

SET = {"cluster": True, "privacy_key": "5e" * 32, "min_voters": 1, "newcomer_days": 0.0}
ASKED = "Which port does the dashboard listen on?"
MARK = "xylophonic"


@dataclass
class Pair:
    """Two bots, each with what keeps it up to date."""

    one: Bot
    two: Bot
    follows: tuple[Following, Following]


@pytest.fixture
async def pair(tmp_path: Path, encoder_cache: Path) -> AsyncIterator[Pair]:
    with postgres_schema() as url:
        async with AsyncExitStack() as opened:
            bots, follows = [], []
            for name in ("one", "two"):
                kettle = new_folder(tmp_path / name, encoder_cache)
                bot = await opened.enter_async_context(house(kettle, database_url=url, **SET))
                bots.append(bot)
                if name == "one":
                    await bot.app.corpus_manager.reindex("2.0")
                follow = following(bot.app, bot.dispatch.take_up, bot.dispatch.let_go)
                await follow.start()
                opened.callback(follow.stop)
                follows.append(follow)
            yield Pair(bots[0], bots[1], (follows[0], follows[1]))


async def soon(condition: Callable[[], Awaitable[Any]], seconds: float = PATIENCE) -> float:
    """Wait until an awaited condition holds; return after how many seconds it does."""
    began = time.monotonic()
    while not await condition():
        assert time.monotonic() - began < seconds
        await asyncio.sleep(0.02)
    return time.monotonic() - began


async def test_what_one_changes_holds_in_the_other(pair: Pair) -> None:
    one, two = pair.one.app, pair.two.app

    async def paused() -> bool:
        return await two.pauses.of("fake:C1") is not None

    async def mode() -> bool:
        return await two.modes.mode("fake:C1") == "off"

    async def chosen() -> bool:
        return await two.releases.of_person("fake:ann") == "1.0"

    async def out() -> bool:
        return two.privacy.is_out("fake:bob")

    assert not await paused() and not await mode() and not await chosen() and not await out()
    await one.pauses.begin("fake:C1", 0, "fake:boss")
    await one.modes.set_mode("fake:C1", "off", "fake:boss")
    await one.releases.choose("fake:ann", "1.0")
    await one.privacy.opt_out("fake:bob")
    for held in (paused, mode, chosen, out):
        await soon(held)
    await two.pauses.end("fake:C1")

    async def resumed() -> bool:
        return await one.pauses.of("fake:C1") is None

    await soon(resumed)


async def test_a_new_corpus_answers_in_the_other_without_embedding(pair: Pair) -> None:
    one, two = pair.one.app, pair.two.app
    assert set(two.searcher.corpora) == {"2.0"}
    await one.corpus_manager.reindex("1.0")

    async def known() -> bool:
        return "1.0" in two.searcher.corpora

    await soon(known)
    [before] = [c for c in (await two.corpora.live()).values() if c.release == "1.0"]
    assert await two.vectors.ids(before.collection) == await one.vectors.ids(before.collection) != set()
    assert await two.words.ids(before.collection) == await one.words.ids(before.collection)
    found = await two.engine.quoted(Question(f"{ASKED} (in 1.0)"))
    assert found.release == "1.0" and found.citations


async def test_votes_of_two_processes_place_pairs_as_a_rebuild_does(pair: Pair) -> None:
    bots, chance = (pair.one, pair.two), random.Random(3)
    asked = [f"{ASKED[:-1]} ({n})?" for n in range(4)] + ["How do I run a job every night?"]
    answers = [
        await bots[n % 2].app.engine.answer(Question(text, "fake:ann", "fake:C1"))
        for n, text in enumerate(asked)
    ]

    async def votes(bot: Bot, who: str) -> None:
        for _ in range(12):
            given = Vote(chance.choice(answers).id, who, chance.choice((0, 1)))
            await bot.app.engine.feedback(given)

    await asyncio.gather(*(votes(bots[n % 2], f"fake:p{n}") for n in range(8)))
    both = [bot.app.memory for bot in bots]
    assert len(await both[0].everything()) >= 2

    async def same() -> bool:
        return await both[0].placed() == await both[1].placed()

    await soon(same)
    for memory in both:
        assert await memory.verify() == []
    before = await both[1].placed()
    await both[0].rebuild()
    assert await both[0].placed() == before
    await both[1].follow()
    assert await both[1].placed() == before


async def test_who_was_forgotten_by_one_is_gone_in_the_other(pair: Pair) -> None:
    one, two = pair.one.app, pair.two.app
    given = await two.engine.answer(Question(ASKED, "fake:ann", "fake:C1"))
    await two.engine.feedback(Vote(given.id, "fake:bob", 1))
    assert await two.memory.placed()
    await one.people.forget("fake:ann")

    async def gone() -> bool:
        return not await two.memory.placed() and two.privacy.gone(["fake:ann"], 1.0)

    await soon(gone)


async def test_what_one_answers_while_the_other_forgets_who_asked_is_not_kept(pair: Pair) -> None:
    one, two = pair.one.app, pair.two.app
    pair.follows[1].stop()  # its news are under way
    asked = Question(f"{ASKED[:-1]} ({MARK})?", "fake:ann", "fake:C1")

    class Slow(Silence):
        async def sources(self, release: str, evidence: object) -> None:
            await one.people.forget("fake:ann")

    with pytest.raises(WordsGone):
        await two.engine.answer(asked, Slow())
    assert rows_with(one.settings.database_url.get_secret_value(), MARK) == []


def planted(home: Path, answer_id: str) -> list[Path]:
    """Write into a home what a process keeps in files of its own; every file holds the mark."""
    posts = [
        {"id": "1", "at": 1.0, "channel": "help", "author": "ann", "text": MARK},
        {"id": "2", "at": 2.0, "channel": "help", "author": "threadlore", "text": MARK, "answer": answer_id},
        {"id": "3", "at": 3.0, "channel": "help", "author": "bob", "text": "stays"},
    ]
    lines = {
        "playground.jsonl": [json.dumps(post) for post in posts],
        "slack-tabs.json": [json.dumps([MARK, "UBOB"])],
        "exported.jsonl": [json.dumps({"id": answer_id, "text": MARK}), json.dumps({"id": "other"})],
        "logs/threadlore.log": [f"2026-11-01 10:00:00 DEBUG bot: {MARK}"],
    }
    (home / "logs").mkdir(exist_ok=True)
    for name, some in lines.items():
        (home / name).write_text("\n".join([*some, ""]))
    note(home, home / "exported.jsonl")
    return [home / name for name in lines]


async def test_forgetting_reaches_the_files_of_every_process(pair: Pair) -> None:
    one, two = pair.one, pair.two
    asked = await one.app.engine.answer(Question(f"{ASKED} {MARK}", "web:ann", "web:help"))
    files = planted(two.kettle.home, asked.id)
    for account in ("web:ann", f"slack:{MARK}"):
        await one.app.people.forget(account)

    async def gone() -> bool:
        return not any(MARK in file.read_text() for file in files)

    await soon(gone)
    kept = {file.name: file.read_text() for file in files}
    assert "stays" in kept["playground.jsonl"] and "UBOB" in kept["slack-tabs.json"]
    assert "other" in kept["exported.jsonl"]


async def test_a_process_that_was_away_forgets_at_its_start_what_lies_in_its_home(
    pair: Pair, tmp_path: Path, encoder_cache: Path
) -> None:
    kettle = new_folder(tmp_path / "three", encoder_cache)
    kettle.home.mkdir(exist_ok=True)
    asked = await pair.one.app.engine.answer(Question(f"{ASKED} {MARK}", "web:ann", "web:help"))
    files = planted(kettle.home, asked.id)[:3]
    for file in files:
        os.utime(file, (1.0, 1.0))
    for account in ("web:ann", f"slack:{MARK}"):
        await pair.one.app.people.forget(account)
    url = pair.one.app.settings.database_url
    async with house(kettle, database_url=url, **SET) as three:
        for file in files:  # its playground was quicker, and wrote its journal again minutes later
            os.utime(file, (time.time() + 300, time.time() + 300))
        again = following(three.app, three.dispatch.take_up, three.dispatch.let_go)
        await again.start()
        try:
            await soon(lambda: _no_file_has(files, MARK))
            assert "stays" in files[0].read_text() and "other" in files[2].read_text()
        finally:
            again.stop()


async def _no_file_has(files: Sequence[Path], words: str) -> bool:
    return not any(words in file.read_text() for file in files)


async def test_an_event_is_claimed_once_and_what_is_left_is_taken_over_once(pair: Pair) -> None:
    stores = [bot.app.conversations for bot in (pair.one, pair.two)]
    claims = [Claim(f"fake:C1:{n}", "fake:C1:t", "fake:ann", float(n), {"text": "hi"}) for n in range(30)]
    assert await stores[1].claim(claims[0], f"e{claims[0].message}"), "one is surely the other's"
    won = await asyncio.gather(
        *(store.claim(claim, f"e{claim.message}") for claim in claims for store in stores)
    )
    assert sum(won) == len(claims) - 1
    for store in stores:
        assert not await store.left("fake", messages=True), "who claimed them lives"
    mine = [claim for claim in claims if await stores[0].is_ours(claim.message)]
    theirs = [claim for claim in claims if await stores[1].is_ours(claim.message)]
    assert len(mine) + len(theirs) == len(claims)
    await stores[0].take_over(theirs[0].message)
    taken = theirs[0].message
    assert await stores[0].is_ours(taken) and not await stores[1].is_ours(taken)
    late, stands = (MessageRef("fake", "C1", ts, "t") for ts in ("8", "9"))
    await stores[0].posting(taken, "a1")
    await stores[0].posted(taken, (stands,))
    await stores[1].posted(taken, (late,))
    assert await stores[0].answer_of(stands.key) == "a1", "votes on it still find their answer"
    assert not await stores[0].answer_of(late.key)


async def test_a_question_is_edited_and_deleted_at_another_process(pair: Pair) -> None:
    stage = FakeStage(pair.one)
    asked = await stage.say("ann", ASKED, to="bot")
    await answer(stage, asked)
    stage.bot = pair.two
    await stage.edit(asked, "How do I run a job every night?")
    assert "night" in (await answer(stage, asked)).text and len(stage.replies(asked)) == 1
    stage.bot = pair.one
    await stage.delete(asked)
    assert not stage.replies(asked)


async def test_a_vote_that_is_told_again_while_it_waits_is_counted_once(pair: Pair) -> None:
    """A platform tells a vote again that is not acknowledged in time, to this process or to another one."""
    stage = FakeStage(pair.one)
    seen = await answer(stage, await stage.say("ann", ASKED, to="bot"))
    ref = MessageRef("fake", seen.place, seen.id)
    told = Reaction(ref, person("bob"), "👍", True, "event", at=9.0)
    async with pair.one.app.cluster.turn(MEMORY):
        counting = [
            asyncio.create_task(bot.dispatch.reaction(stage.chat, told))
            for bot in (pair.one, pair.two, pair.one, pair.two)
        ]
        await asyncio.sleep(1.0)
        assert not any(task.done() for task in counting), "it is acknowledged once it is counted"
    await asyncio.gather(*counting)
    assert (await pair.one.counts())["votes"] == 1


async def test_who_cannot_save_anything_says_nothing_beside_anothers_answer(pair: Pair) -> None:
    """A message that is not acknowledged in time is told again, to another process that can claim it."""
    stage, store = FakeStage(pair.two), pair.two.app.conversations
    claim, is_full = store.claim, True

    async def full(*given: Any) -> bool:
        if is_full:
            raise StorageUnavailable("no connection is free")
        return await claim(*given)

    store.claim = full  # type: ignore[method-assign, assignment]
    asking = asyncio.create_task(stage.say("ann", ASKED, to="bot"))
    await soon(lambda: _says(stage, WAIT))
    asked = next(message for message in stage.chat.messages if message["who"] == "ann")
    await pair.one.dispatch.message(stage.chat, stage.chat.shown(asked))
    is_full = False
    await asking
    [only] = [message for message in stage.chat.messages if message["who"] == "bot"]
    assert "9090" in only["text"]


async def test_a_question_that_comes_while_a_process_stops_is_no_try_of_it(pair: Pair) -> None:
    stage = FakeStage(pair.one)
    await pair.one.dispatch.stop()
    asked = await stage.say("ann", ASKED, to="bot")
    claim = await pair.two.app.conversations.claimed(f"fake:{asked.place}:{asked.id}")
    assert claim is not None and not claim.is_settled and claim.tries == 0


async def _says(stage: FakeStage, text: str) -> bool:
    return any(message["text"] == text for message in stage.chat.messages)


async def test_what_another_process_takes_over_is_let_go(pair: Pair) -> None:
    stage = FakeStage(pair.one)
    held = pair.one.dispatch._answering
    asking = asyncio.create_task(stage.say("ann", ASKED, to="bot"))
    while not any(key.startswith("fake:") for key in held._running):
        await asyncio.sleep(0)
    [key] = held._running
    await pair.two.app.conversations.take_over(key)
    await soon(lambda: _is_not_in(held, key))
    await asking
    claim = await pair.two.app.conversations.claimed(key)
    assert claim is not None and not claim.is_settled, "two answers it"


async def _is_not_in(held: Answering, key: str) -> bool:
    return key not in held


async def test_a_vote_on_a_question_that_another_process_deletes_leaves_no_pair_behind(pair: Pair) -> None:
    one, two = pair.one.app, pair.two.app
    for n in range(30):
        given = await one.engine.answer(Question(f"{ASKED[:-1]} ({n})?", "fake:ann", "fake:C1"))
        vote = two.engine.feedback(Vote(given.id, "fake:bob", 1), helper=True)
        await asyncio.gather(vote, one.engine.answer_log.withdraw(given.id, replaced=False))
    await one.memory.follow()
    assert one.memory.stores() == two.memory.stores()
    assert await one.memory.verify() == await two.memory.verify() == []


async def test_a_pair_that_is_gone_is_let_go_by_the_other(pair: Pair) -> None:
    one, two = pair.one.app, pair.two.app
    pair.follows[1].stop()
    given = await one.engine.answer(Question(ASKED, "fake:ann", "fake:C1"))
    await one.engine.feedback(Vote(given.id, "fake:bob", 1), helper=True)
    await two.memory.follow()
    assert given.pair_id in two.memory.stores()
    assert given.pair_id in two.memory.stores()
    await one.engine.feedback(Vote(given.id, "fake:bob", None), helper=True)
    await one.engine.answer_log.withdraw(given.id, replaced=False)
    await two.memory.follow()
    assert given.pair_id not in two.memory.stores()


async def test_sources_are_those_of_the_file(pair: Pair) -> None:
    with pytest.raises(UsageError, match=r"corpora\.toml"):
        await pair.one.app.added.add("https://docs.example.org")


async def test_a_channel_has_its_new_id_in_every_process(pair: Pair) -> None:
    one, two = pair.one.app, pair.two.app
    before, now = Scope("private", "fake:G1"), Scope("private", "fake:C9")
    given = await two.engine.answer(Question(ASKED, "fake:ann", "fake:G1", before))
    await two.engine.feedback(Vote(given.id, "fake:bob", 1), helper=True)
    await two.pauses.begin("fake:G1", 0, "fake:boss")
    assert not await one.pauses.of("fake:C9")
    moved = Moved("fake:G1", "fake:C9")

    async def nothing() -> None:
        """Nothing is being answered there."""

    await carry_over(one, moved, nothing)

    async def reused() -> bool:
        found = await two.engine.answer(Question(ASKED, "fake:ann", "fake:C9", now))
        return found.route == "reuse" and found.pair_id == given.pair_id

    async def paused() -> bool:
        return await two.pauses.of("fake:C9") is not None and await one.pauses.of("fake:C9") is not None

    await soon(reused)
    await soon(paused)
    assert await one.memory.verify() == [] == await two.memory.verify()


async def test_what_another_process_answers_in_a_channel_that_became_private_stays_inside(pair: Pair) -> None:
    one, two = pair.one.app, pair.two.app
    held = await two.engine.answer(Question(ASKED, "fake:ann", "fake:C1"))
    waits = Question(ASKED, "fake:ann", "fake:C1", since=time.time())
    await one.engine.channel_became_private("fake:C1")

    async def heard() -> bool:
        return two.engine.keeps_inside("fake:C1")

    await soon(heard)
    later = await two.engine.answer(replace(waits, since=0.0))  # its platform takes it to be public yet
    for given in (held, await two.engine.answer(waits), later):
        asked = await one.engine.answer_log.asked_by(given.id)
        assert asked is not None and asked.scope == "private:fake:C1"
    elsewhere = await two.engine.answer(Question(ASKED, "fake:ann", "fake:C2"))
    asked = await one.engine.answer_log.asked_by(elsewhere.id)
    assert asked is not None and asked.scope == "public"
