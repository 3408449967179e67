"""A page that is deleted answers nothing any more: by its passages, its pairs, or what was remembered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from core.domain import Question, Scope
from core.ports import pairs_collection
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.test_stale import asked, learnt, page

CRON = "How do I send the report every night at fixed times with cron?"
GONE = "scheduling.md"
WORDS = "cron="
"""What only that page says."""


async def says_nothing_of_it(bot: Bot) -> None:
    """Ask in the ways that found the page: none does, and no link leads there."""
    for text in (CRON, "scheduling", "How do I run a job at fixed times?", "kettle job cron"):
        answer = await asked(bot, text, "2.0")
        assert answer.route != "reuse" and WORDS not in answer.text
        assert not [citation for citation in answer.citations if citation.path == GONE]


async def deleted(bot: Bot) -> None:
    """Delete the page and bring the release up to date."""
    page(bot, GONE).unlink()
    (done,) = await bot.app.corpus_manager.reindex("2.0")
    assert done.reading.removed == (f"folder:docs/2.0: {GONE}",)


async def test_its_passages_are_in_no_table_and_no_index(bot: Bot) -> None:
    assert WORDS in (await asked(bot, CRON, "2.0")).text
    corpus = (await bot.app.corpora.live())["2.0"]
    document = next(d for d in await bot.app.corpora.manifest("2.0") if d.path == GONE)
    ids = {row.id for row in await bot.app.corpora.rows("2.0", [document.id])}
    assert ids
    await deleted(bot)
    await says_nothing_of_it(bot)
    assert not await bot.app.corpora.rows("2.0", [document.id])
    for index in (bot.app.vectors, bot.app.words):
        assert not ids & await index.ids(corpus.collection)


async def test_the_pairs_made_of_it_are_gone_at_once_and_from_the_indexes(kettle: Kettle) -> None:
    async with house(kettle, pregenerate="rules") as bot:
        await bot.app.corpus_manager.reindex("2.0")
        made = bot.app.corpus_manager.pregeneration
        assert made is not None
        before = [pair for pair in await made.pairs("2.0") if WORDS in pair.told or "chedul" in pair.asked]
        assert before, "the page has pairs"
        seen: list[Any] = []
        ended = made.run

        async def between(*given: Any, **more: Any) -> Any:
            seen.append((await says_nothing_of_it(bot), True))  # its corpus is live, its pairs not yet swept
            return await ended(*given, **more)

        made.run = between  # type: ignore[method-assign]
        await deleted(bot)
        assert seen
        await says_nothing_of_it(bot)
        left = {pair.id for pair in await made.pairs("2.0")}
        assert not left & {pair.id for pair in before}
        collection = pairs_collection((await bot.app.corpora.live())["2.0"])
        names = {pair.id for pair in before}
        for index in (bot.app.vectors, bot.app.words):
            kept = await index.ids(collection)
            assert not [key for key in kept if any(name in key for name in names)]


async def test_what_was_remembered_of_it_is_not_said_again_also_after_a_restart(kettle: Kettle) -> None:
    async with house(kettle) as bot:
        await learnt(bot, CRON)
        await deleted(bot)
        await says_nothing_of_it(bot)
        reworded = await bot.app.engine.answer(Question(f"{CRON[:-1]}, please?", "slack:UCAT", "slack:C1"))
        assert WORDS not in reworded.text
    async with house(kettle) as bot:
        await says_nothing_of_it(bot)


async def test_an_answer_that_was_under_way_while_it_was_deleted_is_not_remembered_as_current(
    bot: Bot,
) -> None:
    answer = await bot.app.engine.answer(Question(CRON, "slack:UANN", "slack:C1", release="2.0"))
    assert WORDS in answer.text
    marked = bot.app.corpus_manager.going_live._mark_stale
    calls: list[str] = []

    async def late(release: str) -> None:
        calls.append(release)
        await marked(release)

    await deleted(bot)
    bot.app.corpus_manager.going_live._mark_stale = late  # type: ignore[method-assign]
    await bot.app.corpus_manager.settle()
    assert "2.0" not in calls, "only some minutes later, when no such answer is written any more"
    runs = bot.app.corpora.runs

    async def an_hour_ago() -> Any:
        return tuple(replace(run, succeeded_at=run.succeeded_at - 3600) for run in await runs())

    bot.app.corpora.runs = an_hour_ago  # type: ignore[method-assign]
    bot.app.corpus_manager.going_live._settled.clear()
    live = bot.app.searcher._live["2.0"].corpus
    object.__setattr__(live, "built_at", live.built_at - 3600)
    await bot.app.corpus_manager.settle()
    await bot.app.corpus_manager.settle()
    assert calls.count("2.0") == 1, "once"


async def test_a_start_looks_only_at_what_changed(kettle: Kettle) -> None:
    calls: list[str] = []
    async with house(kettle) as bot:
        going_live = bot.app.corpus_manager.going_live
        for release in ("1.0", "1.5", "2.0"):
            corpus = bot.app.searcher._live[release].corpus
            object.__setattr__(corpus, "built_at", corpus.built_at - 3600)
        counted = _counted(going_live._mark_stale, calls)
        going_live._mark_stale = counted  # type: ignore[method-assign]
        await going_live.settle(starting=True)
        assert calls == [], "each was marked when it went live"
        await bot.app.corpora.note_run("1.5", "folder:docs/1.5", "", ())
        object.__setattr__(bot.app.searcher._live["1.5"].corpus, "built_at", 4e9)
        await going_live.settle(starting=True)
        assert calls == ["1.5"], "a process died between its new corpus and its marks"


def _counted(marked: Callable[[str], Any], calls: list[str]) -> Any:
    async def mark(release: str) -> None:
        calls.append(release)
        await marked(release)

    return mark


async def test_examples_of_what_to_ask_are_those_of_the_pages_there_are(bot: Bot) -> None:
    await learnt(bot, CRON)
    first = await bot.app.examples.of("slack:C1", Scope(platform="slack"))
    assert CRON in [example.text for example in first]
    await deleted(bot)
    await asyncio.sleep(0)
    then = await bot.app.examples.of("slack:C1", Scope(platform="slack"))
    assert CRON not in [example.text for example in then]
