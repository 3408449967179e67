"""Votes teach the ranking on schedule, which `learn undo` takes back at once; private words teach nothing."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import pytest

from bot.app.overview import ErrorsSeen, Overview
from bot.operations.audit import Audit
from bot.operations.scheduler import Clock, OnSchedule
from core.domain import Question
from core.learning.learner import FILE
from core.ports.about import BOT
from core.retrieval.ranking import DEFAULT_WEIGHTS
from tests.journeys.fake_stage import FakeChat, FakeStage
from tests.journeys.house import Bot, Kettle, house, new_folder
from tests.journeys.stage import ask, told

NAMES = [
    f"{a}{b}"
    for a in ("mur", "tel", "kos", "vin", "dar", "pol", "sab", "hul", "rem")
    for b in ("ga", "ni", "lo", "re", "tu", "zi")
]
VOTED, LATER = NAMES[:48], NAMES[48:]
"""Levers that are asked about and voted on, and those that nobody asks about before it has learnt."""


def question(name: str) -> str:
    return f"How long is the {name} lever?"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path) -> Kettle:
    """A product whose reference is right; where there is a guide of the same words, that comes first."""
    kettle = new_folder(tmp_path_factory.mktemp("levers"), encoder_cache)
    kettle.config.write_text(
        '[product]\nname = "Kettle"\n\n[[release]]\nname = "2.0"\nlatest = true\n'
        '[[release.source]]\nkind = "folder"\npath = "levers"\nurl = "https://k/{page}"\n'
    )
    pages = kettle.folder / "levers"
    pages.mkdir()
    for name in (*VOTED[::2], *LATER):
        (pages / f"{name}.md").write_text(
            f"# The {name} lever\n\nThe {name} lever is long. How long the {name} lever is: long enough.\n"
        )
    entries = "\n\n".join(
        f"## kettle.{name}()\n\nThe {name} lever is {n + 20} mm long." for n, name in enumerate(NAMES)
    )
    (pages / "reference.md").write_text(f"# Reference\n\n{entries}\n")

    async def read() -> None:
        async with house(kettle) as bot:
            await bot.app.corpus_manager.reindex("2.0")

    asyncio.run(read())
    return kettle


@pytest.fixture
def levers(written: Kettle, tmp_path: Path) -> Kettle:
    """A copy of it that a test may do anything to."""
    return written.copy(tmp_path / "levers")


@pytest.fixture(scope="module")
def with_votes(written: Kettle, tmp_path_factory: pytest.TempPathFactory) -> Kettle:
    """The product after people voted in public, which is not learnt from yet."""
    kettle = written.copy(tmp_path_factory.mktemp("votes") / "levers")

    async def teach() -> None:
        async with house(kettle) as bot:
            await taught(bot)

    asyncio.run(teach())
    return kettle


@pytest.fixture
def voted(with_votes: Kettle, tmp_path: Path) -> Kettle:
    """A copy of that."""
    return with_votes.copy(tmp_path / "voted")


async def taught(bot: Bot, place: str = "public") -> None:
    """Ask about every lever and put 👍 where the reference is quoted, 👎 where it is not."""
    stage = FakeStage(bot)
    for number, name in enumerate(VOTED):
        who = ("ann", "bob", "cal")[number % 3]
        seen = await ask(stage, question(name), place=place, who=who)
        await stage.react(who, seen, "👍" if " mm long" in seen.text else "👎")
    await stage.quiet()


async def first(bot: Bot) -> int:
    """Return for how many levers that nobody voted on the reference comes first."""
    found = 0
    for name in LATER:
        asked = await bot.app.research.understand(Question(question(name)))
        pages = await bot.app.research.search(asked)
        found += pages.evidence[0].chunk.path == "reference.md"
    return found


def schedule(bot: Bot) -> Clock:
    app = bot.app
    work = OnSchedule(app.corpus_manager, app.retention, Audit(app.audit), learner=app.learner)
    return Clock(app.corpora, {}, work.reindex, learn=work.learn)


async def test_votes_teach_the_order_of_pages_until_it_is_undone(voted: Kettle) -> None:
    async with house(voted) as bot:
        before = await first(bot)
        clock = schedule(bot)
        await clock.learn()
        ranking = bot.app.searcher.ranking
        assert not (await bot.app.learner.standing()).why
        assert ranking.weights["reference"] > DEFAULT_WEIGHTS["reference"]
        after = await first(bot)
        assert after > before
        [act] = [act for act in await bot.app.audit.acts() if act.what == "learn"]
        assert act.who == BOT and ranking.learnt in act.outcome
        shown = await Overview(bot.app, ErrorsSeen()).figures()
        assert shown["learnt"]["told"] == ranking.learnt and shown["learnt"]["votes"] == len(VOTED)
        at = (await bot.app.learner.standing()).at
        await clock.learn()
        assert (await bot.app.learner.standing()).at == at, "nothing is new"
    async with house(voted) as bot:
        assert bot.app.searcher.ranking == ranking, "it is there after a restart"
        stage = FakeStage(bot)
        await stage.slash("ann", "threadlore", "learn undo")
        await stage.quiet()
        assert bot.app.searcher.ranking == ranking, "ann is no admin"
        await stage.slash("boss", "threadlore", "learn")
        assert ranking.learnt in await told(stage, "boss", "learned from")
        await stage.slash("boss", "threadlore", "learn undo")
        await told(stage, "boss", "is undone")
        assert bot.app.searcher.ranking.weights == DEFAULT_WEIGHTS and await first(bot) == before
        await schedule(bot).learn()
        assert bot.app.searcher.ranking.weights == DEFAULT_WEIGHTS, "the schedule leaves it alone"
        await stage.slash("boss", "threadlore", "learn run")
        await stage.quiet()
        assert await first(bot) == after


async def test_what_is_said_in_private_channels_teaches_nothing(levers: Kettle) -> None:
    async with house(levers) as bot:
        await taught(bot, "private")
        await bot.app.learner.run()
        learnt = await bot.app.learner.standing()
        assert not learnt.weights and learnt.why.startswith("0 questions with votes")
        assert bot.app.searcher.ranking.weights == DEFAULT_WEIGHTS


async def test_learning_that_is_cut_short_leaves_what_there_was(voted: Kettle) -> None:
    async with house(voted) as bot:
        stage = FakeStage(bot, FakeChat(ids=itertools.count(1000)))  # no message has the id of an older one
        await bot.app.learner.run()
        kept, ranking = (voted.home / FILE).read_bytes(), bot.app.searcher.ranking
        seen = await ask(stage, question(LATER[0]))
        await stage.react("ann", seen, "👎")
        await stage.quiet()
        running = asyncio.create_task(bot.app.learner.run())
        for _ in range(5):
            await asyncio.sleep(0)
        assert not running.done()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert (voted.home / FILE).read_bytes() == kept and bot.app.searcher.ranking == ranking
    (voted.home / f"{FILE}.writing").write_text('{"weights"')
    async with house(voted) as bot:
        assert bot.app.searcher.ranking == ranking
        learnt = await bot.app.learner.run(on_schedule=True)
        assert learnt and learnt.questions == len(VOTED) + 1, "the vote that came meanwhile is learnt from"
        await bot.app.people.forget("fake:ann")
        learnt = await bot.app.learner.run(on_schedule=True)
        assert learnt and not learnt.questions and "32 questions with votes" in learnt.why
